#include "sortie/apps/spgemm/cuda/fused/sorted_rows.hpp"

#include "sortie/apps/spgemm/cuda/fused/sorted_kernels.cuh"
#include "sortie/apps/spgemm/cuda/launch.cuh"

namespace sortie::spgemm::cuda {
namespace {

/// The rows of a bin.
struct BinRows {
  const std::uint32_t* rows;
  std::uint32_t count;

  BinRows(const RowBins& bins, int bin)
      : rows(bins.rows.data() + bins.begin[bin]), count(bins.size(bin)) {}
};

template <int Lanes, bool WithValues, class Value>
void launch_tiny(const MatrixArrays<Value>& a, const MatrixArrays<Value>& b, const BinRows& bin,
                 const RowsOut<Value>& out, KernelGroup& group) {
  if (bin.count == 0) return;
  group.launch(tiny_rows_kernel<Lanes, WithValues, Value>,
               blocks_for(bin.count, 32 * sorting_warps / Lanes), 32 * sorting_warps, 0, a, b,
               bin.rows, bin.count, out);
}

template <int Items, bool WithValues, class Value>
void launch_short(const MatrixArrays<Value>& a, const MatrixArrays<Value>& b, const BinRows& bin,
                  const RowsOut<Value>& out, KernelGroup& group) {
  if (bin.count == 0) return;
  constexpr std::size_t bytes = sorting_warps * sizeof(SortedRowShared<Value, Items, WithValues>);
  group.launch(short_rows_kernel<Items, WithValues, Value>, blocks_for(bin.count, sorting_warps),
               32 * sorting_warps, bytes, a, b, bin.rows, bin.count, out);
}

/// Calls out_of(bin) for where the rows of each bin go.
template <bool WithValues, class Value, class OutOf>
void launch_all(const ProductOperands<Value>& operands, const RowBins& bins, const OutOf& out_of,
                KernelGroup& group) {
  launch_short<16, WithValues>(operands.a, operands.b, BinRows(bins, 7), out_of(7), group);
  launch_short<8, WithValues>(operands.a, operands.b, BinRows(bins, 6), out_of(6), group);
  launch_short<4, WithValues>(operands.a, operands.b, BinRows(bins, 5), out_of(5), group);
  launch_short<2, WithValues>(operands.a, operands.b, BinRows(bins, 4), out_of(4), group);
  launch_tiny<32, WithValues>(operands.a, operands.b, BinRows(bins, 3), out_of(3), group);
  launch_tiny<16, WithValues>(operands.a, operands.b, BinRows(bins, 2), out_of(2), group);
  launch_tiny<8, WithValues>(operands.a, operands.b, BinRows(bins, 1), out_of(1), group);
}

/// Room for all rows of the sorted bins before this one.
std::int64_t room_before(const RowBins& bins, int bin) {
  std::int64_t room = 0;
  for (int b = 1; b < bin; ++b) room += std::int64_t{bins.size(b)} * RowBins::limits[b];
  return room;
}

}  // namespace

template <class Value>
StagedRows<Value>::StagedRows(const RowBins& bins, cudaStream_t stream) {
  const auto room = static_cast<std::size_t>(room_before(bins, RowBins::sorted));
  columns = DeviceBuffer<std::uint32_t>(room, stream);
  values = DeviceBuffer<Value>(room, stream);
}

template <class Value>
std::int64_t StagedRows<Value>::bytes(const RowBins& bins) {
  return room_before(bins, RowBins::sorted) *
         static_cast<std::int64_t>(sizeof(std::uint32_t) + sizeof(Value));
}

template <class Value>
void count_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, KernelGroup& group) {
  launch_all<false>(
      operands, bins,
      [&](int) {
        return RowsOut<Value>{counts, nullptr, nullptr, nullptr};
      },
      group);
}

template <class Value>
void make_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                      const ProductRows<Value>& c, KernelGroup& group) {
  const RowsOut<Value> out{nullptr, c.row_ptr, c.col_idx, c.values};
  launch_all<true>(
      operands, bins, [&](int) { return out; }, group);
}

template <class Value>
void stage_sorted_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t* counts, StagedRows<Value>& staged, KernelGroup& group) {
  launch_all<true>(
      operands, bins,
      [&](int bin) {
        const std::int64_t before = room_before(bins, bin);
        return RowsOut<Value>{counts, nullptr, staged.columns.data() + before,
                              staged.values.data() + before};
      },
      group);
}

template <class Value>
void copy_sorted_rows(const RowBins& bins, const StagedRows<Value>& staged,
                      const ProductRows<Value>& c, KernelGroup& group) {
  for (int bin = RowBins::sorted - 1; bin > 0; --bin) {
    const BinRows rows(bins, bin);
    if (rows.count == 0) continue;
    const std::int64_t before = room_before(bins, bin);
    const int lanes = bin == 1 ? 8 : bin == 2 ? 16 : 32;
    const auto kernel = bin == 1   ? copy_rows_kernel<8, Value>
                        : bin == 2 ? copy_rows_kernel<16, Value>
                                   : copy_rows_kernel<32, Value>;
    group.launch(kernel, blocks_for(rows.count, 32 * sorting_warps / lanes), 32 * sorting_warps, 0,
                 rows.rows, rows.count, static_cast<std::uint32_t>(RowBins::limits[bin]),
                 staged.columns.data() + before, staged.values.data() + before, c.row_ptr,
                 c.col_idx, c.values);
  }
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
