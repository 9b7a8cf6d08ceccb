// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#include "sortie/csr.hpp"

namespace sortie::test {

namespace reference_detail {

template <class Number>
void append(std::string& text, Number number, char separator) {
  std::array<char, 64> digits = {};
  text.append(digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
  text += separator;
}

template <class Real>
void append_value(std::string& text, Real value) {
  append(text, value, '\n');
}
template <class Real>
void append_value(std::string& text, std::complex<Real> value) {
  append(text, value.real(), ' ');
  append(text, value.imag(), '\n');
}

}  // namespace reference_detail

/// The lines of the entries in a Matrix Market file, by std::to_chars.
template <class Matrix>
std::string reference_entries(const Matrix& matrix) {
  constexpr bool has_values = requires {
    matrix.values;
  };
  std::string text;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t i = matrix.row_ptr[row]; i < matrix.row_ptr[row + 1]; ++i) {
      reference_detail::append(text, row + 1, ' ');
      reference_detail::append(text, std::int64_t{matrix.col_idx[i]} + 1, has_values ? ' ' : '\n');
      if constexpr (has_values) reference_detail::append_value(text, matrix.values[i]);
    }
  }
  return text;
}

}  // namespace sortie::test
