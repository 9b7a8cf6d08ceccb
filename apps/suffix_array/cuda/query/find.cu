// SPDX-License-Identifier: Apache-2.0

// Queries from host memory to host memory: copies around the calls of
// sortie/device_suffix_array.hpp.
#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/cuda/host_copies.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "sortie/device_suffix_array.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Patterns, copied from the host to the device.
struct DevicePatterns {
  DeviceBuffer<std::uint8_t> letters;
  DeviceBuffer<std::uint64_t> begins;

  DevicePatterns(const PatternView& patterns, cudaStream_t stream)
      : letters(patterns.letters, stream), begins(patterns.begins, stream) {}
  [[nodiscard]] PatternView view() const {
    return {{letters.data(), letters.size()}, {begins.data(), begins.size()}};
  }
};

}  // namespace

template <Position Pos>
std::vector<EntryRange> find(const Context& context, const TextView& text,
                             std::span<const Pos> suffixes, const PatternView& patterns) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the suffix array query", text, suffixes);
  const DevicePatterns on_device(patterns, call.stream);
  return to_host(call, find_on_device<Pos>(context, inputs.text(), inputs.array(), on_device.view(),
                                           call.stream));
}

template <Position Pos>
Occurrences<Pos> locate(const Context& context, const TextView& text, std::span<const Pos> suffixes,
                        const PatternView& patterns, std::uint64_t most_hits) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the suffix array query", text, suffixes);
  const DevicePatterns on_device(patterns, call.stream);
  DeviceOccurrences<Pos> found;
  EventPair timer;
  const double seconds = timer.time(call.stream, [&] {
    found = locate_on_device<Pos>(context, inputs.text(), inputs.array(), on_device.view(),
                                  most_hits, call.stream);
  });
  if (context.report != nullptr) context.report->set("device_search_seconds", seconds);
  return {to_host(call, found.ranges), to_host(call, found.begins), to_host(call, found.positions)};
}

template std::vector<EntryRange> find(const Context&, const TextView&,
                                      std::span<const std::uint32_t>, const PatternView&);
template std::vector<EntryRange> find(const Context&, const TextView&,
                                      std::span<const std::uint64_t>, const PatternView&);
template Occurrences<std::uint32_t> locate(const Context&, const TextView&,
                                           std::span<const std::uint32_t>, const PatternView&,
                                           std::uint64_t);
template Occurrences<std::uint64_t> locate(const Context&, const TextView&,
                                           std::span<const std::uint64_t>, const PatternView&,
                                           std::uint64_t);

}  // namespace sortie::suffix_array::cuda
