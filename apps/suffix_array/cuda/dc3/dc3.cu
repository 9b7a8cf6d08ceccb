// The host's way to the GPU and back for the skew algorithm; the algorithm is in device_dc3.cu.
#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/apps/suffix_array/cuda/dc3/device_dc3.hpp"
#include "sortie/apps/suffix_array/cuda/host_copies.hpp"
#include "sortie/core/cuda/device_scope.hpp"

namespace sortie::suffix_array::cuda {

template <Position Pos>
std::vector<Pos> build_dc3(const Context& context, const TextView& text) {
  const DeviceScope scope(context);
  const Inputs<std::uint32_t> inputs(context, "dc3", text, {});
  std::vector<std::uint32_t> suffixes =
      to_host(context, build_dc3_on_device(beside(context, inputs.bytes()), inputs.text()));
  if constexpr (sizeof(Pos) == sizeof(std::uint32_t)) {
    return suffixes;
  } else {
    return {suffixes.begin(), suffixes.end()};
  }
}

template std::vector<std::uint32_t> build_dc3(const Context&, const TextView&);
template std::vector<std::uint64_t> build_dc3(const Context&, const TextView&);

}  // namespace sortie::suffix_array::cuda
