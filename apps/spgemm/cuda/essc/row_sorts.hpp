// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "apps/spgemm/cuda/essc/expansion.hpp"
#include "apps/spgemm/cuda/essc/row_chunks.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_segmented_sort.hpp"

/// The sort of a ChunkedProduct: of each row by itself, or of all products at once.
namespace sortie::spgemm::cuda {

/// Segments are rows, keys are columns.
template <class Column>
struct SegmentedRowSort {
  using Key = Column;

  static KeyLayout layout(std::int64_t /*cols*/) { return {}; }
  static std::int64_t max_rows(KeyLayout /*layout*/) {
    return std::numeric_limits<std::int64_t>::max();
  }

  template <class Payload>
  static void sort(DoubleBuffer<Key>& keys, DoubleBuffer<Payload>& payloads, const RowChunk& chunk,
                   const std::uint32_t* row_offsets, KeyLayout /*layout*/, cudaStream_t stream) {
    // An unstable sort suffices: it is deterministic, so the order of equal columns, and with it
    // the order of summation, is reproducible.
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPairs(scratch, bytes, keys, payloads, chunk.products,
                                            chunk.rows, row_offsets, row_offsets + 1, stream);
    });
  }
};

/// Number of bits of the numbers 0 .. count - 1.
[[nodiscard]] inline int bits_of_numbers_below(std::int64_t count) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count - 1, 0)));
}

/// Sorts all products of a chunk at once by (row, column), packed in 64 bits.
struct GlobalSort {
  using Key = std::uint64_t;

  static KeyLayout layout(std::int64_t cols) { return {std::max(bits_of_numbers_below(cols), 1)}; }
  /// Rows are numbered with the bits that the column leaves, at most 32.
  static std::int64_t max_rows(KeyLayout layout) {
    return std::int64_t{1} << std::min(64 - layout.column_bits, 32);
  }

  template <class Payload>
  static void sort(DoubleBuffer<Key>& keys, DoubleBuffer<Payload>& payloads, const RowChunk& chunk,
                   const std::uint32_t* /*row_offsets*/, KeyLayout layout, cudaStream_t stream) {
    // Only the bits in use are sorted.
    const int end_bit = layout.column_bits + bits_of_numbers_below(chunk.rows);
    RadixBuffers buffers{keys.Current(), keys.Alternate(), payloads.Current(),
                         payloads.Alternate()};
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return device_radix_sort(scratch, bytes, buffers, static_cast<std::uint64_t>(chunk.products),
                               sizeof(Key), sizeof(Payload), 0, end_bit, stream);
    });
    if (buffers.keys == keys.Current()) return;
    keys.selector ^= 1;
    payloads.selector ^= 1;
  }
};

}  // namespace sortie::spgemm::cuda
