// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/bench/cuda/tune_kernels.hpp"
#include "segsort/cuda/block_sort.cuh"

/// The team shapes that `sortie bench tune` tries, for u32 keys and u32 values.
namespace sortie::bench {

struct Candidate {
  TileShape shape;
  void (*kernel)(segsort::Arguments<std::uint32_t>, segsort::WorkLists, unsigned int);
  std::size_t shared_bytes;  ///< shared memory of all teams of a block
};

/// All candidates with so many items per thread and warps per block. CMake generates a source file
/// for each.
template <int Items, int BlockWarps>
[[nodiscard]] std::vector<Candidate> candidates_of();

/// Team sizes, in warps, for blocks of 16, 20 or 24 warps.
template <int BlockWarps>
inline constexpr std::array teams_of_block = {16};
template <>
inline constexpr std::array teams_of_block<20> = {1, 2, 3, 4, 5, 6, 8, 10};
template <>
inline constexpr std::array teams_of_block<24> = {1, 2, 3, 4, 6, 8, 12};

/// block_sort_kernel with one shape for all classes; all listed segments fit it.
template <int Warps, int Items, int BlockWarps>
__global__ void __launch_bounds__(32 * BlockWarps, segsort::resident_warps / BlockWarps)
    sort_listed_kernel(segsort::Arguments<std::uint32_t> arguments, segsort::WorkLists lists,
                       unsigned int shared_size) {
  using T = segsort::Tile<std::uint32_t, 4, Warps, Items, Warps != BlockWarps>;
  for (int block_class = 0; block_class < segsort::block_classes; ++block_class) {
    const unsigned int count = lists.counters->segments[block_class];
    if (count == 0) continue;
    __syncthreads();  // the teams of the previous class no longer use the shared memory
    segsort::sort_by_teams<T>(
        shared_size, arguments, count, [&](unsigned int i) -> segsort::TileRange {
          const auto [begin, length] = extent(arguments, lists.segment(block_class, i));
          return {begin, static_cast<std::uint32_t>(length), segsort::Buffer::input};
        });
  }
}

template <int Items, int BlockWarps>
std::vector<Candidate> candidates_of() {
  constexpr auto& teams = teams_of_block<BlockWarps>;
  std::vector<Candidate> all;
  const auto add = [&]<std::size_t Index>() {
    constexpr int warps = teams[Index];
    using T = segsort::Tile<std::uint32_t, 4, warps, Items, warps != BlockWarps>;
    all.push_back({{warps, Items, BlockWarps},
                   sort_listed_kernel<warps, Items, BlockWarps>,
                   BlockWarps / warps * sizeof(T)});
  };
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    (add.template operator()<Index>(), ...);
  }
  (std::make_index_sequence<teams.size()>{});
  return all;
}

}  // namespace sortie::bench
