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

using Key = std::uint32_t;
using Pair = std::uint64_t;

constexpr std::array<Classic, 11> classics = {{
    {"selection", selection<Key>, selection<Pair>, most_for_one_block},
    {"insertion", insertion<Key>, insertion<Pair>, most_for_one_block},
    {"odd-even transposition", odd_even_transposition<Key>, odd_even_transposition<Pair>,
     most_for_phases},
    {"counting", counting<Key>, counting<Pair>, most_for_comparing_all},
    {"counting by offset", counting_by_offset<Key>, counting_by_offset<Pair>,
     most_for_comparing_all},
    {"odd-even merge", odd_even_merge<Key>, odd_even_merge<Pair>, most},
    {"quicksort", quicksort<Key>, quicksort<Pair>, most},
    {"sample sort", sample_sort<Key>, sample_sort<Pair>, most},
    {"tiled merge", tiled_merge<Key>, tiled_merge<Pair>, most},
    {"binary split", binary_split<Key>, binary_split<Pair>, most},
    {"tiled radix", tiled_radix<Key>, tiled_radix<Pair>, most},
}};

}  // namespace

std::span<const Classic> all() {
  return classics;
}

}  // namespace sortie::papers::classics
