// SPDX-License-Identifier: Apache-2.0
#include "papers/dc3/dc3.hpp"

#ifdef SORTIE_HAVE_CUDA
#include "apps/suffix_array/cuda/host_copies.hpp"
#endif

namespace sortie::suffix_array {

#ifdef SORTIE_HAVE_CUDA
namespace {

template <Position Pos>
std::vector<Pos> build_dc3(const Context& context, const TextView& text) {
  const DeviceCall call(context);
  const cuda::Inputs<std::uint32_t> inputs(call, "dc3", text, {});
  std::vector<std::uint32_t> suffixes = cuda::to_host(
      call,
      cuda::build_dc3_on_device(cuda::beside(context, inputs.bytes()), inputs.text(), call.stream));
  if constexpr (sizeof(Pos) == sizeof(std::uint32_t)) {
    return suffixes;
  } else {
    return {suffixes.begin(), suffixes.end()};
  }
}

}  // namespace
#endif

ConstructionAlgorithm dc3() {
  ConstructionAlgorithm algorithm{.name = "dc3", .backend = Backend::cuda};
#ifdef SORTIE_HAVE_CUDA
  algorithm.build = {build_dc3<std::uint32_t>, build_dc3<std::uint64_t>};
  std::get<0>(algorithm.build_on_device) = cuda::build_dc3_on_device;
#endif
  return algorithm;
}

}  // namespace sortie::suffix_array
