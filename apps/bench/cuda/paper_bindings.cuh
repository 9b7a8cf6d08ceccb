// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "apps/bench/cuda/kernel_arguments.cuh"
#include "apps/bench/cuda/paper_kernels.hpp"
#include "papers/ics17/shared_merge.cuh"

/// The data-thread bindings that `sortie bench tune --paper` measures, for pairs of u32 and u32.
namespace sortie::bench {

namespace ics17 = segsort::ics17;
using segsort::Arguments;
using Pairs = ics17::Traits<std::uint32_t, std::uint32_t, false>;
using Kernel = PaperBinding::Kernel;

struct CompiledBinding {
  PaperBinding binding;
  void (*kernel)(Arguments<std::uint32_t>);
};

/// Appends all bindings of a kernel to so many threads. CMake generates a source file for each
/// kernel and some numbers of threads.
template <PaperBinding::Kernel Which, int Threads>
void add_bindings(std::vector<CompiledBinding>& all);

/// The loop of ics17::warp_bin_kernel over all segments, without bins, for any block size: a group
/// of Threads lanes sorts a segment in registers. The launch bound of 512 threads permits 128
/// registers per thread, twice what any binding uses, so the same code suits all block sizes.
template <int Threads, int Items, bool Striped>
__global__ void __launch_bounds__(most_block_threads)
    reg_sort_kernel(Arguments<std::uint32_t> arguments) {
  const std::uint32_t groups = blockDim.x / Threads;
  const std::uint32_t group = threadIdx.x / Threads;
  const std::uint32_t thread = threadIdx.x % Threads;
  const auto less = Pairs::less(arguments.codec);
  // The loop bound is uniform in a block: every lane participates in every shuffle.
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * groups; first < arguments.num_segments;
       first += std::uint64_t{gridDim.x} * groups) {
    segsort::SegmentExtent segment{0, 0};
    if (first + group < arguments.num_segments) segment = extent(arguments, first + group);
    const auto length = static_cast<std::uint32_t>(segment.length);
    Pairs::I items[Items];
    ics17::load_group<Pairs>(items, arguments, segment.begin, 0, length, thread);
    ics17::register_sort<Threads, Items>(items, static_cast<int>(thread), less);
    if constexpr (Striped)
      ics17::register_transpose<Threads, Items>(items, static_cast<int>(thread));
#pragma unroll
    for (std::uint32_t r = 0; r < Items; ++r) {
      std::uint32_t position = thread * Items + r;
      if constexpr (Striped) {
        position = static_cast<std::uint32_t>(ics17::position_after_transpose<Threads, Items>(
            static_cast<int>(thread), static_cast<int>(r)));
      }
      if (position < length) Pairs::store(arguments, segment.begin, position, items[r]);
    }
  }
}

/// The loop of ics17::block_bin_kernel over all segments, without bins: a block sorts one segment
/// in shared memory. Writes are either striped, or each thread writes the items that it merged
/// last, of a full segment.
template <int Threads, int Items, bool Striped, ics17::Division How = ics17::Division::full>
__global__ void __launch_bounds__(Threads) smem_merge_kernel(Arguments<std::uint32_t> arguments) {
  __shared__ ics17::SharedTile<Pairs, Threads, Items> tile;
  for (std::uint64_t i = blockIdx.x; i < arguments.num_segments; i += gridDim.x) {
    const segsort::SegmentExtent segment = extent(arguments, i);
    const int length = static_cast<int>(segment.length);
    ics17::sort_tile<Pairs, Threads, Items, How>(tile, arguments, segment.begin, length);
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int r = 0; r < Items; ++r) {
      const int position = Striped ? r * Threads + thread : thread * Items + r;
      if (position < length) {
        Pairs::store(arguments, segment.begin, static_cast<std::uint32_t>(position),
                     tile.get(position));
      }
    }
    __syncthreads();
  }
}

/// Whether a shared-memory bin of the policy has this binding.
constexpr bool is_bin(int threads, int items) {
  for (const ics17::Bin& bin : ics17::bins)
    if (bin.kind == ics17::Bin::Kind::shared_memory && bin.threads == threads && bin.items == items)
      return true;
  return false;
}

template <PaperBinding::Kernel Which, int Threads>
void add_bindings(std::vector<CompiledBinding>& all) {
  const auto add = [&]<int Items, bool Striped>() {
    if constexpr (Which == Kernel::reg_sort) {
      all.push_back({{Which, Threads, Items, Striped}, reg_sort_kernel<Threads, Items, Striped>});
    } else {
      all.push_back({{Which, Threads, Items, Striped}, smem_merge_kernel<Threads, Items, Striped>});
    }
  };
  // The bins of the policy once more, with uneven chunks.
  const auto add_uneven = [&]<int Items>() {
    if constexpr (Which == Kernel::smem_merge)
      all.push_back({{Which, Threads, Items, true, true},
                     smem_merge_kernel<Threads, Items, true, ics17::Division::uneven>});
  };
  const auto add_both = [&]<int Items>() {
    // Bindings that exceed shared memory (8 bytes per item, 48 KiB per block) are omitted.
    if constexpr (Which == Kernel::reg_sort || (Items > 1 && Threads * Items <= 4096)) {
      add.template operator()<Items, false>();
      if constexpr (Items > 1) add.template operator()<Items, true>();
      if constexpr (is_bin(Threads, Items)) add_uneven.template operator()<Items>();
    }
  };
  [&]<int... Items>(std::integer_sequence<int, Items...>) {
    (add_both.template operator()<Items>(), ...);
  }
  (std::integer_sequence<int, 1, 2, 4, 8, 16>{});
}

}  // namespace sortie::bench
