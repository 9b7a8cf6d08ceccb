// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "primitives/key_codec.hpp"
#include "segsort/host/divide_segment.hpp"
#include "segsort/host/oversized_segment.hpp"
#include "segsort/host/parallel_parts.hpp"
#include "segsort/host/segment_queue.hpp"
#include "segsort/host/short/segment_tile.hpp"
#include "segsort/host/short/short_segments.hpp"
#include "segsort/host/sort_segment.hpp"
#include "segsort/host/vector_unit.hpp"
#include "sortie/context.hpp"
#include "sortie/error.hpp"

namespace sortie::segsort {

namespace detail {

[[nodiscard]] inline std::uint64_t thread_count() {
  return static_cast<std::uint64_t>(host_threads());
}

}  // namespace detail

/// Allocates uninitialised memory: pages are faulted in by the threads that use them. Throws if an
/// allocation exceeds the memory budget of the context.
class ScratchAllocator {
 public:
  explicit ScratchAllocator(const Context& context) : budget_(context.memory_budget) {}

  template <class T>
  [[nodiscard]] std::unique_ptr<T[]> allocate(std::uint64_t n) const {
    const std::uint64_t bytes = n * sizeof(T);
    if (budget_ != 0 && bytes > budget_) throw out_of_memory(bytes, budget_);
    try {
      auto memory = std::make_unique_for_overwrite<T[]>(n);
      if (bytes >= smallest_advised) advise_large_pages(memory.get(), bytes);
      return memory;
    } catch (const std::bad_alloc&) {
      throw out_of_memory(bytes, host_memory_available());
    }
  }

 private:
  /// Smaller allocations might not contain a whole large page of 2 MiB.
  static constexpr std::uint64_t smallest_advised = std::uint64_t{4} << 20;

  static Error out_of_memory(std::uint64_t wanted, std::uint64_t free) {
    return out_of_memory_error("scratch of segmented sort", wanted, free);
  }
  std::uint64_t budget_;
};

/// Buffers for items during a sort.
template <class UKey, class Value>
struct Scratch {
  std::unique_ptr<UKey[]> keys;
  std::unique_ptr<Value[]> values;

  Scratch(const ScratchAllocator& allocator, std::uint64_t n)
      : keys(allocator.allocate<UKey>(n)),
        values(allocator.allocate<Value>(has_values<Value> ? n : 1)) {}
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
 public:
  SegmentSorter(UKey* keys, Value* values, KeyCodec<UKey> codec, const ScratchAllocator& allocator)
      : keys_(keys), values_(values), codec_(codec), allocator_(allocator) {}

  void sort(const Segments& segments) const {
    SegmentQueue queue(segments, detail::thread_count());
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
    const Scratch<UKey, Value> scratch(allocator_, longest * detail::thread_count());
    const VectorUnit unit = vector_unit();
    const std::size_t longest_short = longest_short_segment<UKey, Value>(unit);
    parallel_for(detail::thread_count(), [&](std::uint64_t thread) {
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
    const Parts parts{n, detail::thread_count()};
    parts.parallel_for_each(
        [&](std::uint64_t first, std::uint64_t count) { codec_.encode(keys + first, count); });
    const SegmentParts divided = split_oversized(begin, n, parts);
    if (!divided.ends.empty())
      SegmentSorter(keys, values_at(begin), {}, allocator_)
          .sort({erase(std::span<const std::uint64_t>(divided.begins)),
                 erase(std::span<const std::uint64_t>(divided.ends)), n});
    parts.parallel_for_each(
        [&](std::uint64_t first, std::uint64_t count) { codec_.decode(keys + first, count); });
  }

  /// Divides an oversized segment into segments; none if it is sorted already.
  [[nodiscard]] SegmentParts split_oversized(std::uint64_t begin, std::uint64_t n,
                                             const Parts& parts) const {
    UKey* const keys = keys_ + begin;
    if constexpr (!has_values<Value>) {
      if (has_vector_sort()) {
        const std::uint64_t longest = n / (parts_of_share * detail::thread_count());
        return divide_segment(keys, n, std::max(longest, shortest_part));
      }
    }
    const Scratch<UKey, Value> scratch(allocator_, n);
    SegmentParts divided;
    divided.ends = OversizedSegment(keys, values_at(begin), parts)
                       .split(scratch.keys.get(), scratch.values.get());
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
  const ScratchAllocator& allocator_;
};

}  // namespace sortie::segsort
