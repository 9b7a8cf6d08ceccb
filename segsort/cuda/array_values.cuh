// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "primitives/cuda/launch.cuh"

/// What a sort of an array does with its items beside the sort: positions, and values gathered by
/// them.
namespace sortie::segsort {

/// positions[i] = i, one thread for each item.
template <class Position>
__global__ void __launch_bounds__(element_threads)
    number_items_kernel(Position* positions, std::uint64_t n) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (i < n) positions[i] = static_cast<Position>(i);
}

/// Items that a block gathers.
inline constexpr unsigned int gathered_items = 256;

/// to[i] = from[positions[i]], items of `units` units each. Neighbouring threads copy neighbouring
/// units.
template <class Unit, class Position>
__global__ void __launch_bounds__(element_threads)
    gather_kernel(const Unit* from, Unit* to, const Position* positions, unsigned int units,
                  std::uint64_t n) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * gathered_items;
  const auto items = static_cast<unsigned int>(min(n - first, std::uint64_t{gathered_items}));
  for (unsigned int i = threadIdx.x; i < items * units; i += element_threads) {
    const std::uint64_t from_item = positions[first + i / units];
    to[first * units + i] = from[from_item * units + i % units];
  }
}

template <class Position>
cudaError_t number_items(Position* positions, std::uint64_t n, cudaStream_t stream) {
  return launch(number_items_kernel<Position>, blocks_for(n), element_threads, 0, stream,
                LaunchOrder::after, positions, n);
}

/// Gathers values of `bytes` bytes, in the largest units that their size and addresses allow.
template <class Position>
cudaError_t gather(const void* from, void* to, const Position* positions, std::size_t bytes,
                   std::uint64_t n, cudaStream_t stream) {
  const auto with_unit = [&]<class Unit>(Unit) {
    return launch(gather_kernel<Unit, Position>, blocks_for(n, gathered_items), element_threads, 0,
                  stream, LaunchOrder::after, static_cast<const Unit*>(from),
                  static_cast<Unit*>(to), positions,
                  static_cast<unsigned int>(bytes / sizeof(Unit)), n);
  };
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(from) |
                             reinterpret_cast<std::uintptr_t>(to) | std::uintptr_t{bytes};
  if (all % 16 == 0) return with_unit(uint4{});
  if (all % 8 == 0) return with_unit(std::uint64_t{});
  if (all % 4 == 0) return with_unit(std::uint32_t{});
  return all % 2 == 0 ? with_unit(std::uint16_t{}) : with_unit(std::uint8_t{});
}

}  // namespace sortie::segsort
