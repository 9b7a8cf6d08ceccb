#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/fused/kernel_group.hpp"
#include "sortie/apps/spgemm/cuda/fused/operands.hpp"
#include "sortie/apps/spgemm/cuda/fused/row_bins.hpp"

namespace sortie::spgemm::cuda {

/// Room for the rows of the sorted bins where they are made before C is there: for as many entries
/// as each has products, up to the next place.
template <class Value>
struct StagedRows {
  DeviceBuffer<std::uint32_t> columns;
  DeviceBuffer<Value> values;

  StagedRows() = default;
  /// \throws Error (out_of_memory, device)
  StagedRows(const RowBins& bins, cudaStream_t stream);
  /// What the room takes.
  [[nodiscard]] static std::int64_t bytes(const RowBins& bins);
};

/// Makes the rows of the sorted bins in `staged`, and counts their entries: counts[row].
template <class Value>
void stage_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, StagedRows<Value>& staged, KernelGroup& group);

/// Copies them to C, from c.row_ptr[row] on.
template <class Value>
void copy_sorted_rows(const RowBins& bins, const StagedRows<Value>& staged,
                      const ProductRows<Value>& c, KernelGroup& group);

/// Without such room: counts the entries of C in the rows of the sorted bins, counts[row] ...
template <class Value>
void count_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, KernelGroup& group);

/// ... and makes them, from c.row_ptr[row] on.
template <class Value>
void make_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                      const ProductRows<Value>& c, KernelGroup& group);

}  // namespace sortie::spgemm::cuda
