// SPDX-License-Identifier: Apache-2.0
#include "papers/dc3/dc3.hpp"
#include "papers/pdss/pdss.hpp"

#ifdef SORTIE_HAVE_CUDA
#include "apps/suffix_array/cuda/host_copies.hpp"
#endif

namespace sortie::suffix_array {

#ifdef SORTIE_HAVE_CUDA
namespace {

template <BuildOnDevice<std::uint32_t> Build, Position Pos>
std::vector<Pos> build_on_host(const Context& context, const TextView& text) {
  const DeviceCall call(context);
  const cuda::Inputs<std::uint32_t> inputs(call, "the suffix array", text, {});
  std::vector<std::uint32_t> suffixes =
      cuda::to_host(call, Build(cuda::beside(context, inputs.bytes()), inputs.text(), call.stream));
  if constexpr (sizeof(Pos) == sizeof(std::uint32_t)) {
    return suffixes;
  } else {
    return {suffixes.begin(), suffixes.end()};
  }
}

/// Adds the two ways of calling a construction in device memory.
template <BuildOnDevice<std::uint32_t> Build>
void add_builds(ConstructionAlgorithm& algorithm) {
  algorithm.build = {build_on_host<Build, std::uint32_t>, build_on_host<Build, std::uint64_t>};
  std::get<0>(algorithm.build_on_device) = Build;
}

}  // namespace
#endif

ConstructionAlgorithm dc3() {
  ConstructionAlgorithm algorithm{.name = "dc3", .backend = Backend::cuda};
#ifdef SORTIE_HAVE_CUDA
  add_builds<cuda::build_dc3_on_device>(algorithm);
#endif
  return algorithm;
}

ConstructionAlgorithm pdss() {
  ConstructionAlgorithm algorithm{.name = "pdss", .backend = Backend::cuda, .measured = false};
#ifdef SORTIE_HAVE_CUDA
  add_builds<cuda::build_pdss_on_device>(algorithm);
#endif
  return algorithm;
}

}  // namespace sortie::suffix_array
