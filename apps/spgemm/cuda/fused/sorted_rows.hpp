// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "apps/spgemm/cuda/fused/operands.hpp"
#include "apps/spgemm/cuda/fused/row_bins.hpp"

namespace sortie::spgemm::cuda {

/// Staging buffers for small and medium rows that are computed before row_ptr of C is known. Each
/// row has one entry per product, rounded up to whole slots (policy.hpp).
template <class Value>
struct StagedRows {
  DeviceBuffer<std::uint32_t> columns;
  DeviceBuffer<Value> values;

  StagedRows() = default;
  /// \throws Error (out_of_memory, device)
  StagedRows(const RowBins& bins, cudaStream_t stream);
  /// Bytes of the buffers.
  [[nodiscard]] static std::int64_t bytes(const RowBins& bins);
};

/// Computes the small and medium rows into `staged`, and their numbers of entries to
/// counts[row].
template <class Value>
void stage_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, StagedRows<Value>& staged, KernelGroup& group);

/// Copies staged rows to C, from c.row_ptr[row] on.
template <class Value>
void copy_sorted_rows(const RowBins& bins, const StagedRows<Value>& staged,
                      const ProductRows<Value>& c, KernelGroup& group);

/// Without staging: counts the entries of C in small and medium rows and writes counts[row].
template <class Value>
void count_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, KernelGroup& group);

/// Without staging: computes small and medium rows and writes them from c.row_ptr[row] on.
template <class Value>
void make_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                      const ProductRows<Value>& c, KernelGroup& group);

}  // namespace sortie::spgemm::cuda
