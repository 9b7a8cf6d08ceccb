// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/fused/counted_rows.hpp"

#include <complex>

#include "apps/spgemm/cuda/fused/kernel_group.hpp"
#include "apps/spgemm/cuda/index_arrays.hpp"
#include "core/cuda/pinned_mailbox.hpp"

namespace sortie::spgemm::cuda {
template <class Value>
CountedRows count_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t rows, std::int64_t bitmap_words, std::int64_t* row_ptr,
                       StagedRows<Value>* staged, cudaStream_t stream) {
  CountedRows counted;
  counted.large = plan_large_rows(operands, bins, bitmap_words, stream);
  KernelGroup count(stream);
  count_large_rows(operands, bins, counted.large, row_ptr, count);
  if (staged != nullptr) {
    stage_sorted_rows(operands, bins, row_ptr, *staged, count);
  } else {
    count_sorted_rows(operands, bins, row_ptr, count);
  }
  list_panel_tasks(bins, counted.large, row_ptr, stream);
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
               const CountedRows& counted, const StagedRows<Value>* staged,
               const ProductRows<Value>& c, cudaStream_t stream) {
  KernelGroup make(stream);
  make_large_rows(operands, bins, counted.large, counted.found, c, make);
  if (staged != nullptr) {
    copy_sorted_rows(bins, *staged, c, make);
  } else {
    make_sorted_rows(operands, bins, c, make);
  }
}

#define SORTIE_INSTANTIATE(Value)                                                                 \
  template CountedRows count_rows(const ProductOperands<Value>&, const RowBins&, std::int64_t,    \
                                  std::int64_t, std::int64_t*, StagedRows<Value>*, cudaStream_t); \
  template void make_rows(const ProductOperands<Value>&, const RowBins&, const CountedRows&,      \
                          const StagedRows<Value>*, const ProductRows<Value>&, cudaStream_t);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
