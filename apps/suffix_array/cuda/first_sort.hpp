#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// Sorts (word, position) by word, stable, by bits 0 .. word_bits - 1. The result is in `words` and
/// `positions`, whatever buffer it ended in; the alternates hold nothing of use.
/// \throws Error (out_of_memory, device)
template <Position Index>
void sort_by_word(DeviceBuffer<std::uint64_t>& words, DeviceBuffer<std::uint64_t>& words_alternate,
                  DeviceBuffer<Index>& positions, DeviceBuffer<Index>& positions_alternate,
                  int word_bits, cudaStream_t stream);

/// Bytes of scratch that sort_by_word allocates.
template <Position Index>
[[nodiscard]] std::size_t sort_by_word_scratch(std::uint64_t items);

}  // namespace sortie::suffix_array::cuda
