// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "primitives/host/parallel.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "segsort/host/radix_sort.hpp"

namespace sortie::segsort {

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
/// \pre has_vector_sort(), longest >= 2^10
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
/// Each thread owns one share of the segment and counts the digit values of its share. A scan over
/// (digit value, share) yields the destination of the items of each share; then each thread moves
/// its share. Within a digit value the shares keep their order, so the split is stable and its
/// result does not depend on the number of threads.
/// \param scratch  as many items as the segment has
template <std::unsigned_integral UKey, class Value>
[[nodiscard]] SegmentParts split_segment(Items<UKey, Value> items, const EqualShares& shares,
                                         Items<UKey, Value> scratch) {
  std::vector<UKey> bits(shares.count);
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t first, std::uint64_t end) {
    bits[share] = differing_bits(items.keys + first, end - first, items.keys[0]);
  });
  const UKey differing = std::reduce(bits.begin(), bits.end(), UKey{0}, std::bit_or{});
  if (differing == 0) return {};
  const Digit digit = Digit::highest(differing, detail::digit_bits);
  std::vector<std::uint64_t> starts(shares.count * detail::digit_values);
  const auto starts_of = [&](std::uint64_t share) {
    return starts.data() + share * detail::digit_values;
  };
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t first, std::uint64_t end) {
    count_keys(items.keys + first, end - first, digit, starts_of(share));
  });
  counts_to_starts(starts.data(), detail::digit_values, shares.count);
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t first, std::uint64_t end) {
    detail::scatter_far(items.from(first), end - first, starts_of(share), digit, scratch);
  });
  for_each_share(shares, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    copy_items(scratch.from(first), end - first, items.from(first));
  });
  SegmentParts parts{{0}, {starts.end() - detail::digit_values, starts.end()}};
  parts.begins.insert(parts.begins.end(), parts.ends.begin(), parts.ends.end() - 1);
  return parts;
}

}  // namespace sortie::segsort
