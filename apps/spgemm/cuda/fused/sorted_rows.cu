// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/fused/sorted_rows.hpp"

#include "apps/spgemm/cuda/fused/sorted_kernels.cuh"
#include "primitives/cuda/launch.cuh"

namespace sortie::spgemm::cuda {
namespace {

/// The rows of one bin.
struct BinRows {
  const std::uint32_t* rows;
  std::uint32_t count;

  BinRows(const RowBins& bins, int bin)
      : rows(bins.rows.data() + bins.begin[bin]), count(bins.size(bin)) {}
};

template <bool WithValues, class Value>
void launch_small(const ProductOperands<Value>& operands, const RowBins& bins,
                  const RowsOut<Value>& out, KernelGroup& group) {
  unsigned blocks = 0;
  const auto listed = [&](int bin) {
    const BinRows rows(bins, bin);
    const ListedRows listed{rows.rows, rows.count, blocks};
    blocks += blocks_for(rows.count, 32 * sorting_warps / row_bins[bin].lanes);
    return listed;
  };
  SmallBins small{};
  small.of_32 = listed(3);
  small.of_16 = listed(2);
  small.of_8 = listed(1);
  if (blocks == 0) return;
  group.launch(small_rows_kernel<WithValues, Value>, blocks, 32 * sorting_warps, 0, operands.a,
               operands.b, small, out);
}

template <int Bin, bool WithValues, class Value>
void launch_medium(const ProductOperands<Value>& operands, const RowBins& bins,
                   const RowsOut<Value>& out, KernelGroup& group) {
  constexpr int items = row_bins[Bin].items;
  const BinRows rows(bins, Bin);
  if (rows.count == 0) return;
  constexpr std::size_t bytes = sorting_warps * sizeof(SortedRowShared<Value, items, WithValues>);
  group.launch(medium_rows_kernel<items, WithValues, Value>, blocks_for(rows.count, sorting_warps),
               32 * sorting_warps, bytes, operands.a, operands.b, rows.rows, rows.count, out);
}

template <bool WithValues, class Value>
void launch_all(const ProductOperands<Value>& operands, const RowBins& bins,
                const RowsOut<Value>& out, KernelGroup& group) {
  launch_medium<7, WithValues>(operands, bins, out, group);
  launch_medium<6, WithValues>(operands, bins, out, group);
  launch_medium<5, WithValues>(operands, bins, out, group);
  launch_medium<4, WithValues>(operands, bins, out, group);
  launch_small<WithValues>(operands, bins, out, group);
}

}  // namespace

template <class Value>
StagedRows<Value>::StagedRows(const RowBins& bins, cudaStream_t stream)
    : columns(static_cast<std::size_t>(bins.staged_entries), stream),
      values(static_cast<std::size_t>(bins.staged_entries), stream) {}

template <class Value>
std::int64_t StagedRows<Value>::bytes(const RowBins& bins) {
  return bins.staged_entries * static_cast<std::int64_t>(sizeof(std::uint32_t) + sizeof(Value));
}

template <class Value>
void count_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, KernelGroup& group) {
  launch_all<false>(operands, bins, RowsOut<Value>{counts, nullptr, nullptr, nullptr, nullptr},
                    group);
}

template <class Value>
void make_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                      const ProductRows<Value>& c, KernelGroup& group) {
  launch_all<true>(operands, bins, RowsOut<Value>{nullptr, c.row_ptr, nullptr, c.col_idx, c.values},
                   group);
}

template <class Value>
void stage_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, StagedRows<Value>& staged, KernelGroup& group) {
  launch_all<true>(operands, bins,
                   RowsOut<Value>{counts, nullptr, bins.slots.data(), staged.columns.data(),
                                  staged.values.data()},
                   group);
}

template <class Value>
void copy_sorted_rows(const RowBins& bins, const StagedRows<Value>& staged,
                      const ProductRows<Value>& c, KernelGroup& group) {
  if (bins.staged_entries == 0) return;
  const auto rows = static_cast<std::int64_t>(bins.slots.size());
  group.launch(copy_rows_kernel<Value>, blocks_for(rows, copied_rows * sorting_warps),
               32 * sorting_warps, 0, rows, bins.slots.data(), staged.columns.data(),
               staged.values.data(), c.row_ptr, c.col_idx, c.values);
}

#define SORTIE_INSTANTIATE(Value)                                                               \
  template struct StagedRows<Value>;                                                            \
  template void count_sorted_rows(const ProductOperands<Value>&, const RowBins&, std::int64_t*, \
                                  KernelGroup&);                                                \
  template void make_sorted_rows(const ProductOperands<Value>&, const RowBins&,                 \
                                 const ProductRows<Value>&, KernelGroup&);                      \
  template void stage_sorted_rows(const ProductOperands<Value>&, const RowBins&, std::int64_t*, \
                                  StagedRows<Value>&, KernelGroup&);                            \
  template void copy_sorted_rows(const RowBins&, const StagedRows<Value>&,                      \
                                 const ProductRows<Value>&, KernelGroup&);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)

}  // namespace sortie::spgemm::cuda
