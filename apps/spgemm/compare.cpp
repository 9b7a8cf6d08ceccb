#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sortie/apps/spgemm/backends.hpp"
#include "sortie/apps/spgemm/structure.hpp"
#include "sortie/core/error.hpp"

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

bool is_finite(double value) {
  return std::isfinite(value);
}
bool is_finite(const std::complex<double>& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

// Equal as parts of results: NaN equals NaN, since which NaN comes out of a sum is not defined.
bool same_part(double x, double y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}
bool same(double x, double y) {
  return same_part(x, y);
}
bool same(const std::complex<double>& x, const std::complex<double>& y) {
  return same_part(x.real(), y.real()) && same_part(x.imag(), y.imag());
}

[[noreturn]] void throw_difference(const std::string& place, const std::string& found,
                                   const std::string& expected) {
  throw Error(ErrorKind::check,
              fmt::format("C: {}: found {}, expected {}", place, found, expected));
}

template <Scalar Value, Index Idx>
std::size_t number_of_values(const Csr<Value, Idx>& matrix) {
  return matrix.values.size();
}
template <Index Idx>
std::size_t number_of_values(const Pattern<Idx>& pattern) {
  return pattern.col_idx.size();  // as many as there would be
}

template <class Matrix>
void compare_structure(const Matrix& result, const Matrix& expected) {
  if (result.rows != expected.rows || result.cols != expected.cols) {
    throw_difference("shape", fmt::format("{} x {}", result.rows, result.cols),
                     fmt::format("{} x {}", expected.rows, expected.cols));
  }
  const std::size_t values = number_of_values(result);
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
    // The rows before have the same lengths, so this one begins at the same place in both.
    const std::int64_t shared = std::min({end, result.row_ptr[row + 1], result.nnz()}) - begin;
    const std::int64_t at =
        shared <= 0
            ? 0
            : std::mismatch(columns, columns + shared, result.col_idx.begin() + begin).first -
                  columns;
    if (at < shared) {
      throw_difference(fmt::format("row {}", row + 1),
                       fmt::format("column {}", result.col_idx[begin + at] + 1),
                       fmt::format("column {}", columns[at] + 1));
    }
    if (result.row_ptr[row + 1] != end) {
      throw_difference(fmt::format("row {}", row + 1),
                       fmt::format("{} entries", result.row_ptr[row + 1] - begin),
                       fmt::format("{} entries", end - begin));
    }
  }
}

template <Scalar Value>
void compare_entry(std::int64_t row, std::int64_t column, const Value& result,
                   const Value& expected, double allowed) {
  const bool finite = is_finite(result) && is_finite(expected);
  if (same(result, expected) || (finite && std::abs(result - expected) <= allowed)) return;
  throw_difference(
      fmt::format("row {}, column {}", row + 1, column + 1), shown(result),
      finite ? fmt::format("{} within {:.3g}", shown(expected), allowed) : shown(expected));
}

// The result with a zero wherever only `structure` has an entry.
template <Scalar Value, Index Idx>
Csr<Value, Idx> restore_zeros(const Csr<Value, Idx>& result, const Csr<Value, Idx>& structure) {
  Csr<Value, Idx> whole = structure;
  std::fill(whole.values.begin(), whole.values.end(), Value{});
  for (std::int64_t row = 0; row < structure.rows; ++row) {
    auto at = structure.col_idx.begin() + structure.row_ptr[row];
    const auto end = structure.col_idx.begin() + structure.row_ptr[row + 1];
    for (std::int64_t i = result.row_ptr[row]; i < result.row_ptr[row + 1]; ++i) {
      const Idx column = result.col_idx[i];
      const std::string place = fmt::format("row {}, column {}", row + 1, column + 1);
      at = std::lower_bound(at, end, column);
      if (at == end || *at != column) throw_difference(place, "an entry", "none");
      if (result.values[i] == Value{}) throw_difference(place, "zero", "no entry for it");
      whole.values[at - structure.col_idx.begin()] = result.values[i];
      ++at;
    }
  }
  return whole;
}

}  // namespace

template <Index Idx>
void compare(const Pattern<Idx>& result, const Pattern<Idx>& expected) {
  compare_structure(result, expected);
}

template <Scalar Value, Index Idx>
void compare_without_zeros(const Csr<Value, Idx>& result, const Csr<Value, Idx>& expected,
                           const Csr<Value, Idx>& a, const Csr<Value, Idx>& b, double tolerance) {
  if (result.rows != expected.rows || result.cols != expected.cols) {
    throw_difference("shape", fmt::format("{} x {}", result.rows, result.cols),
                     fmt::format("{} x {}", expected.rows, expected.cols));
  }
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
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      const double factor = std::abs(a.values[i]);
      const std::int64_t k = a.col_idx[i];
      for (std::int64_t j = b.row_ptr[k]; j < b.row_ptr[k + 1]; ++j) {
        magnitudes[b.col_idx[j]] += factor * std::abs(b.values[j]);
      }
    }
    for (std::int64_t i = expected.row_ptr[row]; i < expected.row_ptr[row + 1]; ++i) {
      const Idx column = expected.col_idx[i];
      compare_entry(row, column, result.values[i], expected.values[i],
                    tolerance * magnitudes[column]);
      magnitudes[column] = 0;
    }
  }
}

template void compare(const Pattern<std::int32_t>&, const Pattern<std::int32_t>&);
template void compare(const Pattern<std::int64_t>&, const Pattern<std::int64_t>&);

#define INSTANTIATE(Value, Idx)                                                                 \
  template void compare(const Csr<Value, Idx>&, const Csr<Value, Idx>&, double);                \
  template void compare(const Csr<Value, Idx>&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, \
                        const Csr<Value, Idx>&, double);                                        \
  template void compare_without_zeros(const Csr<Value, Idx>&, const Csr<Value, Idx>&,           \
                                      const Csr<Value, Idx>&, const Csr<Value, Idx>&, double);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm
