// The host's way to the GPU and back for what follows from a suffix array: text and suffix array
// in, LCP array, transform or inverse out. The algorithms are in device_lcp.cu and
// device_arrays.cu.
#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/apps/suffix_array/cuda/device_arrays.hpp"
#include "sortie/apps/suffix_array/cuda/device_lcp.hpp"
#include "sortie/apps/suffix_array/cuda/host_copies.hpp"
#include "sortie/core/cuda/device_scope.hpp"

namespace sortie::suffix_array::cuda {

template <Position Pos>
std::vector<Pos> invert(const Context& context, std::span<const Pos> suffixes) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the inverse suffix array", {}, suffixes);
  return to_host(context, inverse_on_device<Pos>(beside(context, inputs.bytes()), inputs.array()));
}

template <Position Pos>
std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                           std::span<const Pos> suffixes) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the LCP array", text, suffixes);
  return to_host(
      context, lcp_on_device<Pos>(beside(context, inputs.bytes()), inputs.text(), inputs.array()));
}

template <Position Pos>
std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context, const TextView& text,
                                                    std::span<const Pos> suffixes) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the Burrows-Wheeler transform", text, suffixes);
  return to_host(context, burrows_wheeler_on_device<Pos>(beside(context, inputs.bytes()),
                                                         inputs.text(), inputs.array()));
}

template std::vector<std::uint32_t> invert(const Context&, std::span<const std::uint32_t>);
template std::vector<std::uint64_t> invert(const Context&, std::span<const std::uint64_t>);
template std::vector<std::uint32_t> lcp_array(const Context&, const TextView&,
                                              std::span<const std::uint32_t>);
template std::vector<std::uint64_t> lcp_array(const Context&, const TextView&,
                                              std::span<const std::uint64_t>);
template std::vector<std::uint8_t> burrows_wheeler_transform(const Context&, const TextView&,
                                                             std::span<const std::uint32_t>);
template std::vector<std::uint8_t> burrows_wheeler_transform(const Context&, const TextView&,
                                                             std::span<const std::uint64_t>);

}  // namespace sortie::suffix_array::cuda
