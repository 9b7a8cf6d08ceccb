// SPDX-License-Identifier: Apache-2.0
#pragma once

// The segmented sort on the host. CMake instantiates sort_keys_of() in one source per key width.

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "segsort/backends.hpp"
#include "segsort/host/segment_queue.hpp"
#include "segsort/host/short/short_segments.hpp"
#include "segsort/host/sort_segment.hpp"
#include "sortie/context.hpp"

namespace sortie::segsort {

/// Names the memory of a sort in error messages.
inline constexpr std::string_view scratch_name = "scratch of segmented sort";

/// Begins and ends of the parts of one long segment that remain to be sorted independently.
struct SegmentParts {
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> ends;
};

/// Divides one long segment of keys alone into parts of up to `longest` keys, in place, by the
/// partition step of the vector quicksort: one thread divides the segment in two, two threads
/// divide the halves, and so on.
///
/// A single-threaded quicksort starts with the same divisions, so no work is repeated. Only the
/// first levels leave threads idle; with two threads, one is idle for a sixteenth of the time.
/// Parts of equal keys need no further sorting and are left out. No scratch is used: page faults on
/// fresh memory would take longer than the sort.
///
/// \pre has_vector_sort<UKey>(), longest >= 2^10
template <std::unsigned_integral UKey>
[[nodiscard]] SegmentParts divide_segment(UKey* keys, std::uint64_t n, std::uint64_t longest) {
  struct Part {
    std::uint64_t begin;
    std::uint64_t size;
  };
  SegmentParts done;
  std::vector<Part> large{{0, n}};
  const auto add = [&](std::vector<Part>& next, const Part& part) {
    if (part.size > longest) {
      next.push_back(part);
    } else if (part.size > 1) {
      done.begins.push_back(part.begin);
      done.ends.push_back(part.begin + part.size);
    }
  };
  // Only adversarial keys yield bad pivots at every level. After the limit, one thread sorts each
  // remaining part.
  for (int levels = 2 * static_cast<int>(std::bit_width(n)); !large.empty(); --levels) {
    if (levels == 0) {
      for_each_task(large.size(),
                    [&](std::uint64_t i) { sort_words(keys + large[i].begin, large[i].size); });
      break;
    }
    std::vector<std::uint64_t> below(large.size());
    for_each_task(large.size(), [&](std::uint64_t i) {
      below[i] = divide_words(keys + large[i].begin, large[i].size);
    });
    std::vector<Part> next;
    for (std::size_t i = 0; i < large.size(); ++i) {
      if (below[i] == 0) continue;
      add(next, {large[i].begin, below[i]});
      add(next, {large[i].begin + below[i], large[i].size - below[i]});
    }
    large.swap(next);
  }
  return done;
}

/// Splits one long segment into segments of equal value of the highest digit in which any keys
/// differ; none if all keys are equal. With all threads.
///
/// Each thread counts the digit values of its share of the segment, and later moves the items of
/// its share. Within a digit value the shares keep their order, so the split is stable and its
/// result does not depend on the number of threads.
/// \param scratch  as many items as the segment has
template <std::unsigned_integral UKey, class Value>
[[nodiscard]] SegmentParts split_segment(Items<UKey, Value> items, const EqualShares& shares,
                                         Items<UKey, Value> scratch) {
  constexpr std::size_t values = detail::digit_values;
  std::vector<UKey> bits(shares.count);
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t first, std::uint64_t end) {
    bits[share] = differing_bits(items.keys + first, end - first, items.keys[0]);
  });
  const UKey differing = std::reduce(bits.begin(), bits.end(), UKey{0}, std::bit_or{});
  if (differing == 0) return {};
  const Digit digit = Digit::highest(differing, least_digit_bits);
  std::vector<std::uint64_t> starts(shares.count * values);
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t first, std::uint64_t end) {
    count_keys(items.keys + first, end - first, digit, starts.data() + share * values);
  });
  counts_to_starts(starts.data(), values, shares.count);
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t first, std::uint64_t end) {
    detail::scatter_far(items.from(first), end - first, starts.data() + share * values, digit,
                        scratch);
  });
  for_each_share(shares, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    copy_items(scratch.from(first), end - first, items.from(first));
  });
  SegmentParts parts{{0}, {starts.end() - values, starts.end()}};
  parts.begins.insert(parts.begins.end(), parts.ends.begin(), parts.ends.end() - 1);
  return parts;
}

/// Sorts the segments of one pair of arrays, with all threads.
///
/// Threads take portions of segments of equal work (SegmentQueue) and bin them by length
/// (SegmentBatch). An oversized segment is first split by all threads; the resulting segments are
/// then sorted in the same way. Every step is stable, except on keys alone, where equal keys are
/// indistinguishable, so the result does not depend on the number of threads.
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
        sort_segment(items_.from(begin), length, scratch.items().from(longest * thread), codec_);
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
      if (has_vector_sort<UKey>()) {
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

namespace detail {

/// Sorts by some bits of the keys: these bits become the key. The payload is one word per item: the
/// original key, or key and value where both fit, otherwise the index of the item. Word types are
/// value types that SegmentSorter is instantiated for anyway, so no further instance is compiled.
template <class UKey, class Value>
void sort_by_bits(Items<UKey, Value> items, const Request& request, const Segments& segments,
                  const HostContext& context) {
  constexpr bool alone = !has_values<Value>;
  constexpr bool words_hold_items = alone || sizeof(UKey) + sizeof(Value) == 8;
  using Word = std::conditional_t<alone, UKey, std::uint64_t>;
  const std::uint64_t n = request.num_items;
  const int begin_bit = request.options.begin_bit;
  const int bits = request.options.end_bit - begin_bit;
  const auto mask = static_cast<UKey>((UKey{1} << bits) - 1);
  const UKey flipped = request.options.order == Order::descending ? mask : 0;
  const auto part_storage = allocate_array<UKey>(context, scratch_name, n);
  const auto word_storage = allocate_array<Opaque<Word>>(context, scratch_name, n);
  const Items by_bits{part_storage.get(), word_storage.get()};
  for_each_index(0, n, [=](std::uint64_t i) {
    by_bits.keys[i] = ((items.keys[i] >> begin_bit) & mask) ^ flipped;
    if constexpr (alone) {
      by_bits.values[i].word = items.keys[i];
    } else if constexpr (words_hold_items) {
      by_bits.values[i].word = word_of(items, i);
    } else {
      by_bits.values[i].word = i;
    }
  });
  SegmentSorter(by_bits, {}, context).sort(segments);

  if constexpr (alone) {
    for_each_index(0, n, [=](std::uint64_t i) { items.keys[i] = by_bits.values[i].word; });
  } else if constexpr (words_hold_items) {
    for_each_index(0, n, [=](std::uint64_t i) {
      items.keys[i] = static_cast<UKey>(by_bits.values[i].word >> 32);
      items.values[i].word = static_cast<std::uint32_t>(by_bits.values[i].word);
    });
  } else {
    const auto value_storage = allocate_array<Value>(context, scratch_name, n);
    const Items<UKey, Value> sorted{by_bits.keys, value_storage.get()};
    for_each_index(0, n, [=](std::uint64_t i) {
      sorted.keys[i] = items.keys[by_bits.values[i].word];
      sorted.values[i] = items.values[by_bits.values[i].word];
    });
    for_each_share(thread_shares(n), [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
      copy_items(sorted.from(first), end - first, items.from(first));
    });
  }
}

}  // namespace detail

template <std::unsigned_integral UKey>
void sort_keys_of(const Context& context, const Request& request) {
  const Segments segments{request.begin_offsets, request.end_offsets, request.num_items};
  const int bits = request.options.end_bit - request.options.begin_bit;
  if (bits == 0)  // all keys count as equal and keep their order
    return check_offsets(segments.begins, segments.ends, segments.num_items);
  const auto sort = [&]<class Value>(Value) {
    const Items<UKey, Value> items{static_cast<UKey*>(request.keys),
                                   static_cast<Value*>(request.values)};
    if (bits < static_cast<int>(8 * sizeof(UKey))) {
      detail::sort_by_bits(items, request, segments, context);
    } else {
      const KeyCodec<UKey> codec(kind_of(request.key_type), request.options.order);
      SegmentSorter(items, codec, context).sort(segments);
    }
  };
  switch (request.value_bytes) {
    case 0:
      return sort(NoValue());
    case 4:
      return sort(Opaque<std::uint32_t>());
    default:
      return sort(Opaque<std::uint64_t>());
  }
}

}  // namespace sortie::segsort
