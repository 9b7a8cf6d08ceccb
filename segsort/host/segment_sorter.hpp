#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "sortie/core/context.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/host_memory.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/core/large_pages.hpp"
#include "sortie/segsort/host/giant_segment.hpp"
#include "sortie/segsort/host/giant_words.hpp"
#include "sortie/segsort/host/key_form.hpp"
#include "sortie/segsort/host/parallel_parts.hpp"
#include "sortie/segsort/host/segment_queue.hpp"
#include "sortie/segsort/host/segment_tile.hpp"
#include "sortie/segsort/host/short_segments.hpp"
#include "sortie/segsort/host/sort_segment.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::segsort {

namespace detail {

[[nodiscard]] inline std::uint64_t thread_count() {
  return static_cast<std::uint64_t>(host_threads());
}

}  // namespace detail

/// Memory that is not touched before it is used: a thread pays for what its segments need.
/// Refuses to pass the memory budget of the context.
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
  /// Two large pages: less might hold none whole.
  static constexpr std::uint64_t smallest_advised = std::uint64_t{4} << 20;

  static Error out_of_memory(std::uint64_t wanted, std::uint64_t free) {
    return out_of_memory_error("scratch of segmented sort", wanted, free);
  }
  std::uint64_t budget_;
};

/// Room for items while they are sorted.
template <class UKey, class Value>
struct Scratch {
  std::unique_ptr<UKey[]> keys;
  std::unique_ptr<Value[]> values;

  Scratch(const ScratchAllocator& allocator, std::uint64_t n)
      : keys(allocator.allocate<UKey>(n)),
        values(allocator.allocate<Value>(detail::has_values<Value> ? n : 1)) {}
};

/// Sorts the segments of one pair of arrays, by all threads.
///
/// Threads take portions of segments of equal work (SegmentQueue), bin them by length
/// (SegmentBatch) and sort the short ones sixteen at a time (sort_short_segments()), others each
/// alone (sort_segment()); a segment too long for that is first split by all threads into segments
/// of one digit value each (GiantSegment), or keys alone by the partition of a quicksort
/// (divide_giant()), which are then sorted in the same way. Everything is stable, so the result is
/// the same for any number of threads.
template <class UKey, class Value>
class SegmentSorter {
 public:
  SegmentSorter(UKey* keys, Value* values, KeyForm<UKey> form, const ScratchAllocator& allocator)
      : keys_(keys), values_(values), form_(form), allocator_(allocator) {}

  void sort(const Segments& segments) const {
    SegmentQueue queue(segments, detail::thread_count());
    for (const std::uint64_t giant : queue.giants())
      sort_giant(segments.begins[giant], segments.length(giant));
    sort_queued(queue);
  }

 private:
  [[nodiscard]] Value* values_at(std::uint64_t i) const {
    return values_ + (detail::has_values<Value> ? i : 0);
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
        sort_short_segments(keys_, values_, form_, short_segments, unit, tile);
      };
      const auto sort_long = [&](std::uint64_t begin, std::uint64_t length) {
        sort_alone(begin, length, scratch, longest * thread);
      };
      SegmentBatch batch(longest_short);
      const auto sort_batch = [&] { batch.sort(sort_short, sort_long); };
      const auto bring_near = [&](std::uint64_t begin) {
        __builtin_prefetch(keys_ + begin, 1);
        if constexpr (detail::has_values<Value>) __builtin_prefetch(values_at(begin), 1);
      };
      while (queue.work(batch, bring_near, sort_batch)) {
      }
    });
  }

  void sort_alone(std::uint64_t begin, std::uint64_t n, const Scratch<UKey, Value>& scratch,
                  std::uint64_t scratch_begin) const {
    UKey* const keys = keys_ + begin;
    form_.encode(keys, n);
    sort_segment(keys, values_at(begin), n, scratch.keys.get() + scratch_begin,
                 scratch.values.get() + (detail::has_values<Value> ? scratch_begin : 0));
    form_.decode(keys, n);
  }

  void sort_giant(std::uint64_t begin, std::uint64_t n) const {
    UKey* const keys = keys_ + begin;
    const Parts parts{n, detail::thread_count()};
    parts.parallel_for_each(
        [&](std::uint64_t first, std::uint64_t count) { form_.encode(keys + first, count); });
    const GiantParts giant = split_giant(begin, n, parts);
    if (!giant.ends.empty())
      SegmentSorter(keys, values_at(begin), {}, allocator_)
          .sort({erase(std::span<const std::uint64_t>(giant.begins)),
                 erase(std::span<const std::uint64_t>(giant.ends)), n});
    parts.parallel_for_each(
        [&](std::uint64_t first, std::uint64_t count) { form_.decode(keys + first, count); });
  }

  /// Divides a giant into segments; none where nothing is left to be sorted.
  [[nodiscard]] GiantParts split_giant(std::uint64_t begin, std::uint64_t n,
                                       const Parts& parts) const {
    UKey* const keys = keys_ + begin;
    if constexpr (!detail::has_values<Value>) {
      if (has_vector_sort()) {
        const std::uint64_t longest = n / (parts_of_share * detail::thread_count());
        return divide_giant(keys, n, std::max(longest, shortest_part));
      }
    }
    const Scratch<UKey, Value> scratch(allocator_, n);
    GiantParts giant;
    giant.ends =
        GiantSegment(keys, values_at(begin), parts).split(scratch.keys.get(), scratch.values.get());
    if (giant.ends.empty()) return giant;
    giant.begins.assign(giant.ends.size(), 0);
    std::copy(giant.ends.begin(), giant.ends.end() - 1, giant.begins.begin() + 1);
    return giant;
  }

  /// A quicksort divides a giant until a thread's share has so many parts: SegmentQueue takes none
  /// of them for a giant of its own.
  static constexpr std::uint64_t parts_of_share = 8;
  /// Less is sorted sooner than divided by several threads.
  static constexpr std::uint64_t shortest_part = std::uint64_t{1} << 14;

  UKey* keys_;
  Value* values_;
  KeyForm<UKey> form_;
  const ScratchAllocator& allocator_;
};

}  // namespace sortie::segsort
