// SPDX-License-Identifier: Apache-2.0

// LCP array, Burrows-Wheeler transform, inverse and document array from host memory to host memory:
// copies around the calls of sortie/device_suffix_array.hpp.
#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/cuda/host_copies.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_suffix_array.hpp"

namespace sortie::suffix_array::cuda {

template <Position Pos>
std::vector<Pos> invert(const Context& context, std::span<const Pos> suffixes) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the inverse suffix array", {}, suffixes);
  return to_host(
      call, inverse_on_device<Pos>(beside(context, inputs.bytes()), inputs.array(), call.stream));
}

template <Position Pos>
std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                           std::span<const Pos> suffixes) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the LCP array", text, suffixes);
  return to_host(call, lcp_on_device<Pos>(beside(context, inputs.bytes()), inputs.text(),
                                          inputs.array(), call.stream));
}

template <Position Pos>
std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context, const TextView& text,
                                                    std::span<const Pos> suffixes) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the Burrows-Wheeler transform", text, suffixes);
  return to_host(call, burrows_wheeler_on_device<Pos>(beside(context, inputs.bytes()),
                                                      inputs.text(), inputs.array(), call.stream));
}

template <Position Pos>
std::vector<std::uint32_t> document_array(const Context& context, std::span<const Pos> suffixes,
                                          std::span<const std::uint64_t> record_begins) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the document array", {}, suffixes);
  const DeviceBuffer<std::uint64_t> begins(record_begins, call.stream);
  return to_host(
      call, documents_on_device<Pos>(beside(context, inputs.bytes() + begins.bytes()),
                                     inputs.array(), {begins.data(), begins.size()}, call.stream));
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
template std::vector<std::uint32_t> document_array(const Context&, std::span<const std::uint32_t>,
                                                   std::span<const std::uint64_t>);
template std::vector<std::uint32_t> document_array(const Context&, std::span<const std::uint64_t>,
                                                   std::span<const std::uint64_t>);

}  // namespace sortie::suffix_array::cuda
