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

/// Sorts (key, position) by key, stable, by bits 0 .. key_bits - 1. Memory: an alternate of each
/// buffer besides the scratch.
/// \throws Error (out_of_memory, device)
template <class Key, Position Index>
void sort_by_key(DeviceBuffer<Key>& keys, DeviceBuffer<Index>& positions, int key_bits,
                 cudaStream_t stream) {
  DeviceBuffer<Key> other_keys(keys.size(), stream);
  DeviceBuffer<Index> other_positions(keys.size(), stream);
  RadixBuffers buffers{keys.data(), other_keys.data(), positions.data(), other_positions.data()};
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return device_radix_sort(scratch, bytes, buffers, keys.size(), sizeof(Key), sizeof(Index), 0,
                             key_bits, stream);
  });
  if (buffers.keys == keys.data()) return;
  keys = std::move(other_keys);
  positions = std::move(other_positions);
}

}  // namespace sortie::suffix_array::cuda
