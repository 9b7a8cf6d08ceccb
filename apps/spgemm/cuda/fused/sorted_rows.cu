// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/fused/sorted_rows.cuh"

#include <complex>

namespace sortie::spgemm::cuda {

template <class Value>
StagedRows<Value>::StagedRows(const RowBins& bins, cudaStream_t stream)
    : columns(static_cast<std::size_t>(bins.staged_entries), stream),
      values(static_cast<std::size_t>(bins.staged_entries), stream) {}

template <class Value>
std::int64_t StagedRows<Value>::bytes(const RowBins& bins) {
  return bins.staged_entries * static_cast<std::int64_t>(sizeof(std::uint32_t) + sizeof(Value));
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
