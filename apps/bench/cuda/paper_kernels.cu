// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/cuda/paper_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/bench/cuda/kernel_arguments.cuh"
#include "papers/ics17/shared_merge.cuh"

namespace sortie::bench {
namespace {

namespace ics17 = segsort::ics17;
using segsort::Arguments;
using Pairs = ics17::Traits<std::uint32_t, std::uint32_t, false>;
using Kernel = PaperBinding::Kernel;

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
/// last.
template <int Threads, int Items, bool Striped>
__global__ void __launch_bounds__(Threads) smem_merge_kernel(Arguments<std::uint32_t> arguments) {
  __shared__ ics17::SharedTile<Pairs, Threads, Items> tile;
  for (std::uint64_t i = blockIdx.x; i < arguments.num_segments; i += gridDim.x) {
    const segsort::SegmentExtent segment = extent(arguments, i);
    const int length = static_cast<int>(segment.length);
    ics17::sort_tile<Pairs, Threads, Items>(tile, arguments, segment.begin, length);
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

struct Compiled {
  std::vector<PaperBinding> bindings;
  std::vector<void (*)(Arguments<std::uint32_t>)> kernels;

  template <Kernel Which, int Threads, int Items, bool Striped>
  void add() {
    bindings.push_back({Which, Threads, Items, Striped});
    if constexpr (Which == Kernel::reg_sort) {
      kernels.push_back(reg_sort_kernel<Threads, Items, Striped>);
    } else {
      kernels.push_back(smem_merge_kernel<Threads, Items, Striped>);
    }
  }
  template <Kernel Which, int Threads, int... Items>
  void add_items(std::integer_sequence<int, Items...>) {
    const auto add_one = [&]<int Count>() {
      // Bindings that exceed shared memory (8 bytes per item, 48 KiB per block) are omitted.
      if constexpr (Which == Kernel::reg_sort || Threads * Count <= 4096) {
        add<Which, Threads, Count, false>();
        if constexpr (Count > 1) add<Which, Threads, Count, true>();
      }
    };
    (add_one.template operator()<Items>(), ...);
  }
  template <Kernel Which, class Items, int... Threads>
  void add_threads(Items items, std::integer_sequence<int, Threads...>) {
    (add_items<Which, Threads>(items), ...);
  }

  Compiled() {
    add_threads<Kernel::reg_sort>(std::integer_sequence<int, 1, 2, 4, 8, 16>{},
                                  std::integer_sequence<int, 2, 4, 8, 16, 32>{});
    add_threads<Kernel::smem_merge>(std::integer_sequence<int, 2, 4, 8, 16>{},
                                    std::integer_sequence<int, 64, 128, 256, 512>{});
  }
};

const Compiled& compiled() {
  static const Compiled all;
  return all;
}

}  // namespace

std::span<const PaperBinding> paper_bindings() {
  return compiled().bindings;
}

cudaError_t sort_as_in_paper(std::size_t binding, int block_threads, void* temporary,
                             std::size_t& bytes, const segsort::DeviceRequest& request,
                             cudaStream_t stream) {
  if (!has_single_kernels(request)) return cudaErrorNotSupported;
  if (temporary == nullptr) {
    bytes = 1;  // not used, but a null pointer would request the size again
    return cudaSuccess;
  }
  const PaperBinding& bound = compiled().bindings[binding];
  const auto kernel = compiled().kernels[binding];
  const bool in_registers = bound.kernel == Kernel::reg_sort;
  const int threads = in_registers ? block_threads : bound.threads;
  const auto segments = static_cast<std::uint64_t>(request.num_segments);
  const auto segments_a_block =
      static_cast<std::uint64_t>(in_registers ? threads / bound.threads : 1);
  int device = 0;
  int multiprocessors = 0;
  int resident = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, 0);
  if (status != cudaSuccess) return status;
  const auto room =
      static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(multiprocessors);
  const std::uint64_t blocks = (segments + segments_a_block - 1) / segments_a_block;
  kernel<<<static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, room)),
           static_cast<unsigned>(threads), 0, stream>>>(arguments_of(request));
  return cudaGetLastError();
}

}  // namespace sortie::bench
