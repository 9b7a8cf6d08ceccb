// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "apps/spgemm/cuda/fused/row_bins.hpp"

namespace sortie::spgemm::cuda {

/// Destination of small and medium rows: counts only, or columns and values in C, or in staging
/// slots (policy.hpp) if row_ptr of C is not known yet.
template <class Value>
struct RowsOut {
  std::int64_t* counts = nullptr;         ///< entries of each row of C, or null
  const std::int64_t* row_ptr = nullptr;  ///< of C, or null
  const std::uint32_t* slots = nullptr;   ///< first staging slot of each row, if row_ptr is null
  std::uint32_t* col_idx = nullptr;
  Value* values = nullptr;

  [[nodiscard]] constexpr std::int64_t first_entry(std::uint32_t row) const {
    return row_ptr != nullptr ? row_ptr[row] : std::int64_t{slots[row]} * entries_per_slot;
  }
};

/// Computes the small and medium rows.
/// \tparam WithValues  compute columns and values; otherwise only count the entries
template <bool WithValues, class Value>
void compute_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                         const RowsOut<Value>& out, KernelGroup& group);

/// Copies staged rows to C, from c.row_ptr[row] on.
/// \param columns, values  one entry per product of a row, rounded up to whole slots (policy.hpp)
template <class Value>
void copy_sorted_rows(const RowBins& bins, const DeviceBuffer<std::uint32_t>& columns,
                      const DeviceBuffer<Value>& values, const ProductRows<Value>& c,
                      KernelGroup& group);

}  // namespace sortie::spgemm::cuda
