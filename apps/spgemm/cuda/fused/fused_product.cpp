// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/fused/fused_product.hpp"

#include <fmt/format.h>

#include <complex>
#include <limits>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "core/cuda/pinned_memory.hpp"

namespace sortie::spgemm::cuda {

template <class Value>
bool fits_fused_product(std::int64_t rows, std::int64_t columns) {
  return columns <= max_fused_columns && rows <= std::numeric_limits<std::uint32_t>::max() &&
         large_rows_fit<Value>(columns);
}

Error too_large_for_fused_product(std::int64_t rows, std::int64_t columns) {
  return {
      ErrorKind::unavailable,
      fmt::format("SpGEMM on CUDA: found a product of {} x {}, expected for the algorithm fused "
                  "at most 2^32 - 1 rows, 2^23 columns, and a GPU with as much shared memory as "
                  "they take",
                  rows, columns)};
}

template <class Value>
CountedRows<Value> count_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                              std::int64_t bitmap_words, std::int64_t* row_ptr, bool stage,
                              cudaStream_t stream) {
  CountedRows<Value> counted;
  RowsOut<Value> out{.counts = row_ptr};
  if (stage) {
    counted.staged = DeviceEntries<Value, std::uint32_t>{
        DeviceBuffer<std::uint32_t>(bins.staged_entries, stream),
        DeviceBuffer<Value>(bins.staged_entries, stream)};
    out.slots = bins.slots.data();
    out.col_idx = counted.staged->col_idx.data();
    out.values = counted.staged->values.data();
  }
  counted.large = plan_large_rows(operands, bins, bitmap_words, stream);
  KernelGroup count(stream);
  count_large_rows(operands, bins, counted.large, row_ptr, count);
  if (stage) {
    compute_sorted_rows<true>(operands, bins, out, count);
  } else {
    compute_sorted_rows<false>(operands, bins, out, count);
  }
  list_panel_tasks(counted.large, row_ptr, stream);
  const std::int64_t rows = operands.a.rows;
  exclusive_sum(row_ptr, rows + 1, stream);
  PinnedMailbox<LargeRowCounters> mailbox(stream);
  publish_counters(counted.large, row_ptr + rows, mailbox.on_device(), stream);
  mailbox.mark();
  counted.found = mailbox.wait();
  counted.entries = counted.found.entries;
  return counted;
}

template <class Value>
void make_rows(const ProductOperands<Value>& operands, const RowBins& bins,
               const CountedRows<Value>& counted, const ProductRows<Value>& c,
               cudaStream_t stream) {
  KernelGroup make(stream);
  make_large_rows(operands, counted.large, counted.found, c, make);
  if (counted.staged) {
    copy_sorted_rows(bins, counted.staged->col_idx, counted.staged->values, c, make);
  } else {
    const RowsOut<Value> out{.row_ptr = c.row_ptr, .col_idx = c.col_idx, .values = c.values};
    compute_sorted_rows<true>(operands, bins, out, make);
  }
}

#define SORTIE_INSTANTIATE(Value)                                                          \
  template bool fits_fused_product<Value>(std::int64_t, std::int64_t);                     \
  template CountedRows<Value> count_rows(const ProductOperands<Value>&, const RowBins&,    \
                                         std::int64_t, std::int64_t*, bool, cudaStream_t); \
  template void make_rows(const ProductOperands<Value>&, const RowBins&,                   \
                          const CountedRows<Value>&, const ProductRows<Value>&, cudaStream_t);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
