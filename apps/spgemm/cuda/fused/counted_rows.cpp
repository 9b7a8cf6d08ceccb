#include "sortie/apps/spgemm/cuda/fused/counted_rows.hpp"

#include <complex>

#include "sortie/apps/spgemm/cuda/fused/kernel_group.hpp"
#include "sortie/apps/spgemm/cuda/scan.hpp"
#include "sortie/core/cuda/posted_result.hpp"

namespace sortie::spgemm::cuda {
template <class Value>
CountedRows count_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       std::int64_t rows, std::int64_t image_words, std::int64_t* row_ptr,
                       StagedRows<Value>* staged, cudaStream_t stream) {
  CountedRows counted;
  counted.windows = find_window_rows(operands, bins, image_words, stream);
  KernelGroup count(stream);
  count_window_rows(operands, bins, counted.windows, row_ptr, count);
  if (staged != nullptr) {
    stage_sorted_rows(operands, bins, row_ptr, *staged, count);
  } else {
    count_sorted_rows(operands, bins, row_ptr, count);
  }
  list_window_tasks(bins, counted.windows, row_ptr, stream);
  exclusive_sum(row_ptr, rows + 1, stream);
  PostedResult<WindowCounters> posted(stream);
  post_counters(counted.windows, row_ptr + rows, posted.on_device(), stream);
  posted.mark();
  counted.found = posted.wait();
  counted.entries = counted.found.entries;
  return counted;
}

template <class Value>
void make_rows(const ProductOperands<Value>& operands, const RowBins& bins,
               const CountedRows& counted, const StagedRows<Value>* staged,
               const ProductRows<Value>& c, cudaStream_t stream) {
  KernelGroup make(stream);
  make_window_rows(operands, bins, counted.windows, counted.found, c, make);
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

}  // namespace sortie::spgemm::cuda
