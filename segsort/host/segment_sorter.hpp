// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "segsort/host/oversized_segment.hpp"
#include "segsort/host/segment_queue.hpp"
#include "segsort/host/short/segment_tile.hpp"
#include "segsort/host/short/short_segments.hpp"
#include "segsort/host/sort_segment.hpp"
#include "sortie/context.hpp"

namespace sortie::segsort {

/// Names the memory of a sort in error messages.
inline constexpr std::string_view scratch_name = "scratch of segmented sort";

/// Sorts the segments of one pair of arrays, with all threads.
///
/// Threads take portions of segments of equal work (SegmentQueue) and bin them by length
/// (SegmentBatch). They sort short segments sixteen at a time (sort_short_segments()) and longer
/// ones one by one (sort_segment()). An oversized segment is first split by all threads, into
/// segments of equal digit value (split_segment()), or, for keys alone, by the partition step of a
/// quicksort (divide_segment()); the resulting segments are then sorted in the same way. Every step
/// is stable, except on keys alone, where equal keys are indistinguishable, so the result does not
/// depend on the number of threads.
template <class UKey, class Value>
class SegmentSorter {
  static_assert(sizeof(UKey) == 4 || sizeof(UKey) == 8, "the widths of SegmentKey");

 public:
  SegmentSorter(Items<UKey, Value> items, KeyCodec<UKey> codec, const HostContext& context)
      : items_(items), codec_(codec), context_(context) {}

  void sort(const Segments& segments) const {
    SegmentQueue queue(segments, worker_threads());
    for (const std::uint64_t i : queue.oversized())
      sort_oversized(items_.from(segments.begins[i]), segments.length(i));
    sort_queued(queue);
  }

 private:
  void sort_queued(SegmentQueue& queue) const {
    const std::uint64_t longest = queue.longest();
    if (longest <= 1) return;
    const ItemStorage<UKey, Value> scratch(context_, longest * worker_threads(), scratch_name);
    const VectorUnit unit = vector_unit();
    const std::size_t longest_short = longest_short_segment<UKey, Value>(unit);
    for_each_task(worker_threads(), [&](std::uint64_t thread) {
      detail::SegmentTile<UKey, Value> tile;
      const auto sort_short = [&](const ShortSegments& short_segments) {
        sort_short_segments(items_, codec_, short_segments, unit, tile);
      };
      const auto sort_long = [&](std::uint64_t begin, std::uint64_t length) {
        sort_alone(items_.from(begin), length, scratch.items().from(longest * thread));
      };
      SegmentBatch batch(longest_short);
      const auto sort_batch = [&] { batch.sort(sort_short, sort_long); };
      const auto prefetch = [&](std::uint64_t begin) {
        __builtin_prefetch(items_.keys + begin, 1);
        if constexpr (has_values<Value>) __builtin_prefetch(items_.values + begin, 1);
      };
      while (queue.work(batch, prefetch, sort_batch)) {
      }
    });
  }

  void sort_alone(Items<UKey, Value> items, std::uint64_t n, Items<UKey, Value> scratch) const {
    codec_.encode(items.keys, n);
    sort_segment(items.keys, items.values, n, scratch.keys, scratch.values);
    codec_.decode(items.keys, n);
  }

  void sort_oversized(Items<UKey, Value> items, std::uint64_t n) const {
    const EqualShares shares{n, worker_threads()};
    for_each_share(shares, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
      codec_.encode(items.keys + first, end - first);
    });
    const SegmentParts parts = divide_oversized(items, shares);
    if (!parts.ends.empty())
      SegmentSorter(items, {}, context_)
          .sort({erase(std::span<const std::uint64_t>(parts.begins)),
                 erase(std::span<const std::uint64_t>(parts.ends)), n});
    for_each_share(shares, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
      codec_.decode(items.keys + first, end - first);
    });
  }

  /// Divides an oversized segment into segments; none if it is sorted already.
  [[nodiscard]] SegmentParts divide_oversized(Items<UKey, Value> items,
                                              const EqualShares& shares) const {
    if constexpr (!has_values<Value>) {
      if (has_vector_sort()) {
        const std::uint64_t longest = shares.items / (parts_of_share * worker_threads());
        return divide_segment(items.keys, shares.items, std::max(longest, shortest_part));
      }
    }
    const ItemStorage<UKey, Value> scratch(context_, shares.items, scratch_name);
    return split_segment(items, shares, scratch.items());
  }

  /// Parts per thread into which quicksort divides an oversized segment. With 8, SegmentQueue
  /// treats none of them as oversized.
  static constexpr std::uint64_t parts_of_share = 8;
  /// Shorter parts are sorted faster by one thread than divided by several.
  static constexpr std::uint64_t shortest_part = std::uint64_t{1} << 14;

  Items<UKey, Value> items_;
  KeyCodec<UKey> codec_;
  const HostContext& context_;
};

}  // namespace sortie::segsort
