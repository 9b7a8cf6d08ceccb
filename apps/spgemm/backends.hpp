// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/spgemm/arriving_product.hpp"
#include "sortie/csr.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_chunks.hpp"
#include "sortie/spgemm_estimate.hpp"

/// What spgemm.hpp and its companions call on each backend, for the types of
/// SORTIE_SPGEMM_FOR_EACH_TYPE, and what the products of the backends have in common. The callers
/// check the shapes, choose the backend and write the figures of the report; the functions add
/// their phases.
namespace sortie::spgemm {

using matrices::Csr;
using matrices::Index;
using matrices::Pattern;
using matrices::Scalar;

/// The backend to use. Backend::automatic selects the only backend that has the algorithm, if there
/// is only one.
/// \throws Error (unavailable) the algorithm does not run on the backend
[[nodiscard]] Backend choose_backend(const Context& context, Algorithm algorithm);

/// Whether this build has the algorithm on the backend, host or cuda.
[[nodiscard]] bool runs_on(Backend backend, Algorithm algorithm);

/// \throws Error (input) cols_a != rows_b
void check_shapes(std::int64_t rows_a, std::int64_t cols_a, std::int64_t rows_b,
                  std::int64_t cols_b);
/// The same for matrices of any type.
template <class Matrix>
void check_shapes(const Matrix& a, const Matrix& b) {
  check_shapes(a.rows, a.cols, b.rows, b.cols);
}

/// The products of a row in messages. \param row  from 0
[[nodiscard]] std::string named_products(std::int64_t row, std::int64_t products);

/// The error for an algorithm that does not multiply in device memory.
[[nodiscard]] Error not_on_cuda(Algorithm algorithm);

/// What CUDA has to know of a larger product, so that its rows get the same bits in a part of it.
struct WholeProduct {
  /// Columns of the sampled entries of B (cuda/fused/policy.hpp)
  std::span<const std::uint32_t> samples;
  /// A and B repeat patterns (row_patterns.hpp): `automatic` is by patterns
  bool repeats_patterns = false;
  /// One or two rows have most of the work (cuda/fused/policy.hpp): `automatic` is essc
  bool has_few_long_rows = false;
};

/// What a backend does, as spgemm.hpp and its companions describe it.
/// \pre the algorithm runs on the backend and is one of the library's own; on CUDA, `multiply` also
///      takes baselines that have Baseline::prepare
template <Scalar Value, Index Idx>
struct BackendFunctions {
  using Matrix = Csr<Value, Idx>;
  Matrix (*multiply)(const Context&, const Matrix& a, const Matrix& b, Algorithm);
  void (*multiply_in_chunks)(const Context&, const Matrix& a, const Matrix& b,
                             const ProductSink<Value, Idx>&, Algorithm);
  WorkSpace (*work_space)(const Context&, const ProductSize&, Algorithm);
  /// Null on the host, where rows need not arrive.
  void (*multiply_arriving)(const Context&, const Matrix& a, const Matrix& b,
                            const ArrivingSink<Value, Idx>&, Algorithm) = nullptr;
  /// As spgemm::multiply_part(). Null on the host, where sums do not depend on other rows.
  Matrix (*multiply_part)(const Context&, const Matrix& a, const Matrix& b, const WholeProduct*,
                          Algorithm) = nullptr;
};

/// multiply() for some rows of A and a B that has only those rows of a larger one that they ask for,
/// with the bits of the product of the larger one.
/// \param whole  null: A and B are whole
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> multiply_part(const Context& context, const Csr<Value, Idx>& a,
                                            const Csr<Value, Idx>& b, const WholeProduct* whole,
                                            Algorithm algorithm);
/// The same of structures.
template <Index Idx>
[[nodiscard]] Pattern<Idx> multiply_part(const Context& context, const Pattern<Idx>& a,
                                         const Pattern<Idx>& b, const WholeProduct* whole,
                                         Algorithm algorithm);

/// Columns and values of consecutive rows of C, in arrays of a backend.
template <class Columns, class Values>
struct RowEntries {
  Columns col_idx;
  Values values;
};

/// A product C = A * B on a backend. Its constructor counts entries or products; next() computes
/// the next rows of C until all are done. multiply(), multiply_in_chunks() and work_space() of a
/// backend follow from it (multiply.hpp or multiply.cpp in its folder).
template <class P>
concept Product = requires(P product) {
  typename P::Entries;  // RowEntries
  // The next rows; no value when all rows are done.
  { product.next() } -> std::same_as<std::optional<typename P::Entries>>;
  // Offsets of all rows of C, complete for the rows that next() has returned.
  {product.row_ptr()};
  // Rows that next() has returned.
  { product.rows_done() } -> std::same_as<std::int64_t>;
};

/// Computes all rows and moves them to `c`, whose shape is set.
/// \param join  join(parts, entries, c) concatenates the arrays of several parts with so many
///              entries together
template <Product P, class Matrix, class Join>
void take_all_rows(P& product, Matrix& c, const Join& join) {
  std::vector<typename P::Entries> parts;
  std::int64_t entries = 0;
  while (auto rows = product.next()) {
    entries += static_cast<std::int64_t>(rows->col_idx.size());
    parts.push_back(std::move(*rows));
  }
  c.row_ptr = std::move(product.row_ptr());
  if (parts.size() == 1) {
    c.col_idx = std::move(parts.front().col_idx);
    c.values = std::move(parts.front().values);
  } else {
    join(parts, entries, c);
  }
}

/// Passes the rows of C to `sink` in chunks on the host. C never exists as a whole.
/// \param cols     columns of C
/// \param to_host  to_host(entries, first_row, rows) moves or copies the entries of the rows from
///                 first_row on to `rows`, and their offsets in C
template <Product P, Scalar Value, Index Idx, class ToHost>
void pass_rows(P& product, std::int64_t cols, const ProductSink<Value, Idx>& sink,
               const ToHost& to_host) {
  Csr<Value, Idx> rows;  // reused for every chunk
  std::int64_t first_row = 0;
  while (auto entries = product.next()) {
    rows.rows = product.rows_done() - first_row;
    rows.cols = cols;
    rows.row_ptr.resize(static_cast<std::size_t>(rows.rows) + 1);
    to_host(*entries, first_row, rows);
    entries.reset();
    const std::int64_t before = rows.row_ptr.front();
    for (std::int64_t& offset : rows.row_ptr) offset -= before;
    first_row = product.rows_done();
    sink(rows);
  }
}

namespace host {

/// `automatic` is row_wise.
template <Scalar Value, Index Idx>
[[nodiscard]] BackendFunctions<Value, Idx> functions();

/// The structure of A * B, row by row: the columns of each row are marked in a bitmap. No value if
/// the bitmap of one thread does not fit the memory budget.
template <Index Idx>
[[nodiscard]] std::optional<Pattern<Idx>> multiply_structure(const HostContext& context,
                                                             const Pattern<Idx>& a,
                                                             const Pattern<Idx>& b);

}  // namespace host

namespace cuda {

/// `automatic` is by patterns if they repeat, fused if that can compute C, otherwise essc. The
/// functions throw Error (unavailable) for pattern and fused and too many rows or columns.
/// \throws Error (unavailable) the build has no CUDA
template <Scalar Value, Index Idx>
[[nodiscard]] BackendFunctions<Value, Idx> functions();

}  // namespace cuda

}  // namespace sortie::spgemm

#define SORTIE_SPGEMM_FOR_EACH_VALUE(INSTANTIATE, Index32, Index64) \
  INSTANTIATE(float, Index32)                                       \
  INSTANTIATE(float, Index64)                                       \
  INSTANTIATE(double, Index32)                                      \
  INSTANTIATE(double, Index64)                                      \
  INSTANTIATE(std::complex<double>, Index32)                        \
  INSTANTIATE(std::complex<double>, Index64)
/// Calls `INSTANTIATE(Value, Idx)` for every pair of types that SpGEMM is built for.
#define SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE) \
  SORTIE_SPGEMM_FOR_EACH_VALUE(INSTANTIATE, std::int32_t, std::int64_t)
/// Calls `INSTANTIATE(Value, Column)` for every pair of types of the device functions.
#define SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(INSTANTIATE) \
  SORTIE_SPGEMM_FOR_EACH_VALUE(INSTANTIATE, std::uint32_t, std::uint64_t)

/// Instantiates the functions of a backend, in its namespace.
#define SORTIE_SPGEMM_INSTANTIATE_BACKEND(Value, Idx) \
  template BackendFunctions<Value, Idx> functions();
