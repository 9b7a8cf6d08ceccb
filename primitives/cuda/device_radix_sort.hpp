// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "sortie/key_types.hpp"

namespace sortie {

/// The items of one device and a second buffer of the same size. A sort may flip the two.
struct RadixBuffers {
  void* keys = nullptr;
  void* other_keys = nullptr;
  void* values = nullptr;
  void* other_values = nullptr;

  void flip() {
    std::swap(keys, other_keys);
    std::swap(values, other_values);
  }
};

/// CUB's radix sort on one device, ascending and stable, type erased. Sorts keys that segsort does
/// not take (1 and 2 bytes) and RMG's buckets; the benchmarks measure it as a peer.
/// Two-phase call: with a null `temp_storage` it only writes the bytes wanted. Afterwards
/// `buffers.keys` and `buffers.values` point to the result.
/// \param key_bytes    keys are unsigned integers of 1, 2, 4 or 8 bytes
/// \param value_bytes  0, 4 or 8
/// \param begin_bit, end_bit  bits that are compared
cudaError_t device_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                              RadixBuffers& buffers, std::uint64_t n, int key_bytes,
                              int value_bytes, int begin_bit, int end_bit, cudaStream_t stream);

/// The same from const arrays to others: the temporary storage also holds a copy of the items.
struct RadixArrays {
  const void* keys_in = nullptr;
  void* keys_out = nullptr;
  const void* values_in = nullptr;
  void* values_out = nullptr;
};
cudaError_t device_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                              const RadixArrays& arrays, std::uint64_t n, int key_bytes,
                              int value_bytes, int begin_bit, int end_bit, cudaStream_t stream);

/// The same for keys of any kind, in any order, as KeyCodec encodes them.
/// \pre keys of 1 or 2 bytes, or fewer than 2^32 pairs of 4-byte keys and values, or unsigned keys
///      in ascending order
cudaError_t encoded_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                               const RadixArrays& arrays, std::uint64_t n, int key_bytes,
                               KeyKind kind, Order order, int value_bytes, int begin_bit,
                               int end_bit, cudaStream_t stream);
cudaError_t encoded_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                               RadixBuffers& buffers, std::uint64_t n, int key_bytes, KeyKind kind,
                               Order order, int value_bytes, int begin_bit, int end_bit,
                               cudaStream_t stream);

}  // namespace sortie
