// SPDX-License-Identifier: Apache-2.0
#include "papers/classics/classics.hpp"

#include <array>

namespace sortie::papers::classics {

namespace {

/// Maximum lengths. For the quadratic algorithms, a run takes some tenths of a second on an H200;
/// for the others, the limit is the memory of smaller GPUs.
constexpr std::uint64_t most_for_one_block = std::uint64_t{1} << 14;
constexpr std::uint64_t most_for_phases = std::uint64_t{1} << 16;
constexpr std::uint64_t most_for_comparing_all = std::uint64_t{1} << 19;
constexpr std::uint64_t most = std::uint64_t{1} << 28;

constexpr std::array<Classic, 11> classics = {{
    {"selection", selection, most_for_one_block},
    {"insertion", insertion, most_for_one_block},
    {"odd-even transposition", odd_even_transposition, most_for_phases},
    {"counting", counting, most_for_comparing_all},
    {"counting by offset", counting_by_offset, most_for_comparing_all},
    {"odd-even merge", odd_even_merge, most},
    {"quicksort", quicksort, most},
    {"sample sort", sample_sort, most},
    {"tiled merge", tiled_merge, most},
    {"binary split", binary_split, most},
    {"tiled radix", tiled_radix, most},
}};

}  // namespace

std::span<const Classic> all() {
  return classics;
}

}  // namespace sortie::papers::classics
