#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/key_codec.cuh"

namespace sortie::segsort {

/// Offsets of 32 or 64 bits behind one type; the branch is uniform over the grid.
struct DeviceOffsets {
  const void* data;
  bool wide;

  __device__ std::uint64_t operator[](std::uint64_t i) const {
    return wide ? static_cast<const std::uint64_t*>(data)[i]
                : static_cast<const std::uint32_t*>(data)[i];
  }
};

/// Copies one value of 4 or 8 bytes (0: nothing) between arrays of the caller.
__device__ inline void copy_value(void* to, std::uint64_t to_index, const void* from,
                                  std::uint64_t from_index, int value_bytes) {
  if (value_bytes == 4) {
    static_cast<std::uint32_t*>(to)[to_index] = static_cast<const std::uint32_t*>(from)[from_index];
  } else if (value_bytes == 8) {
    static_cast<std::uint64_t*>(to)[to_index] = static_cast<const std::uint64_t*>(from)[from_index];
  }
}

/// What every kernel gets: the caller's arrays, keys as words of their width.
template <class Word>
struct Arguments {
  const Word* keys_in;
  Word* keys_out;
  Word* keys_scratch;
  const void* values_in;
  void* values_out;
  void* values_scratch;
  int value_bytes;
  DeviceOffsets begin_offsets;
  DeviceOffsets end_offsets;
  std::uint64_t num_segments;
  KeyCodec<Word> codec;
};

}  // namespace sortie::segsort
