// SPDX-License-Identifier: Apache-2.0
#include "sortie/spgemm.hpp"

#include <fmt/core.h>

#include <new>

#include "apps/spgemm/backends.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::spgemm {

namespace {

// float is the smallest value type; the values are discarded.
template <Index Idx>
Pattern<Idx> multiply_ones(const Context& context, const Pattern<Idx>& a, const Pattern<Idx>& b,
                           Algorithm algorithm) {
  const auto ones_a = matrices::with_ones<float>(a);
  if (&a == &b) return matrices::pattern_of(multiply(context, ones_a, ones_a, algorithm));
  return matrices::pattern_of(multiply(context, ones_a, matrices::with_ones<float>(b), algorithm));
}

}  // namespace

template <Index Idx>
std::int64_t count_products(const Pattern<Idx>& a, const Pattern<Idx>& b) {
  if (a.cols != b.rows) throw shapes_error(a.rows, a.cols, b.rows, b.cols);
  std::int64_t products = 0;
  for (const std::int64_t k : a.col_idx) products += b.row_ptr[k + 1] - b.row_ptr[k];
  return products;
}

template <Index Idx>
Pattern<Idx> multiply_structure(const Context& context, const Pattern<Idx>& a,
                                const Pattern<Idx>& b, Algorithm algorithm) {
  const std::int64_t products = count_products(a, b);
  const bool by_rows = algorithm == Algorithm::automatic || algorithm == Algorithm::row_wise;
  const bool on_host = choose_backend(context, algorithm) == Backend::host;
  try {
    if (!on_host || !by_rows || !host::structure_fits<Idx>(context, b.cols)) {
      return multiply_ones(context, a, b, algorithm);
    }
    Pattern<Idx> c = host::multiply_structure(context, a, b);
    if (context.report != nullptr) {
      context.report->set("products", products);
      context.report->set("nnz_c", c.nnz());
    }
    return c;
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("the structure of A * B, at most,", products * sizeof(Idx),
                              host_memory_available());
  }
}

#define INSTANTIATE(Idx)                                                          \
  template std::int64_t count_products(const Pattern<Idx>&, const Pattern<Idx>&); \
  template Pattern<Idx> multiply_structure(const Context&, const Pattern<Idx>&,   \
                                           const Pattern<Idx>&, Algorithm);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

}  // namespace sortie::spgemm
