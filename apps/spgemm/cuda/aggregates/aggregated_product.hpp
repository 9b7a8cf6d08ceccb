// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cuda/device_context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_csr.hpp"

/// C = R * A * P for a P with at most one entry in a row: unsmoothed aggregation. Each entry of A
/// adds to one entry of a row of C, whose column P gives, so that R * A is not computed.
namespace sortie::spgemm::cuda {

/// Rows of R * A with more products are left to two products: their columns may not fit the shared
/// memory of a block.
inline constexpr std::uint64_t most_aggregated_products = 4096;

/// The rows of a P with at most one entry in each.
template <class Value>
struct AggregateRows {
  static constexpr std::uint32_t none = 0xffffffffu;

  std::int64_t cols = 0;
  DeviceBuffer<std::uint32_t> columns;  ///< none: a row without entry
  DeviceBuffer<Value> values;

  [[nodiscard]] std::uint64_t bytes() const { return columns.bytes() + values.bytes(); }
};

/// What decides whether aggregated_product() can compute R * A * P.
struct AggregationSize {
  std::uint64_t longest_row = 0;  ///< of P
  std::uint64_t products = 0;     ///< of R * A
  std::uint64_t longest_row_products = 0;

  [[nodiscard]] bool fits() const {
    return longest_row <= 1 && longest_row_products <= most_aggregated_products;
  }
};

/// Bytes of AggregateRows. \param rows  of P
template <class Value>
[[nodiscard]] constexpr std::uint64_t aggregate_bytes(std::int64_t rows) {
  return static_cast<std::uint64_t>(rows) * (sizeof(std::uint32_t) + sizeof(Value));
}

/// Work space of aggregated_product() per row of R.
inline constexpr std::uint64_t aggregated_bytes_per_row =
    sizeof(std::int64_t) + 2 * sizeof(std::uint32_t);

/// Whether the current device has the shared memory for aggregated_product().
template <class Value>
[[nodiscard]] bool has_memory_for_aggregates();

/// Reads P by rows, and the size of the product; the host waits for the size.
/// \param r, a  may have null row_ptr: no products are counted
/// \throws Error (out_of_memory, device)
template <class Value>
[[nodiscard]] AggregationSize read_aggregates(const DeviceCsrView<Value>& r,
                                              const DeviceCsrView<Value>& a,
                                              const DeviceCsrView<Value>& p,
                                              AggregateRows<Value>& aggregates,
                                              cudaStream_t stream);

/// C = R * A * P. A warp computes a row of C and has up to 16 sums for each entry, to which different
/// lanes add products,
///
///     C_ij = sum over s of (sum over the products of sum s of ((R_ik A_kl) P_lj)),
///
/// where sums, products and their order depend on the structure of R, A and P and the mean length of
/// the rows of A only. Rows are computed once, to a staging buffer; if that is too small, a second
/// time when their number of entries is known. The host waits for the number.
/// \param size    of this product; size.fits()
/// \param budget  bytes of work space and C; 0: no limit
/// \throws Error (out_of_memory, device)
/// Memory beside C: aggregated_bytes_per_row; staging of at most twice sizeof(Value) + 4 bytes for
/// each product divided by the mean number of entries in a row of R, if the memory is there.
template <class Value>
[[nodiscard]] DeviceCsr<Value> aggregated_product(
    const DeviceContext& context, const DeviceCsrView<Value>& r, const DeviceCsrView<Value>& a,
    const AggregateRows<Value>& aggregates, const AggregationSize& size, std::uint64_t budget);

}  // namespace sortie::spgemm::cuda
