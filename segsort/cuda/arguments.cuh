// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/hardware.cuh"
#include "segsort/cuda/bit_range_codec.cuh"
#include "segsort/segment_range.hpp"

namespace sortie::segsort {

/// Prefetches `bytes` bytes cooperatively; the caller is thread `thread` of `threads`.
__device__ __forceinline__ void prefetch_lines(const void* from, std::uint64_t bytes,
                                               unsigned int thread, unsigned int threads) {
  constexpr std::uint64_t line = 128;
  for (std::uint64_t i = thread * line; i < bytes; i += threads * line)
    prefetch_line(static_cast<const char*>(from) + i);
}

/// Offsets of 32 or 64 bits; the branch on their width is uniform over the grid.
struct DeviceOffsets {
  const void* data;
  bool wide;

  __device__ std::uint64_t operator[](std::uint64_t i) const {
    return wide ? static_cast<const std::uint64_t*>(data)[i]
                : static_cast<const std::uint32_t*>(data)[i];
  }
  /// Prefetches up to 512 offsets from `begin` on, of `all`. Called by the whole warp.
  __device__ void prefetch(std::uint64_t begin, std::uint64_t count, std::uint64_t all) const {
    const std::uint64_t in_line = wide ? 16 : 32;
    const std::uint64_t i = begin + threadIdx.x % 32 * in_line;
    if (i < min(begin + count, all))
      prefetch_line(static_cast<const char*>(data) + i * (wide ? 8 : 4));
  }
};

struct SegmentExtent {
  std::uint64_t begin;
  std::uint64_t length;
};

/// Offsets of a segment as passed by the caller. A segment that ends before it begins is empty.
struct SegmentOffsets {
  std::uint64_t begin;
  std::uint64_t end;

  [[nodiscard]] __device__ SegmentExtent extent() const {
    return {begin, end > begin ? end - begin : 0};
  }
};

/// Array that holds the items of a part of a long segment.
enum class Buffer : std::uint32_t { input, output, scratch };

/// Arguments of every kernel: the arrays of the caller, with keys as words of their width.
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
  std::uint64_t num_segments;  ///< of this pass; upper bound if device_num_segments is set
  const std::int64_t* device_num_segments;  ///< of all passes; null: num_segments is exact
  std::uint64_t first_segment;              ///< of this pass
  const SegmentRange* ranges;               ///< key ranges of this pass's segments; null: unknown
  BitRangeCodec<Word> codec;

  /// Segments of this pass.
  [[nodiscard]] __device__ std::uint64_t segments() const {
    if (device_num_segments == nullptr) return num_segments;
    const std::int64_t rest = *device_num_segments - static_cast<std::int64_t>(first_segment);
    return min(static_cast<std::uint64_t>(max(rest, std::int64_t{0})), num_segments);
  }

  [[nodiscard]] __device__ const Word* keys_of(Buffer buffer) const {
    return buffer == Buffer::input ? keys_in : buffer == Buffer::output ? keys_out : keys_scratch;
  }
  [[nodiscard]] __device__ const void* values_of(Buffer buffer) const {
    return buffer == Buffer::input    ? values_in
           : buffer == Buffer::output ? values_out
                                      : values_scratch;
  }
};

template <class Word>
__device__ SegmentExtent extent(const Arguments<Word>& arguments, std::uint64_t segment) {
  return SegmentOffsets{arguments.begin_offsets[segment], arguments.end_offsets[segment]}.extent();
}

}  // namespace sortie::segsort
