// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "segsort/host/divide_segment.hpp"
#include "segsort/host/oversized_segment.hpp"
#include "segsort/host/segment_queue.hpp"
#include "segsort/host/short/segment_tile.hpp"
#include "segsort/host/short/short_segments.hpp"
#include "segsort/host/sort_segment.hpp"
#include "sortie/context.hpp"

namespace sortie::segsort {

/// Memory for a sort, within the budget of the context. \throws Error (out_of_memory)
template <class T>
[[nodiscard]] HostArray<T> allocate_scratch(const HostContext& context, std::uint64_t n) {
  return allocate_array<T>(context, "scratch of segmented sort", n);
}

/// Buffers for items during a sort.
template <class UKey, class Value>
struct Scratch {
  HostArray<UKey> keys;
  HostArray<Value> values;

  Scratch(const HostContext& context, std::uint64_t n)
      : keys(allocate_scratch<UKey>(context, n)),
        values(allocate_scratch<Value>(context, has_values<Value> ? n : 1)) {}
};

/// Sorts the segments of one pair of arrays, with all threads.
///
/// Threads take portions of segments of equal work (SegmentQueue) and bin them by length
/// (SegmentBatch). They sort short segments sixteen at a time (sort_short_segments()) and longer
/// ones one by one (sort_segment()). An oversized segment is first split by all threads, into
/// segments of equal digit value (OversizedSegment), or, for keys alone, by the partition step of a
/// quicksort (divide_segment()); the resulting segments are then sorted in the same way. Every step
/// is stable, except on keys alone, where equal keys are indistinguishable, so the result does not
/// depend on the number of threads.
template <class UKey, class Value>
class SegmentSorter {
  static_assert(sizeof(UKey) == 4 || sizeof(UKey) == 8, "the widths of SegmentKey");

 public:
  SegmentSorter(UKey* keys, Value* values, KeyCodec<UKey> codec, const HostContext& context)
      : keys_(keys), values_(values), codec_(codec), context_(context) {}

  void sort(const Segments& segments) const {
    SegmentQueue queue(segments, worker_threads());
    for (const std::uint64_t i : queue.oversized())
      sort_oversized(segments.begins[i], segments.length(i));
    sort_queued(queue);
  }

 private:
  [[nodiscard]] Value* values_at(std::uint64_t i) const {
    return values_ + (has_values<Value> ? i : 0);
  }

  void sort_queued(SegmentQueue& queue) const {
    const std::uint64_t longest = queue.longest();
    if (longest <= 1) return;
    const Scratch<UKey, Value> scratch(context_, longest * worker_threads());
    const VectorUnit unit = vector_unit();
    const std::size_t longest_short = longest_short_segment<UKey, Value>(unit);
    for_each_task(worker_threads(), [&](std::uint64_t thread) {
      detail::SegmentTile<UKey, Value> tile;
      const auto sort_short = [&](const ShortSegments& short_segments) {
        sort_short_segments(keys_, values_, codec_, short_segments, unit, tile);
      };
      const auto sort_long = [&](std::uint64_t begin, std::uint64_t length) {
        sort_alone(begin, length, scratch, longest * thread);
      };
      SegmentBatch batch(longest_short);
      const auto sort_batch = [&] { batch.sort(sort_short, sort_long); };
      const auto prefetch = [&](std::uint64_t begin) {
        __builtin_prefetch(keys_ + begin, 1);
        if constexpr (has_values<Value>) __builtin_prefetch(values_at(begin), 1);
      };
      while (queue.work(batch, prefetch, sort_batch)) {
      }
    });
  }

  void sort_alone(std::uint64_t begin, std::uint64_t n, const Scratch<UKey, Value>& scratch,
                  std::uint64_t scratch_begin) const {
    UKey* const keys = keys_ + begin;
    codec_.encode(keys, n);
    sort_segment(keys, values_at(begin), n, scratch.keys.get() + scratch_begin,
                 scratch.values.get() + (has_values<Value> ? scratch_begin : 0));
    codec_.decode(keys, n);
  }

  void sort_oversized(std::uint64_t begin, std::uint64_t n) const {
    UKey* const keys = keys_ + begin;
    const EqualShares parts{n, worker_threads()};
    for_each_share(parts, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
      codec_.encode(keys + first, end - first);
    });
    const SegmentParts divided = split_oversized(begin, n, parts);
    if (!divided.ends.empty())
      SegmentSorter(keys, values_at(begin), {}, context_)
          .sort({erase(std::span<const std::uint64_t>(divided.begins)),
                 erase(std::span<const std::uint64_t>(divided.ends)), n});
    for_each_share(parts, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
      codec_.decode(keys + first, end - first);
    });
  }

  /// Divides an oversized segment into segments; none if it is sorted already.
  [[nodiscard]] SegmentParts split_oversized(std::uint64_t begin, std::uint64_t n,
                                             const EqualShares& parts) const {
    UKey* const keys = keys_ + begin;
    if constexpr (!has_values<Value>) {
      if (has_vector_sort()) {
        const std::uint64_t longest = n / (parts_of_share * worker_threads());
        return divide_segment(keys, n, std::max(longest, shortest_part));
      }
    }
    const Scratch<UKey, Value> scratch(context_, n);
    SegmentParts divided;
    divided.ends = OversizedSegment<UKey, Value>({keys, values_at(begin)}, parts)
                       .split({scratch.keys.get(), scratch.values.get()});
    if (divided.ends.empty()) return divided;
    divided.begins.assign(divided.ends.size(), 0);
    std::copy(divided.ends.begin(), divided.ends.end() - 1, divided.begins.begin() + 1);
    return divided;
  }

  /// Parts per thread into which quicksort divides an oversized segment. With 8, SegmentQueue
  /// treats none of them as oversized.
  static constexpr std::uint64_t parts_of_share = 8;
  /// Shorter parts are sorted faster by one thread than divided by several.
  static constexpr std::uint64_t shortest_part = std::uint64_t{1} << 14;

  UKey* keys_;
  Value* values_;
  KeyCodec<UKey> codec_;
  const HostContext& context_;
};

}  // namespace sortie::segsort
