// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "primitives/cuda/launch.cuh"
#include "segsort/cuda/packed_field.cuh"

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

/// Position of an item of the output that is not written.
template <class Position>
inline constexpr auto no_position = static_cast<Position>(~Position{0});

/// to[i] = from[positions[i]], items of `units` units each. Neighbouring threads copy neighbouring
/// units.
/// \tparam HasGaps  some positions are no_position
template <bool HasGaps, class Unit, class Position>
__global__ void __launch_bounds__(element_threads)
    gather_kernel(const Unit* from, Unit* to, const Position* positions, unsigned int units,
                  std::uint64_t n) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * gathered_items;
  const auto items = static_cast<unsigned int>(min(n - first, std::uint64_t{gathered_items}));
  for (unsigned int i = threadIdx.x; i < items * units; i += element_threads) {
    const Position from_item = positions[first + i / units];
    if (HasGaps && from_item == no_position<Position>) continue;
    to[first * units + i] = from[std::uint64_t{from_item} * units + i % units];
  }
}

/// Items that one block gathers when it has read all of their positions.
inline constexpr unsigned int last_gathered_items = 2048;

/// As gather_kernel, in one block, for positions that the output takes the place of.
template <class Unit, class Position>
__global__ void __launch_bounds__(last_gathered_items / 2)
    gather_last_kernel(const Unit* from, Unit* to, const Position* positions, unsigned int units,
                       unsigned int items) {
  __shared__ Position kept[last_gathered_items];
  for (unsigned int i = threadIdx.x; i < items; i += blockDim.x) kept[i] = positions[i];
  __syncthreads();
  for (unsigned int i = threadIdx.x; i < items * units; i += blockDim.x)
    to[i] = from[std::uint64_t{kept[i / units]} * units + i % units];
}

/// The fields of packed values, each of at least a byte, at most 8 bytes together.
struct PackedFields {
  PackedField fields[8];
  unsigned int count;
};

/// packed[i] = the fields of item i, the first in the lowest bits; one thread for each item.
template <class Word>
__global__ void __launch_bounds__(element_threads)
    pack_kernel(PackedFields fields, Word* packed, std::uint64_t n) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (i >= n) return;
  std::uint64_t word = 0;
  unsigned int shift = 0;
  for (unsigned int f = 0; f < fields.count; ++f) {
    const PackedField& field = fields.fields[f];
    with_unit_of(field.unit, [&]<class Unit>() {
      for (unsigned int u = 0; u < field.units; ++u, shift += 8 * sizeof(Unit))
        word |= std::uint64_t{static_cast<const Unit*>(field.in)[i * field.units + u]} << shift;
    });
  }
  packed[i] = static_cast<Word>(word);
}

/// The inverse of pack_kernel.
template <class Word>
__global__ void __launch_bounds__(element_threads)
    unpack_kernel(PackedFields fields, const Word* packed, std::uint64_t n) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (i >= n) return;
  const std::uint64_t word = packed[i];
  unsigned int shift = 0;
  for (unsigned int f = 0; f < fields.count; ++f) {
    const PackedField& field = fields.fields[f];
    with_unit_of(field.unit, [&]<class Unit>() {
      for (unsigned int u = 0; u < field.units; ++u, shift += 8 * sizeof(Unit))
        static_cast<Unit*>(field.out)[i * field.units + u] = static_cast<Unit>(word >> shift);
    });
  }
}

/// Packs, or unpacks, one word for each item.
template <class Word>
cudaError_t pack(const PackedFields& fields, Word* packed, std::uint64_t n, cudaStream_t stream) {
  return launch(pack_kernel<Word>, blocks_for(n), element_threads, 0, stream, LaunchOrder::after,
                fields, packed, n);
}
template <class Word>
cudaError_t unpack(const PackedFields& fields, const Word* packed, std::uint64_t n,
                   cudaStream_t stream) {
  return launch(unpack_kernel<Word>, blocks_for(n), element_threads, 0, stream, LaunchOrder::after,
                fields, packed, n);
}

template <class Position>
cudaError_t number_items(Position* positions, std::uint64_t n, cudaStream_t stream) {
  return launch(number_items_kernel<Position>, blocks_for(n), element_threads, 0, stream,
                LaunchOrder::after, positions, n);
}

/// Returns function(unit) for the largest unit that the size of values and their addresses allow.
template <class Function>
cudaError_t with_largest_unit(const void* from, void* to, std::size_t bytes,
                              const Function& function) {
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(from) |
                             reinterpret_cast<std::uintptr_t>(to) | std::uintptr_t{bytes};
  if (all % 16 == 0) return function(uint4{});
  if (all % 8 == 0) return function(std::uint64_t{});
  if (all % 4 == 0) return function(std::uint32_t{});
  return all % 2 == 0 ? function(std::uint16_t{}) : function(std::uint8_t{});
}

/// Gathers values of `bytes` bytes.
template <bool HasGaps = false, class Position>
cudaError_t gather(const void* from, void* to, const Position* positions, std::size_t bytes,
                   std::uint64_t n, cudaStream_t stream) {
  return with_largest_unit(from, to, bytes, [&]<class Unit>(Unit) {
    return launch(gather_kernel<HasGaps, Unit, Position>, blocks_for(n, gathered_items),
                  element_threads, 0, stream, LaunchOrder::after, static_cast<const Unit*>(from),
                  static_cast<Unit*>(to), positions,
                  static_cast<unsigned int>(bytes / sizeof(Unit)), n);
  });
}

/// Gathers values of `bytes` bytes by positions at the end of the output: first the items in front of
/// the positions, then those in the place of the positions that are not needed any more, and so on.
/// Each launch but the last leaves at most a part sizeof(Position) / bytes of the items to the next.
/// \pre bytes > sizeof(Position); `positions` ends less than a position before the output
template <class Position>
cudaError_t gather_over_positions(const void* from, void* to, const Position* positions,
                                  std::size_t bytes, std::uint64_t n, cudaStream_t stream) {
  auto* const out = static_cast<char*>(to);
  const auto in_front = static_cast<std::uint64_t>(reinterpret_cast<const char*>(positions) - out);
  std::uint64_t first = 0;
  while (n - first > last_gathered_items) {
    const std::uint64_t end = (in_front + sizeof(Position) * first) / bytes;
    const cudaError_t status =
        gather(from, out + first * bytes, positions + first, bytes, end - first, stream);
    if (status != cudaSuccess) return status;
    first = end;
  }
  return with_largest_unit(from, to, bytes, [&]<class Unit>(Unit) {
    return launch(gather_last_kernel<Unit, Position>, 1, last_gathered_items / 2, 0, stream,
                  LaunchOrder::after, static_cast<const Unit*>(from),
                  static_cast<Unit*>(to) + first * (bytes / sizeof(Unit)), positions + first,
                  static_cast<unsigned int>(bytes / sizeof(Unit)),
                  static_cast<unsigned int>(n - first));
  });
}

}  // namespace sortie::segsort
