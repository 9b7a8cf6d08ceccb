// SPDX-License-Identifier: Apache-2.0

// Queries on device memory: a binary search for each pattern, then a gather of positions.
#include <limits>
#include <string>

#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/cuda/scan.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// The index in `positions` of the first hit of each pattern, and after them the total.
DeviceBuffer<std::uint64_t> begins_of_hits(const DeviceBuffer<EntryRange>& ranges,
                                           std::uint64_t most_hits, cudaStream_t stream) {
  const std::uint64_t items = ranges.size() + 1;
  if (items > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) {
    throw Error(ErrorKind::usage, "suffix array query: found " + std::to_string(ranges.size()) +
                                      " patterns, expected at most 2147483646 at once on a GPU");
  }
  DeviceBuffer<std::uint64_t> begins(items, stream);
  const auto count_hits = [ranges = ranges.data(), most_hits,
                           begins = begins.data()] __device__(std::uint64_t i) {
    const std::uint64_t count = i == 0 ? 0 : ranges[i - 1].end - ranges[i - 1].begin;
    begins[i] = count < most_hits ? count : most_hits;
  };
  for_each_item<std::uint64_t>(items, count_hits, stream);
  inclusive_sum(begins.data(), items, stream);
  return begins;
}

}  // namespace

template <Position Index>
DeviceBuffer<EntryRange> find_on_device(const Context& context, const DeviceText& text,
                                        std::span<const Index> suffixes,
                                        const PatternView& patterns, CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  require(call, "the suffix array query", patterns.size() * sizeof(EntryRange) + size / 8);
  WaitingPhase phase(call, "query", patterns.letters.size());
  const MarkedText marked = mark_separators(text, stream);
  DeviceBuffer<EntryRange> ranges(patterns.size(), stream);
  const PatternSearch<Index> search(text.symbols.data(), suffixes.data(),
                                    RecordEnds{marked.separator_bits, size});
  // The reads are at random addresses, so the number of resident threads decides the speed: the
  // search uses few registers.
  const auto find_pattern = [search, letters = patterns.letters.data(),
                             begins = patterns.begins.data(),
                             ranges = ranges.data()] __device__(std::uint64_t i) {
    ranges[i] = search(letters + begins[i], begins[i + 1] - begins[i]);
  };
  for_each_item<std::uint64_t>(patterns.size(), find_pattern, stream);
  phase.stop();
  return ranges;
}

template <Position Index>
DeviceOccurrences<Index> locate_on_device(const Context& context, const DeviceText& text,
                                          std::span<const Index> suffixes,
                                          const PatternView& patterns, std::uint64_t most_hits,
                                          CUstream_st* stream) {
  const DeviceCall call(context, stream);
  DeviceOccurrences<Index> found;
  found.ranges = find_on_device(context, text, suffixes, patterns, stream);
  WaitingPhase phase(call, "locate");
  found.begins = begins_of_hits(found.ranges, most_hits, stream);
  std::uint64_t total = 0;
  check_cuda(cudaMemcpyAsync(&total, found.begins.data() + patterns.size(), sizeof(total),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  require(call, "the positions that a suffix array query found",
          found.ranges.bytes() + found.begins.bytes() + total * sizeof(Index));
  phase.set_bytes(2 * total * sizeof(Index));
  found.positions = {total, stream};
  // The threads of a warp mostly have the same few patterns, so their binary searches read
  // neighbouring words, which the caches hold.
  const auto gather = [suffixes = suffixes.data(), ranges = found.ranges.data(),
                       begins = found.begins.data(), patterns = patterns.size(),
                       positions = found.positions.data()] __device__(std::uint64_t j) {
    const std::uint32_t pattern = record_at(begins, patterns, j);
    positions[j] = suffixes[ranges[pattern].begin + (j - begins[pattern])];
  };
  for_each_item<std::uint64_t>(total, gather, stream);
  phase.stop();
  return found;
}

SORTIE_INSTANTIATE_FOR_POSITIONS(find_on_device);
SORTIE_INSTANTIATE_FOR_POSITIONS(locate_on_device);

}  // namespace sortie::suffix_array::cuda
