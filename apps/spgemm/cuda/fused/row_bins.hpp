// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>

#include "sortie/device_csr.hpp"

namespace sortie::spgemm::cuda {

/// Rows of C = A * B by number of products. Small rows (up to 32 products) and medium rows (up to
/// 512) are sorted by a part of a warp or by a warp; large rows use bitmaps and column panels.
struct RowBins {
  static constexpr int first_large =
      8;  ///< bins 1 .. 7: small and medium rows; from 8 on: large rows
  static constexpr int count = 12;
  /// Largest number of products of a row in each bin.
  static constexpr std::array<std::int64_t, count> limits{
      0, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 32768, std::numeric_limits<std::int64_t>::max()};

  /// The rows of bin 1, then those of bin 2, and so on. Rows of bin 0 are not listed.
  DeviceBuffer<std::uint32_t> rows;
  std::array<std::uint32_t, count + 1> begin{};  ///< first element of each bin in `rows`
  std::int64_t products = 0;
  std::int64_t large_row_products = 0;  ///< of large rows
  /// First staging slot of every small and medium row; no_slot for other rows.
  DeviceBuffer<std::uint32_t> slots;
  std::int64_t staged_entries = 0;  ///< entries of all staging slots

  [[nodiscard]] std::uint32_t size(int bin) const { return begin[bin + 1] - begin[bin]; }
  /// Number of large rows.
  [[nodiscard]] std::uint32_t large_rows() const { return begin[count] - begin[first_large]; }
};

/// Counts the products of every row of A * B and sorts the rows into bins. The host waits for the
/// sizes of the bins, not for the lists.
/// \param products   receives the number of products of each row; the elements behind the rows are
///                   scratch
/// \param counts     rows + 1; the elements of empty rows and the last element are set to 0
/// \param meanwhile  called on the host while the device counts
/// \pre rows < 2^32
/// Complexity: O(nnz(A) + rows) for any distribution of the entries over the rows. Extra memory:
/// only the result.
template <class Value>
[[nodiscard]] RowBins find_row_bins(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                                    DeviceBuffer<std::uint64_t>& products, std::int64_t* counts,
                                    cudaStream_t stream,
                                    const std::function<void()>& meanwhile = {});

/// The same for consecutive rows with known numbers of products. Rows are numbered from the first
/// of them.
/// \param products  of each of the rows
[[nodiscard]] RowBins find_row_bins(const std::uint64_t* products, std::int64_t rows,
                                    std::int64_t* counts, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
