// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <type_traits>
#include <utility>

namespace sortie::segsort::ics17 {

/// How one bin of segment lengths is sorted.
struct Bin {
  enum class Kind {
    registers,      ///< `threads` threads of a warp hold a segment, `items` each
    shared_memory,  ///< a block of `threads` threads, `items` each: warps sort, then merge
  };
  Kind kind;
  int capacity;  ///< longest segment of the bin; the shortest is one more than the previous bin's
  int threads;
  int items;
  bool striped;  ///< transpose in registers before storing (paper, section 3.4: pays off from 4
                 ///< items on)
};

/// The policy: segments of length 0 and 1 are handled while binning (0 needs no work, 1 is copied);
/// bins[i] takes lengths up to bins[i].capacity; longer segments go to the grid bin. This table is
/// the only place that defines which kernel serves which length. The data-thread bindings follow
/// section 4.1 of the paper (powers of two, few items per thread while segments are short, at most
/// 16) for NVIDIA Hopper. Policy::tuned has a tuned table of its own.
inline constexpr std::array bins{
    Bin{Bin::Kind::registers, 2, 1, 2, false},
    Bin{Bin::Kind::registers, 4, 2, 2, false},
    Bin{Bin::Kind::registers, 8, 4, 2, false},
    Bin{Bin::Kind::registers, 16, 4, 4, true},
    Bin{Bin::Kind::registers, 32, 8, 4, true},
    Bin{Bin::Kind::registers, 64, 16, 4, true},
    Bin{Bin::Kind::registers, 128, 16, 8, true},
    Bin{Bin::Kind::registers, 256, 32, 8, true},
    Bin{Bin::Kind::registers, 512, 32, 16, true},
    Bin{Bin::Kind::shared_memory, 1024, 128, 8, true},
    Bin{Bin::Kind::shared_memory, 2048, 256, 8, true},
};
inline constexpr int bin_count = static_cast<int>(bins.size());

/// The grid bin: tiles of one block each, sorted as in the last shared-memory bin, then merged in
/// pairs over the whole grid.
inline constexpr int grid_bin = bin_count;
inline constexpr int tile_threads = 256;
inline constexpr int tile_items = 8;
inline constexpr int tile_size = tile_threads * tile_items;
static_assert(tile_size == bins.back().capacity, "the grid bin starts where the last bin ends");

/// How the items of a block are divided among its threads, and so among the chunks of its warps.
enum class Division {
  full,    ///< Items for each thread, from the first one on; the last threads have none
  uneven,  ///< m for the first threads and m' = m - 1 for the others: the paper's (m, m')
};
/// The division in the shared-memory bins and the tiles; `bench tune --paper` measures both.
inline constexpr Division chunk_division = Division::full;

/// Threads of a block that sorts in registers: 128 and 256 were best in the paper (figure 9).
inline constexpr int register_block_threads = 128;

namespace detail {
// The table is host memory: device code can only use its entries as compile-time constants.
template <int... Index>
constexpr int bins_below(unsigned long long length, std::integer_sequence<int, Index...>) {
  return (0 + ... +
          static_cast<int>(length > std::integral_constant<int, bins[Index].capacity>::value));
}
}  // namespace detail

/// Bin of a segment of `length` items; -1 for lengths 0 and 1, grid_bin beyond the last bin.
constexpr int bin_of(unsigned long long length) {
  return length <= 1 ? -1
                     : detail::bins_below(length, std::make_integer_sequence<int, bin_count>{});
}

constexpr bool policy_is_sound() {
  int previous = 1;
  for (const Bin& bin : bins) {
    if (bin.capacity <= previous || bin.threads * bin.items != bin.capacity) return false;
    if (bin.kind == Bin::Kind::registers && bin.threads > 32) return false;
    previous = bin.capacity;
  }
  return true;
}
static_assert(policy_is_sound(), "capacities ascend and equal threads * items");

}  // namespace sortie::segsort::ics17
