// SPDX-License-Identifier: Apache-2.0
#include "sortie/galerkin.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/galerkin_backends.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

#ifndef SORTIE_HAVE_CUDA

// Replaces cuda/galerkin.cpp.
namespace sortie::spgemm::cuda {

template <Scalar Value, Index Idx>
Csr<Value, Idx> galerkin(const Context& /*context*/, const Csr<Value, Idx>& /*r*/,
                         const Csr<Value, Idx>& /*a*/, const Csr<Value, Idx>& /*p*/) {
  throw Error(ErrorKind::unavailable, "galerkin on CUDA: " + why_no_cuda());
}

template <Scalar Value, Index Idx>
WorkSpace galerkin_space(const Context& /*context*/, const Csr<Value, Idx>& /*r*/,
                         const Csr<Value, Idx>& /*a*/, const Csr<Value, Idx>& /*p*/) {
  throw Error(ErrorKind::unavailable, "galerkin on CUDA: " + why_no_cuda());
}

}  // namespace sortie::spgemm::cuda

#endif

namespace sortie::spgemm {

namespace {

template <class Matrix>
void check_factors(const Matrix& r, const Matrix& a, const Matrix& p) {
  if (r.cols == a.rows && a.cols == p.rows) return;
  throw Error(ErrorKind::input,
              fmt::format("R * A * P: found R of {} x {}, A of {} x {} and P of {} x {}, expected "
                          "as many columns in R as rows in A, and in A as rows in P",
                          r.rows, r.cols, a.rows, a.cols, p.rows, p.cols));
}

template <class Matrix>
void check_shapes_of_pair(const Matrix& a, const Matrix& p) {
  if (a.rows == p.rows && a.cols == p.rows) return;
  throw Error(ErrorKind::input,
              fmt::format("P^T * A * P: found A of {} x {} and P of {} x {}, expected a square A "
                          "with as many rows as P",
                          a.rows, a.cols, p.rows, p.cols));
}

template <class Matrix>
std::uint64_t bytes_of_transpose(const Matrix& p) {
  return bytes_of(
      {{p.cols + 1, sizeof(std::int64_t)},
       {p.nnz(), sizeof(typename Matrix::value_type) + sizeof(typename Matrix::index_type)}});
}

/// Returns function(context, P^T), where the budget of that context is without P^T.
template <class ContextType, class Matrix, class Function>
auto with_transpose(const ContextType& context, const Matrix& p, const Function& function) {
  ContextType rest = context;
  if (context.memory_budget != 0) {
    const std::uint64_t bytes = bytes_of_transpose(p);
    if (bytes >= context.memory_budget)
      throw out_of_memory_error("the transpose of P", bytes, context.memory_budget);
    rest.memory_budget -= bytes;
  }
  try {
    PhaseTimer timer(context, "transpose");
    Matrix r = matrices::transpose(p);
    timer.stop();
    return function(rest, r);
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("P^T * A * P and the transpose of P, at least,",
                              bytes_of_transpose(p), host_memory_available());
  }
}

}  // namespace

namespace {

/// \param programs  as host::galerkin()
template <Scalar Value, Index Idx>
Csr<Value, Idx> galerkin_with_programs(
    const Context& context, const Csr<Value, Idx>& r, const Csr<Value, Idx>& a,
    const Csr<Value, Idx>& p, std::shared_ptr<const host::RowPrograms<Value, Idx>>* programs) {
  check_factors(r, a, p);
  try {
    Csr<Value, Idx> c = resolve_backend(context) == Backend::cuda
                            ? cuda::galerkin<Value, Idx>(context, r, a, p)
                            : host::galerkin<Value, Idx>(context, r, a, p, programs);
    if (context.report != nullptr) context.report->set("nnz_c", c.nnz());
    return c;
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("R * A * P, at least the offsets of C,",
                              sizeof(std::int64_t) * (static_cast<std::uint64_t>(r.rows) + 1),
                              host_memory_available());
  }
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> galerkin(const Context& context, const Csr<Value, Idx>& r, const Csr<Value, Idx>& a,
                         const Csr<Value, Idx>& p) {
  return galerkin_with_programs<Value, Idx>(context, r, a, p, nullptr);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> galerkin(const Context& context, const Csr<Value, Idx>& a,
                         const Csr<Value, Idx>& p) {
  check_shapes_of_pair(a, p);
  return with_transpose(context, p, [&](const Context& rest, const Csr<Value, Idx>& r) {
    return galerkin(rest, r, a, p);
  });
}

template <Scalar Value, Index Idx>
GalerkinSize galerkin_size(const Context& context, const Csr<Value, Idx>& r,
                           const Csr<Value, Idx>& a, const Csr<Value, Idx>& p) {
  check_factors(r, a, p);
  GalerkinSize size{.rows = r.rows, .cols = p.cols, .space = {}};
  std::vector<std::int64_t> products(static_cast<std::size_t>(a.rows), 0);  // of rows of A * P
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      const std::int64_t l = a.col_idx[i];
      products[row] += p.row_ptr[l + 1] - p.row_ptr[l];
    }
  }
  for (std::int64_t row = 0; row < r.rows; ++row) {
    std::int64_t triples = 0;
    for (std::int64_t i = r.row_ptr[row]; i < r.row_ptr[row + 1]; ++i) {
      const std::int64_t k = r.col_idx[i];
      triples += products[k];
      size.products += a.row_ptr[k + 1] - a.row_ptr[k];
    }
    size.triples += triples;
    size.nnz_c_bound += std::min(triples, p.cols);
  }
  size.bytes_c_bound = bytes_of(
      {{r.rows + 1, sizeof(std::int64_t)}, {size.nnz_c_bound, sizeof(Value) + sizeof(Idx)}});
  size.space = resolve_backend(context) == Backend::cuda
                   ? cuda::galerkin_space<Value, Idx>(context, r, a, p)
                   : host::galerkin_space<Value, Idx>(context, r, a, p);
  return size;
}

template <Scalar Value, Index Idx>
GalerkinSize galerkin_size(const Context& context, const Csr<Value, Idx>& a,
                           const Csr<Value, Idx>& p) {
  check_shapes_of_pair(a, p);
  const std::uint64_t bytes = bytes_of_transpose(p);
  Context rest = context;
  if (context.memory_budget != 0)  // 0 would be no limit
    rest.memory_budget = std::max(bytes + 1, context.memory_budget) - bytes;
  GalerkinSize size = galerkin_size(rest, matrices::transpose(p), a, p);
  size.space.least += bytes;
  size.space.most += bytes;
  if (context.memory_budget != 0) size.space.limit = context.memory_budget;
  return size;
}

// --- Plan ----------------------------------------------------------------------------------------

template <Scalar Value, Index Idx>
GalerkinPlan<Value, Idx>::GalerkinPlan(const HostContext& context, const Matrix& r, const Matrix& a,
                                       const Matrix& p) {
  c_ = galerkin_with_programs<Value, Idx>({context, Backend::host}, r, a, p, &programs_);
  for (const Matrix* matrix : {&r, &a, &p})
    sizes_.insert(sizes_.end(), {matrix->rows, matrix->cols, matrix->nnz()});
}

template <Scalar Value, Index Idx>
GalerkinPlan<Value, Idx>::GalerkinPlan(const HostContext& context, const Matrix& a,
                                       const Matrix& p) {
  check_shapes_of_pair(a, p);
  with_transpose(context, p, [&](const HostContext& rest, Matrix& r) {
    *this = GalerkinPlan(rest, r, a, p);
    transposed_ = std::move(r);
  });
}

template <Scalar Value, Index Idx>
void GalerkinPlan<Value, Idx>::require_same(const Matrix& matrix, const char* name,
                                            std::size_t number) const {
  const std::int64_t* const size = sizes_.data() + 3 * number;
  if (matrix.rows == size[0] && matrix.cols == size[1] && matrix.nnz() == size[2]) return;
  throw Error(ErrorKind::input,
              fmt::format("new values of R * A * P: found {} of {} x {} with {} entries, expected "
                          "that of the plan, {} x {} with {}",
                          name, matrix.rows, matrix.cols, matrix.nnz(), size[0], size[1], size[2]));
}

template <Scalar Value, Index Idx>
void GalerkinPlan<Value, Idx>::multiply(const HostContext& context, const Matrix& r,
                                        const Matrix& a, const Matrix& p) {
  require_same(r, "R", 0);
  require_same(a, "A", 1);
  require_same(p, "P", 2);
  try {
    host::galerkin_values(context, r, a, p, programs_.get(), c_);
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("the work space of new values of R * A * P, at least,",
                              bytes_of({{p.cols, sizeof(Value)}}), host_memory_available());
  }
}

template <Scalar Value, Index Idx>
void GalerkinPlan<Value, Idx>::multiply(const HostContext& context, const Matrix& a,
                                        const Matrix& p) {
  require_same(a, "A", 1);
  require_same(p, "P", 2);
  if (transposed_.nnz() != p.nnz()) transposed_ = matrices::transpose(p);  // a plan of three
  require_same(transposed_, "P^T", 0);
  std::vector<std::int64_t> next(transposed_.row_ptr.begin(), transposed_.row_ptr.end() - 1);
  for (std::int64_t i = 0; i < p.nnz(); ++i) transposed_.values[next[p.col_idx[i]]++] = p.values[i];
  multiply(context, transposed_, a, p);
}

#define INSTANTIATE(Value, Idx)                                                        \
  template Csr<Value, Idx> galerkin(const Context&, const Csr<Value, Idx>&,            \
                                    const Csr<Value, Idx>&, const Csr<Value, Idx>&);   \
  template Csr<Value, Idx> galerkin(const Context&, const Csr<Value, Idx>&,            \
                                    const Csr<Value, Idx>&);                           \
  template GalerkinSize galerkin_size(const Context&, const Csr<Value, Idx>&,          \
                                      const Csr<Value, Idx>&, const Csr<Value, Idx>&); \
  template GalerkinSize galerkin_size(const Context&, const Csr<Value, Idx>&,          \
                                      const Csr<Value, Idx>&);                         \
  template class GalerkinPlan<Value, Idx>;
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm
