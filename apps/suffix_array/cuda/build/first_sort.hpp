// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// Sorts (key, position) by key, stable, by bits 0 .. key_bits - 1. The result is in `keys` and
/// `positions`, whichever buffer the sort ended in; the contents of the alternates are undefined.
/// \throws Error (out_of_memory, device)
template <class Key, Position Index>
void sort_by_key(DeviceBuffer<Key>& keys, DeviceBuffer<Key>& keys_alternate,
                 DeviceBuffer<Index>& positions, DeviceBuffer<Index>& positions_alternate,
                 int key_bits, cudaStream_t stream);

/// Bytes of scratch that sort_by_key() allocates.
template <class Key, Position Index>
[[nodiscard]] std::size_t sort_by_key_scratch(std::uint64_t items);

}  // namespace sortie::suffix_array::cuda
