// SPDX-License-Identifier: Apache-2.0
#include "sortie/spgemm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "core/host_memory.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

#ifndef SORTIE_HAVE_CUDA

// Replaces the cuda/ folder.
namespace sortie::spgemm::cuda {

template <Scalar Value, Index Idx>
BackendFunctions<Value, Idx> functions() {
  throw Error(ErrorKind::unavailable, "SpGEMM on CUDA: " + why_no_cuda());
}

SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_SPGEMM_INSTANTIATE_BACKEND)

}  // namespace sortie::spgemm::cuda

#endif

namespace sortie::spgemm {

void check_shapes(std::int64_t rows_a, std::int64_t cols_a, std::int64_t rows_b,
                  std::int64_t cols_b) {
  if (cols_a == rows_b) return;
  throw Error(
      ErrorKind::input,
      fmt::format("A * B: found A of {} x {} and B of {} x {}, expected as many columns in A as "
                  "rows in B",
                  rows_a, cols_a, rows_b, cols_b));
}

std::string named_products(std::int64_t row, std::int64_t products) {
  return fmt::format("the {} products of row {} of C", products, row + 1);
}

namespace {

template <class Value, class Idx>
BackendFunctions<Value, Idx> functions_of(Backend backend) {
  return backend == Backend::cuda ? cuda::functions<Value, Idx>() : host::functions<Value, Idx>();
}

/// \tparam Matrix  Csr or Pattern
template <class Matrix>
std::int64_t products_of(const Matrix& a, const Matrix& b) {
  check_shapes(a, b);
  std::int64_t products = 0;
  for (const std::int64_t k : a.col_idx) products += b.row_ptr[k + 1] - b.row_ptr[k];
  return products;
}

/// Bytes of the entries of C at most: one per scalar product.
template <class Value, class Idx>
std::uint64_t max_entry_bytes(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  return static_cast<std::uint64_t>(count_products(a, b)) * (sizeof(Value) + sizeof(Idx));
}

template <class Matrix>
void report_figures(const Context& context, const Matrix& a, const Matrix& b, std::int64_t nnz_c) {
  if (context.report == nullptr) return;
  context.report->set("products", products_of(a, b));
  context.report->set("nnz_c", nnz_c);
}

template <class Value, class Idx>
std::uint64_t csr_bytes(std::int64_t rows, std::int64_t nnz) {
  return sizeof(std::int64_t) * (static_cast<std::uint64_t>(rows) + 1) +
         (sizeof(Idx) + sizeof(Value)) * static_cast<std::uint64_t>(nnz);
}

}  // namespace

template <Scalar Value, Index Idx>
std::int64_t count_products(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  return products_of(a, b);
}

template <Index Idx>
std::int64_t count_products(const Pattern<Idx>& a, const Pattern<Idx>& b) {
  return products_of(a, b);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                         Algorithm algorithm) {
  check_shapes(a, b);
  const Backend backend = choose_backend(context, algorithm);
  const Baseline* const baseline = find_baseline(algorithm);
  const auto by_baseline = baseline != nullptr ? baseline->multiply.of<Value, Idx>() : nullptr;
  try {
    Csr<Value, Idx> c = by_baseline != nullptr
                            ? by_baseline(context, a, b)
                            : functions_of<Value, Idx>(backend).multiply(context, a, b, algorithm);
    report_figures(context, a, b, c.nnz());
    return c;
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("A * B, at most,", max_entry_bytes(a, b), host_memory_available());
  }
}

template <Scalar Value, Index Idx>
void multiply_in_chunks(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                        const std::type_identity_t<ProductSink<Value, Idx>>& sink,
                        Algorithm algorithm) {
  check_shapes(a, b);
  const Backend backend = choose_backend(context, algorithm);
  std::int64_t nnz = 0;
  const ProductSink<Value, Idx> counting = [&](Csr<Value, Idx>& rows) {
    nnz += rows.nnz();
    sink(rows);
  };
  try {
    if (a.nnz() == 0 || b.nnz() == 0) {  // C has no entries and is one chunk
      Csr<Value, Idx> c{a.rows, b.cols, std::vector<std::int64_t>(a.row_ptr.size(), 0), {}, {}};
      if (c.rows != 0) counting(c);
    } else if (!makes_chunks(algorithm)) {
      Csr<Value, Idx> c = multiply(context, a, b, algorithm);
      if (c.rows != 0) counting(c);
    } else {
      functions_of<Value, Idx>(backend).multiply_in_chunks(context, a, b, counting, algorithm);
    }
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("a chunk of A * B, at most,", max_entry_bytes(a, b),
                              host_memory_available());
  }
  report_figures(context, a, b, nnz);
}

template <Index Idx>
Pattern<Idx> multiply_structure(const Context& context, const Pattern<Idx>& a,
                                const Pattern<Idx>& b, Algorithm algorithm) {
  const std::int64_t products = products_of(a, b);
  const bool by_rows = algorithm == Algorithm::automatic || algorithm == Algorithm::row_wise;
  const bool on_host = choose_backend(context, algorithm) == Backend::host;
  try {
    if (on_host && by_rows) {
      if (std::optional<Pattern<Idx>> c = host::multiply_structure(context, a, b)) {
        report_figures(context, a, b, c->nnz());
        return std::move(*c);
      }
    }
    // float is the smallest value type; the values are discarded.
    const auto ones_a = matrices::with_ones<float>(a);
    return matrices::pattern_of(
        &a == &b ? multiply(context, ones_a, ones_a, algorithm)
                 : multiply(context, ones_a, matrices::with_ones<float>(b), algorithm));
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("the structure of A * B, at most,", products * sizeof(Idx),
                              host_memory_available());
  }
}

template <Scalar Value, Index Idx>
ProductSize product_size(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  ProductSize size{.rows = a.rows,
                   .cols = b.cols,
                   .nnz_a = a.nnz(),
                   .nnz_b = b.nnz(),
                   .products = products_of(a, b)};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t products = host::products_of_row(a, b, row);
    if (row == 0 || products > size.longest_row_products) {
      size.longest_row = row;
      size.longest_row_products = products;
    }
    size.nnz_c_bound += std::min(products, b.cols);
  }
  size.bytes_a = csr_bytes<Value, Idx>(a.rows, a.nnz());
  size.bytes_b = csr_bytes<Value, Idx>(b.rows, b.nnz());
  size.bytes_c_bound = csr_bytes<Value, Idx>(size.rows, size.nnz_c_bound);
  return size;
}

template <Scalar Value, Index Idx>
std::optional<WorkSpace> work_space(const Context& context, const ProductSize& size,
                                    Algorithm algorithm) {
  const Backend backend = choose_backend(context, algorithm);
  if (const Baseline* const baseline = find_baseline(algorithm)) {
    const auto by_baseline = baseline->work_space.of<Value, Idx>();
    if (by_baseline == nullptr) return std::nullopt;
    return by_baseline(context, size, OperandTypes<Value, Idx>{});
  }
  return functions_of<Value, Idx>(backend).work_space(context, size, algorithm);
}

#define INSTANTIATE(Value, Idx)                                                                    \
  template std::int64_t count_products(const Csr<Value, Idx>&, const Csr<Value, Idx>&);            \
  template Csr<Value, Idx> multiply(const Context&, const Csr<Value, Idx>&,                        \
                                    const Csr<Value, Idx>&, Algorithm);                            \
  template void multiply_in_chunks(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, \
                                   const std::type_identity_t<ProductSink<Value, Idx>>&,           \
                                   Algorithm);                                                     \
  template ProductSize product_size(const Csr<Value, Idx>&, const Csr<Value, Idx>&);               \
  template std::optional<WorkSpace> work_space<Value, Idx>(const Context&, const ProductSize&,     \
                                                           Algorithm);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(Idx)                                                          \
  template std::int64_t count_products(const Pattern<Idx>&, const Pattern<Idx>&); \
  template Pattern<Idx> multiply_structure(const Context&, const Pattern<Idx>&,   \
                                           const Pattern<Idx>&, Algorithm);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

}  // namespace sortie::spgemm
