#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>

#include "sortie/apps/spgemm/cuda/device_csr_view.hpp"

namespace sortie::spgemm::cuda {

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

/// Counts the products of every row of A * B, and puts the rows into bins. The host waits for the
/// sizes of the bins, not for the lists.
/// \param products  takes the number of each row, 64-bit, and behind them words of no further use
/// \param counts    of every row; those of empty rows, and the one behind the last, are set to 0
/// \param meanwhile  what the host has to do: called while the device counts
/// \pre rows < 2^32
/// Complexity: O(nnz(A) + rows), however unevenly entries lie in the rows. Extra memory: none
/// beside the result.
template <class Value>
[[nodiscard]] RowBins find_row_bins(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                                    DeviceBuffer<std::uint64_t>& products, std::int64_t* counts,
                                    cudaStream_t stream,
                                    const std::function<void()>& meanwhile = {});

/// The same for neighbouring rows whose products are known; they are numbered from the first of
/// them.
/// \param products  of each of the rows
[[nodiscard]] RowBins find_row_bins(const std::uint64_t* products, std::int64_t rows,
                                    std::int64_t* counts, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
