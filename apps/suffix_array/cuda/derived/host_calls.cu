// SPDX-License-Identifier: Apache-2.0

// LCP array, Burrows-Wheeler transform, inverse, document array and queries from host memory to host
// memory: copies around the calls of sortie/device_suffix_array.hpp.
#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/cuda/host_copies.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "sortie/device_suffix_array.hpp"
#include "sortie/run_report.hpp"

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

template <Position Pos>
std::vector<EntryRange> find(const Context& context, const TextView& text,
                             std::span<const Pos> suffixes, const PatternView& patterns) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the suffix array query", text, suffixes);
  const DeviceBuffer<std::uint8_t> letters(patterns.letters, call.stream);
  const DeviceBuffer<std::uint64_t> begins(patterns.begins, call.stream);
  const PatternView on_device{{letters.data(), letters.size()}, {begins.data(), begins.size()}};
  return to_host(
      call, find_on_device<Pos>(context, inputs.text(), inputs.array(), on_device, call.stream));
}

template <Position Pos>
Occurrences<Pos> locate(const Context& context, const TextView& text, std::span<const Pos> suffixes,
                        const PatternView& patterns, std::uint64_t most_hits) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the suffix array query", text, suffixes);
  const DeviceBuffer<std::uint8_t> letters(patterns.letters, call.stream);
  const DeviceBuffer<std::uint64_t> begins(patterns.begins, call.stream);
  const PatternView on_device{{letters.data(), letters.size()}, {begins.data(), begins.size()}};
  DeviceOccurrences<Pos> found;
  EventPair timer;
  const double seconds = timer.time(call.stream, [&] {
    found = locate_on_device<Pos>(context, inputs.text(), inputs.array(), on_device, most_hits,
                                  call.stream);
  });
  if (context.report != nullptr) context.report->set("device_search_seconds", seconds);
  return {to_host(call, found.ranges), to_host(call, found.begins), to_host(call, found.positions)};
}

SORTIE_INSTANTIATE_FOR_POSITIONS(invert);
SORTIE_INSTANTIATE_FOR_POSITIONS(lcp_array);
SORTIE_INSTANTIATE_FOR_POSITIONS(burrows_wheeler_transform);
SORTIE_INSTANTIATE_FOR_POSITIONS(document_array);
SORTIE_INSTANTIATE_FOR_POSITIONS(find);
SORTIE_INSTANTIATE_FOR_POSITIONS(locate);

}  // namespace sortie::suffix_array::cuda
