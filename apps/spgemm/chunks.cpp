// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <new>

#include "apps/spgemm/backends.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "sortie/spgemm_chunks.hpp"

namespace sortie::spgemm {

bool makes_chunks(Algorithm algorithm) {
  return algorithm == Algorithm::automatic || algorithm == Algorithm::essc ||
         algorithm == Algorithm::fused || algorithm == Algorithm::row_wise;
}

namespace {

template <class Value, class Idx>
void make_chunks(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                 const ProductSink<Value, Idx>& sink, Algorithm algorithm, Backend backend) {
  if (backend == Backend::cuda && makes_chunks(algorithm))
    return cuda::multiply_in_chunks(context, a, b, sink, algorithm);
  switch (algorithm) {
    case Algorithm::automatic:
    case Algorithm::row_wise:
      return host::multiply_row_wise_in_chunks(context, a, b, sink);
    case Algorithm::essc:
      return host::multiply_essc_in_chunks(context, a, b, sink);
    default:
      Csr<Value, Idx> c = multiply(context, a, b, algorithm);
      if (c.rows != 0) sink(c);
  }
}

}  // namespace

template <matrices::Scalar Value, matrices::Index Idx>
void multiply_in_chunks(const Context& context, const matrices::Csr<Value, Idx>& a,
                        const matrices::Csr<Value, Idx>& b,
                        const std::type_identity_t<ProductSink<Value, Idx>>& sink,
                        Algorithm algorithm) {
  if (a.cols != b.rows) throw shapes_error(a.rows, a.cols, b.rows, b.cols);
  const Backend backend = choose_backend(context, algorithm);
  std::int64_t nnz = 0;
  const ProductSink<Value, Idx> counting = [&](Csr<Value, Idx>& rows) {
    nnz += rows.nnz();
    sink(rows);
  };
  try {
    if (a.nnz() == 0 || b.nnz() == 0) {  // C has no entries and is one chunk
      if (a.rows != 0) {
        Csr<Value, Idx> rows;
        rows.rows = a.rows;
        rows.cols = b.cols;
        rows.row_ptr.assign(static_cast<std::size_t>(a.rows) + 1, 0);
        counting(rows);
      }
    } else {
      make_chunks(context, a, b, counting, algorithm, backend);
    }
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("a chunk of A * B, at most,",
                              count_products(a, b) * (sizeof(Value) + sizeof(Idx)),
                              host_memory_available());
  }
  if (context.report != nullptr) {
    context.report->set("products", count_products(a, b));
    context.report->set("nnz_c", nnz);
  }
}

#define INSTANTIATE(Value, Idx)                                                                    \
  template void multiply_in_chunks(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, \
                                   const std::type_identity_t<ProductSink<Value, Idx>>&,           \
                                   Algorithm);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm
