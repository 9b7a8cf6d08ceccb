#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "sortie/apps/spgemm/cuda/device_csr_view.hpp"

namespace sortie::spgemm::cuda {

/// Counts the products of every row of A * B, 64-bit numbers on the device. Complexity
/// O(nnz(A) + rows), however unevenly entries lie in the rows.
template <class Value>
[[nodiscard]] DeviceBuffer<std::uint64_t> count_row_products(const DeviceCsrView<Value>& a,
                                                             const DeviceCsrView<Value>& b,
                                                             cudaStream_t stream);

/// Rows of C = A * B by number of products. Rows of the first bins are sorted, each by a warp or a
/// part of one; those of the others are made in windows of columns.
struct RowBins {
  static constexpr int sorted = 8;  ///< bins of rows that are sorted, that of empty ones included
  static constexpr int count = 12;
  /// Most products of a row in each bin.
  static constexpr std::array<std::int64_t, count> limits{
      0, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 32768, std::numeric_limits<std::int64_t>::max()};

  /// The rows of bin 1, then those of bin 2, and so on; those of bin 0 are not listed.
  DeviceBuffer<std::uint32_t> rows;
  std::array<std::uint32_t, count + 1> begin{};  ///< of each bin in `rows`
  std::int64_t products = 0;
  std::int64_t window_products = 0;  ///< of rows that are made in windows
  /// Of every row: where it is made, if it is one that is sorted, before C is there; else no_place.
  DeviceBuffer<std::uint32_t> places;
  std::int64_t room = 0;  ///< entries that all places are for

  [[nodiscard]] std::uint32_t size(int bin) const { return begin[bin + 1] - begin[bin]; }
  /// Rows that are made in windows of columns.
  [[nodiscard]] std::uint32_t window_rows() const { return begin[count] - begin[sorted]; }
};

/// Puts rows into bins; they are numbered from the first of them. Synchronises the stream.
/// \param products  of each of the rows
/// \pre rows < 2^32
[[nodiscard]] RowBins find_row_bins(const std::uint64_t* products, std::int64_t rows,
                                    cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
