// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <functional>

#include "apps/spgemm/cuda/fused/policy.hpp"
#include "sortie/device_csr.hpp"

namespace sortie::spgemm::cuda {

/// Consecutive rows of A, and all of B.
template <class Value>
struct ProductOperands {
  DeviceCsrView<Value> a;  ///< row_ptr from the first of the rows on
  DeviceCsrView<Value> b;
};

/// Destination of the corresponding rows of C; row_ptr is already computed.
template <class Value>
struct ProductRows {
  const std::int64_t* row_ptr;
  std::uint32_t* col_idx;
  Value* values;
};

/// Rows of C = A * B by number of products, in the bins of policy.hpp.
struct RowBins {
  static constexpr int count = static_cast<int>(row_bins.size());

  /// The rows of bin 1, then those of bin 2, and so on. Rows of bin 0 are not listed.
  DeviceBuffer<std::uint32_t> rows;
  std::array<std::uint32_t, count + 1> begin{};  ///< first element of each bin in `rows`
  std::int64_t products = 0;
  std::int64_t large_row_products = 0;  ///< of large rows
  /// First staging slot of every small and medium row; no_slot for other rows.
  DeviceBuffer<std::uint32_t> slots;
  std::int64_t staged_entries = 0;  ///< entries of all staging slots

  [[nodiscard]] std::uint32_t size(int bin) const { return begin[bin + 1] - begin[bin]; }
  /// The rows of a bin and, behind them, those of the next bins.
  [[nodiscard]] const std::uint32_t* list(int bin) const { return rows.data() + begin[bin]; }
  /// Number of large rows.
  [[nodiscard]] std::uint32_t large_rows() const { return begin[count] - begin[first_large_bin]; }
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
