#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/segsort/host/parallel_parts.hpp"
#include "sortie/segsort/host/vector_sort.hpp"

namespace sortie::segsort {

/// Where the parts of one long segment begin and end that are to be sorted by themselves.
struct GiantParts {
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> ends;
};

/// Divides one long segment of keys alone into parts of up to `longest` keys, in place, by the
/// partition of the vector quicksort: in two by one thread, these in two by two threads, and so on.
///
/// The quicksort of one thread would begin in the same way, so that nothing is done twice, and only
/// the first levels leave threads idle: of two, one for a sixteenth of the time. A part of equal
/// keys is left out. No scratch, since the page faults of fresh memory take longer than the sort.
///
/// \pre has_vector_sort(), longest >= 2^10
template <std::unsigned_integral UKey>
[[nodiscard]] GiantParts divide_giant(UKey* keys, std::uint64_t n, std::uint64_t longest) {
  struct Part {
    std::uint64_t begin;
    std::uint64_t size;
  };
  GiantParts done;
  std::vector<Part> large{{0, n}};
  const auto add = [&](std::vector<Part>& next, const Part& part) {
    if (part.size > longest) {
      next.push_back(part);
    } else if (part.size > 1) {
      done.begins.push_back(part.begin);
      done.ends.push_back(part.begin + part.size);
    }
  };
  // Bad pivots again and again need keys made for it; then a thread sorts each part that is left.
  for (int levels = 2 * static_cast<int>(std::bit_width(n)); !large.empty(); --levels) {
    if (levels == 0) {
      parallel_for(large.size(),
                   [&](std::uint64_t i) { sort_words(keys + large[i].begin, large[i].size); });
      break;
    }
    std::vector<std::uint64_t> below(large.size());
    parallel_for(large.size(), [&](std::uint64_t i) {
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
