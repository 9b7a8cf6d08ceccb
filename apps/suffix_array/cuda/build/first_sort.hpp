// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// Most bytes of scratch that sort_by_key() allocates.
template <class Key, Position Index>
[[nodiscard]] std::size_t sort_by_key_scratch(std::uint64_t items) {
  RadixBuffers none;
  std::size_t bytes = 0;
  check_cuda(device_radix_sort(nullptr, bytes, none, items, sizeof(Key), sizeof(Index), 0,
                               8 * sizeof(Key), nullptr));
  return bytes;
}

/// Sorts (key, position) by key, stable, by bits 0 .. key_bits - 1. The result is in `keys` and
/// `positions`, whichever buffer the sort ended in; the contents of the alternates are undefined.
/// \throws Error (out_of_memory, device)
template <class Key, Position Index>
void sort_by_key(DeviceBuffer<Key>& keys, DeviceBuffer<Key>& keys_alternate,
                 DeviceBuffer<Index>& positions, DeviceBuffer<Index>& positions_alternate,
                 int key_bits, cudaStream_t stream) {
  RadixBuffers buffers{keys.data(), keys_alternate.data(), positions.data(),
                       positions_alternate.data()};
  std::size_t bytes = sort_by_key_scratch<Key, Index>(keys.size());
  DeviceBuffer<std::byte> scratch(bytes, stream);
  check_cuda(device_radix_sort(scratch.data(), bytes, buffers, keys.size(), sizeof(Key),
                               sizeof(Index), 0, key_bits, stream));
  if (buffers.keys == keys.data()) return;
  std::swap(keys, keys_alternate);
  std::swap(positions, positions_alternate);
}

}  // namespace sortie::suffix_array::cuda
