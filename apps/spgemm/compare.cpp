// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/difference.hpp"
#include "sortie/spgemm_check.hpp"

namespace sortie::spgemm {

template <Index Idx>
void compare(const Pattern<Idx>& result, const Pattern<Idx>& expected) {
  detail::compare_structure(result, expected);
}

template <Scalar Value, Index Idx>
void compare_without_zeros(const Csr<Value, Idx>& result, const Csr<Value, Idx>& expected,
                           const Csr<Value, Idx>& a, const Csr<Value, Idx>& b, double tolerance) {
  detail::compare_shape(result, expected);
  matrices::validate(result);
  compare(detail::restore_zeros(result, expected), expected, a, b, tolerance);
}

template <Scalar Value, Index Idx>
void compare(const Csr<Value, Idx>& result, const Csr<Value, Idx>& expected, double tolerance) {
  detail::compare_structure(result, expected);
  for (std::int64_t row = 0; row < expected.rows; ++row) {
    double scale = 0;
    for (std::int64_t i = expected.row_ptr[row]; i < expected.row_ptr[row + 1]; ++i) {
      if (detail::is_finite(expected.values[i])) {
        scale = std::max<double>(scale, std::abs(expected.values[i]));
      }
    }
    for (std::int64_t i = expected.row_ptr[row]; i < expected.row_ptr[row + 1]; ++i) {
      detail::compare_entry(row, expected.col_idx[i], result.values[i], expected.values[i],
                            tolerance * scale);
    }
  }
}

template <Scalar Value, Index Idx>
void compare(const Csr<Value, Idx>& result, const Csr<Value, Idx>& expected,
             const Csr<Value, Idx>& a, const Csr<Value, Idx>& b, double tolerance) {
  detail::compare_structure(result, expected);
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
      detail::compare_entry(row, column, result.values[i], expected.values[i],
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
