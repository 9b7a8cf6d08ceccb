// SPDX-License-Identifier: Apache-2.0
#include "sortie/spgemm_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm {
namespace {

template <Scalar Value>
std::string shown(const Value& value) {
  if constexpr (std::same_as<Value, std::complex<double>>) {
    return fmt::format("{} + {}i", value.real(), value.imag());
  } else {
    return fmt::format("{}", value);
  }
}

template <Scalar Value>
bool is_finite(const Value& value) {
  return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
}

template <Scalar Value>
bool same(const Value& x, const Value& y) {
  // NaN equals NaN, since the payload of a NaN that results from a sum is not defined.
  const auto same_part = [](auto part, auto other) {
    return part == other || (std::isnan(part) && std::isnan(other));
  };
  return same_part(std::real(x), std::real(y)) && same_part(std::imag(x), std::imag(y));
}

[[noreturn]] void throw_difference(const std::string& place, const std::string& found,
                                   const std::string& expected) {
  throw Error(ErrorKind::check,
              fmt::format("C: {}: found {}, expected {}", place, found, expected));
}

/// \throws Error (check)
template <class Matrix>
void compare_shape(const Matrix& result, const Matrix& expected) {
  if (result.rows == expected.rows && result.cols == expected.cols) return;
  throw_difference("shape", fmt::format("{} x {}", result.rows, result.cols),
                   fmt::format("{} x {}", expected.rows, expected.cols));
}

/// Compares shape, offsets and columns. \param first_row  row number of row 0 in messages, from 0
/// \throws Error (check)
template <class Matrix>
void compare_structure(const Matrix& result, const Matrix& expected, std::int64_t first_row = 0) {
  compare_shape(result, expected);
  std::size_t values = result.col_idx.size();
  if constexpr (requires { result.values; }) values = result.values.size();
  if (result.row_ptr.size() != expected.row_ptr.size() || values != result.col_idx.size()) {
    throw_difference("arrays",
                     fmt::format("{} offsets, {} columns and {} values", result.row_ptr.size(),
                                 result.col_idx.size(), values),
                     fmt::format("{} offsets, as many values as columns", expected.row_ptr.size()));
  }
  for (std::int64_t row = 0; row < expected.rows; ++row) {
    const std::int64_t begin = expected.row_ptr[row];
    const std::int64_t end = expected.row_ptr[row + 1];
    const auto columns = expected.col_idx.begin() + begin;
    // All preceding rows have equal lengths, so this row begins at the same position in both.
    const std::int64_t shared = std::min({end, result.row_ptr[row + 1], result.nnz()}) - begin;
    const std::int64_t at =
        shared <= 0
            ? 0
            : std::mismatch(columns, columns + shared, result.col_idx.begin() + begin).first -
                  columns;
    if (at < shared) {
      throw_difference(fmt::format("row {}", first_row + row + 1),
                       fmt::format("column {}", result.col_idx[begin + at] + 1),
                       fmt::format("column {}", columns[at] + 1));
    }
    if (result.row_ptr[row + 1] != end) {
      throw_difference(fmt::format("row {}", first_row + row + 1),
                       fmt::format("{} entries", result.row_ptr[row + 1] - begin),
                       fmt::format("{} entries", end - begin));
    }
  }
}

/// \param allowed  largest error of a finite result
template <Scalar Value>
bool entry_agrees(const Value& result, const Value& expected, double allowed) {
  return same(result, expected) ||
         (is_finite(result) && is_finite(expected) && std::abs(result - expected) <= allowed);
}

/// \param row, column  from 0 \throws Error (check)
template <Scalar Value>
void compare_entry(std::int64_t row, std::int64_t column, const Value& result,
                   const Value& expected, double allowed) {
  if (entry_agrees(result, expected, allowed)) return;
  const bool finite = is_finite(result) && is_finite(expected);
  throw_difference(
      fmt::format("row {}, column {}", row + 1, column + 1), shown(result),
      finite ? fmt::format("{} within {:.3g}", shown(expected), allowed) : shown(expected));
}

/// The result with explicit zeros where only `structure` has an entry. \param first_row  as above
/// \throws Error (check) an entry that `structure` lacks, or an explicit zero
template <Scalar Value, Index Idx>
Csr<Value, Idx> restore_zeros(const Csr<Value, Idx>& result, const Csr<Value, Idx>& structure,
                              std::int64_t first_row = 0) {
  Csr<Value, Idx> whole = structure;
  std::fill(whole.values.begin(), whole.values.end(), Value{});
  for (std::int64_t row = 0; row < structure.rows; ++row) {
    auto at = structure.col_idx.begin() + structure.row_ptr[row];
    const auto end = structure.col_idx.begin() + structure.row_ptr[row + 1];
    for (std::int64_t i = result.row_ptr[row]; i < result.row_ptr[row + 1]; ++i) {
      const Idx column = result.col_idx[i];
      const std::string place = fmt::format("row {}, column {}", first_row + row + 1, column + 1);
      at = std::lower_bound(at, end, column);
      if (at == end || *at != column) throw_difference(place, "an entry", "none");
      if (result.values[i] == Value{}) throw_difference(place, "zero", "no entry for it");
      whole.values[at - structure.col_idx.begin()] = result.values[i];
      ++at;
    }
  }
  return whole;
}

/// Adds the absolute values of the products of row `row` of A * B to the sums of their columns.
template <Scalar Value, Index Idx>
void add_magnitudes(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b, std::int64_t row,
                    std::vector<double>& sums) {
  for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
    const double factor = std::abs(a.values[i]);
    const std::int64_t k = a.col_idx[i];
    for (std::int64_t j = b.row_ptr[k]; j < b.row_ptr[k + 1]; ++j)
      sums[b.col_idx[j]] += factor * static_cast<double>(std::abs(b.values[j]));
  }
}

/// Number of threads for which one double per column fits a quarter of the free memory.
int workers_for(std::int64_t cols) {
  const std::uint64_t bytes = sizeof(double) * static_cast<std::uint64_t>(cols + 1);
  const auto fitting = static_cast<std::int64_t>(host_memory_available() / 4 / bytes);
  return static_cast<int>(std::clamp<std::int64_t>(fitting, 1, host_threads()));
}

}  // namespace

template <Index Idx>
void compare(const Pattern<Idx>& result, const Pattern<Idx>& expected) {
  compare_structure(result, expected);
}

template <Scalar Value, Index Idx>
void compare_without_zeros(const Csr<Value, Idx>& result, const Csr<Value, Idx>& expected,
                           const Csr<Value, Idx>& a, const Csr<Value, Idx>& b, double tolerance) {
  compare_shape(result, expected);
  matrices::validate(result);
  compare(restore_zeros(result, expected), expected, a, b, tolerance);
}

template <Scalar Value, Index Idx>
void compare(const Csr<Value, Idx>& result, const Csr<Value, Idx>& expected, double tolerance) {
  compare_structure(result, expected);
  for (std::int64_t row = 0; row < expected.rows; ++row) {
    double scale = 0;
    for (std::int64_t i = expected.row_ptr[row]; i < expected.row_ptr[row + 1]; ++i) {
      if (is_finite(expected.values[i])) {
        scale = std::max<double>(scale, std::abs(expected.values[i]));
      }
    }
    for (std::int64_t i = expected.row_ptr[row]; i < expected.row_ptr[row + 1]; ++i) {
      compare_entry(row, expected.col_idx[i], result.values[i], expected.values[i],
                    tolerance * scale);
    }
  }
}

template <Scalar Value, Index Idx>
void compare(const Csr<Value, Idx>& result, const Csr<Value, Idx>& expected,
             const Csr<Value, Idx>& a, const Csr<Value, Idx>& b, double tolerance) {
  compare_structure(result, expected);
  std::vector<double> magnitudes(b.cols, 0.0);
  for (std::int64_t row = 0; row < expected.rows; ++row) {
    add_magnitudes(a, b, row, magnitudes);
    for (std::int64_t i = expected.row_ptr[row]; i < expected.row_ptr[row + 1]; ++i) {
      const Idx column = expected.col_idx[i];
      compare_entry(row, column, result.values[i], expected.values[i],
                    tolerance * magnitudes[column]);
      magnitudes[column] = 0;
    }
  }
}

template <Scalar Value, Index Idx>
ProductCheck<Value, Idx>::ProductCheck(const HostContext& context, const Matrix& a, const Matrix& b,
                                       Algorithm algorithm, std::int64_t first_row)
    : first_row_(first_row) {
  Context host{context};
  host.backend = Backend::host;
  host.report = nullptr;
  host.memory_budget = 0;
  check_shapes(a, b);
  start_host_runtime(context.threads);
  const Baseline* const baseline = find_baseline(algorithm);
  const auto on_all_threads =
      baseline != nullptr ? baseline->multiply_on_all_threads.of<Value, Idx>() : nullptr;
  expected_ =
      on_all_threads != nullptr ? on_all_threads(host, a, b) : multiply(host, a, b, algorithm);
  find_bounds(a, b);
}

template <Scalar Value, Index Idx>
void ProductCheck<Value, Idx>::find_bounds(const Matrix& a, const Matrix& b) {
  using Real = decltype(std::abs(Value{}));
  // u is half of std::numeric_limits::epsilon().
  constexpr double four_roundings = 2.0 * std::numeric_limits<Real>::epsilon();
  constexpr double smallest = std::numeric_limits<Real>::denorm_min();
  constexpr std::int64_t products_per_block = 1 << 16;
  constexpr std::int64_t rows_per_block = 1 << 14;
  const std::vector<std::int64_t> cuts =
      host::cut_rows(host::product_offsets(a, b), products_per_block, rows_per_block);
  const int workers = workers_for(b.cols);
  std::vector<std::vector<double>> magnitudes(
      static_cast<std::size_t>(workers),
      std::vector<double>(static_cast<std::size_t>(b.cols), 0.0));
  host::resize_for_overwrite(allowed_, expected_.nnz());
  host::for_each_row(HostContext{}, "", workers, cuts, [&](int worker, std::int64_t row) {
    std::vector<double>& sums = magnitudes[static_cast<std::size_t>(worker)];
    add_magnitudes(a, b, row, sums);
    const auto terms = static_cast<double>(a.row_ptr[row + 1] - a.row_ptr[row]);
    for (std::int64_t i = expected_.row_ptr[row]; i < expected_.row_ptr[row + 1]; ++i) {
      double& sum = sums[expected_.col_idx[i]];
      allowed_[i] = four_roundings * (terms + 2) * sum + terms * smallest;
      sum = 0;
    }
  });
}

template <Scalar Value, Index Idx>
void ProductCheck<Value, Idx>::compare(const Matrix& result) const {
  compare_structure(result, expected_, first_row_);
  const std::uint64_t found =
      first_index(0, static_cast<std::uint64_t>(expected_.nnz()), [&](std::uint64_t i) {
        return !entry_agrees(result.values[i], expected_.values[i], allowed_[i]);
      });
  if (found == no_index) return;
  const auto fault = static_cast<std::int64_t>(found);
  const auto& offsets = expected_.row_ptr;
  const std::int64_t row =
      std::upper_bound(offsets.begin(), offsets.end(), fault) - offsets.begin() - 1;
  compare_entry(first_row_ + row, expected_.col_idx[fault], result.values[fault],
                expected_.values[fault], allowed_[fault]);
}

template <Scalar Value, Index Idx>
void ProductCheck<Value, Idx>::compare_without_zeros(const Matrix& result) const {
  compare_shape(result, expected_);
  matrices::validate(result);
  compare(restore_zeros(result, expected_, first_row_));
}

template void compare(const Pattern<std::int32_t>&, const Pattern<std::int32_t>&);
template void compare(const Pattern<std::int64_t>&, const Pattern<std::int64_t>&);

#define INSTANTIATE(Value, Idx)                                                                 \
  template void compare(const Csr<Value, Idx>&, const Csr<Value, Idx>&, double);                \
  template void compare(const Csr<Value, Idx>&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, \
                        const Csr<Value, Idx>&, double);                                        \
  template void compare_without_zeros(const Csr<Value, Idx>&, const Csr<Value, Idx>&,           \
                                      const Csr<Value, Idx>&, const Csr<Value, Idx>&, double);  \
  template class ProductCheck<Value, Idx>;
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm
