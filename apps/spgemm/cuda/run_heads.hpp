#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/payload.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::spgemm::cuda {

/// Sorted products of one entry of C are a run; its first product is its head.
struct RunHeads {
  /// Products of a stretch, for which heads are counted.
  static constexpr int stretch = 256;

  std::int64_t products = 0;
  std::int64_t runs = 0;
  DeviceBuffer<std::uint32_t> bits;   ///< bit p % 32 of word p / 32: product p is a head
  DeviceBuffer<std::int64_t> before;  ///< heads before each stretch, and in all at the end
};

/// Finds the heads of the runs of equal (row, column) in sorted products. Synchronises the stream.
///
/// \param keys         `products` keys, sorted within rows; aligned to 16 bytes
/// \param row_offsets  first product of each row; rows + 1 offsets
/// Complexity: O(products + rows). Extra memory, kept: 5 bytes for each 32 products.
template <class Key>
[[nodiscard]] RunHeads find_run_heads(const Key* keys, std::int64_t products,
                                      const std::uint32_t* row_offsets, std::int64_t rows,
                                      KeyLayout layout, cudaStream_t stream);

/// Writes the offsets of C behind each of `rows` rows: row_ends[i] = first + runs before the end of
/// row i. Complexity O(rows).
void write_row_ends(const RunHeads& heads, const std::uint32_t* row_offsets, std::int64_t rows,
                    std::int64_t first, std::int64_t* row_ends, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
