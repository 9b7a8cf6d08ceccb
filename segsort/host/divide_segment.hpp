// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "primitives/host/parallel.hpp"
#include "primitives/simd/vector_sort.hpp"

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

}  // namespace sortie::segsort
