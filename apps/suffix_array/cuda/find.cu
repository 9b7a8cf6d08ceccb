// The host's way to the GPU and back for queries; the search is in device_find.cu.
#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/apps/suffix_array/cuda/device_find.hpp"
#include "sortie/apps/suffix_array/cuda/host_copies.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/cuda/event_timer.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Patterns, copied from the host to the device.
struct DevicePatterns {
  DeviceBuffer<std::uint8_t> letters;
  DeviceBuffer<std::uint64_t> begins;

  DevicePatterns(const Context& context, const PatternView& patterns)
      : letters(patterns.letters, context.stream), begins(patterns.begins, context.stream) {}
  [[nodiscard]] PatternView view() const {
    return {{letters.data(), letters.size()}, {begins.data(), begins.size()}};
  }
};

}  // namespace

template <Position Pos>
std::vector<EntryRange> find(const Context& context, const TextView& text,
                             std::span<const Pos> suffixes, const PatternView& patterns) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the suffix array query", text, suffixes);
  const DevicePatterns on_device(context, patterns);
  return to_host(context,
                 find_on_device<Pos>(context, inputs.text(), inputs.array(), on_device.view()));
}

template <Position Pos>
Occurrences<Pos> locate(const Context& context, const TextView& text, std::span<const Pos> suffixes,
                        const PatternView& patterns, std::uint64_t most_hits) {
  const DeviceScope scope(context);
  const Inputs<Pos> inputs(context, "the suffix array query", text, suffixes);
  const DevicePatterns on_device(context, patterns);
  DeviceOccurrences<Pos> found;
  EventTimer timer;
  const double seconds = timer.time(context.stream, [&] {
    found =
        locate_on_device<Pos>(context, inputs.text(), inputs.array(), on_device.view(), most_hits);
  });
  if (context.report != nullptr) context.report->set("device_search_seconds", seconds);
  return {to_host(context, found.ranges), to_host(context, found.begins),
          to_host(context, found.positions)};
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
