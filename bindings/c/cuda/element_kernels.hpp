// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/key_types.hpp"
#include "sortie/query.hpp"
#include "sortie/sortie.h"

/// Element-wise work on device memory, one thread an element, in the order of `stream`.
/// All throw Error (device).
namespace sortie::c {

/// positions[i] = i. \tparam Position  std::uint32_t or std::uint64_t
template <class Position>
void fill_positions(Position* positions, std::uint64_t size, cudaStream_t stream);

/// range[0] = 0, range[1] = size.
void set_range(std::uint64_t* range, std::uint64_t size, cudaStream_t stream);

/// to[i] = from[i]: 4 bytes to 8.
void widen_positions(const std::uint32_t* from, std::uint64_t* to, std::uint64_t size,
                     cudaStream_t stream);

/// Moves values of any size: element i of `to` is element positions[i] of `from`.
template <class Position>
void gather(const void* from, const Position* positions, void* to, std::uint64_t size,
            std::size_t value_bytes, cudaStream_t stream);

/// Keys of one or two bytes as unsigned keys of four bytes in the same order, and back.
/// \pre key_bytes(type) < 4
void widen_keys(KeyType type, const void* narrow, std::uint32_t* wide, std::uint64_t size,
                cudaStream_t stream);
void narrow_keys(KeyType type, const std::uint32_t* wide, void* narrow, std::uint64_t size,
                 cudaStream_t stream);

/// Copies the elements before offsets[0] and from offsets[count] on: those that are in no segment.
/// \param offset_bytes  4 or 8
void copy_outside(const void* offsets, int offset_bytes, std::uint64_t count, const void* from,
                  void* to, std::uint64_t size, std::size_t element_bytes, cudaStream_t stream);

/// Copies integers of 4 or 8 bytes to 4 or 8 bytes; the values fit.
void convert_indices(const void* from, std::size_t from_bytes, void* to, std::size_t to_bytes,
                     std::uint64_t size, cudaStream_t stream);

/// Begins and ends of ranges as two arrays.
void split_ranges(const suffix_array::EntryRange* ranges, std::uint64_t* begins,
                  std::uint64_t* ends, std::uint64_t size, cudaStream_t stream);

}  // namespace sortie::c
