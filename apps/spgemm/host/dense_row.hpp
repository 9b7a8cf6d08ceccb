#pragma once

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <vector>

#include "sortie/apps/spgemm/host/row_products.hpp"
#include "sortie/matrices/csr.hpp"

namespace sortie::spgemm::host {

/// What a sum starts from so that the first product comes out with its own bits: -0.0 + x is x for
/// every x, where +0.0 + -0.0 would lose the sign.
template <matrices::Scalar Value>
[[nodiscard]] constexpr Value neutral_of_sums() {
  if constexpr (std::same_as<Value, std::complex<double>>) {
    return {-0.0, -0.0};
  } else {
    return static_cast<Value>(-0.0);
  }
}

/// One row of C in an accumulator as wide as the matrix, in work space of one thread.
///
/// Work space (all clear between two rows):
///   sums_     cols       Value   the sums, neutral_of_sums() where none stands
///   marks_    cols / 64  bits    columns that have a sum
///   summary_  cols / 64  bits^2  words of marks_ that are not zero; only for rows too short to
///   walk
///                                over all of marks_
/// The columns are read from marks_ from left to right, so they come out sorted.
/// Source: Gustavson: Two Fast Algorithms for Sparse Matrices (ACM TOMS 1978) for the accumulator.
template <matrices::Scalar Value, matrices::Index Idx>
class DenseRow {
 public:
  using Csr = matrices::Csr<Value, Idx>;

  explicit DenseRow(std::int64_t cols)
      : sums_(cols, neutral_of_sums<Value>()), marks_(words(cols)), summary_(words(words(cols))) {}

  /// Bytes of work space for a matrix of `cols` columns.
  static std::uint64_t bytes(std::int64_t cols) {
    return cols * sizeof(Value) + 8 * (words(cols) + words(words(cols)));
  }

  /// Number of entries of the row of C.
  std::int64_t count(const Csr& a, const Csr& b, std::int64_t row, std::int64_t products) {
    std::uint64_t* const marks = marks_.data();
    std::int64_t distinct = 0;
    for_each_column(a, b, row, [&](Idx column) {
      const std::uint64_t word = marks[column >> 6];
      distinct += static_cast<std::int64_t>(~word >> (column & 63) & 1);
      marks[column >> 6] = word | std::uint64_t{1} << (column & 63);
    });
    if (walks_all_marks(products)) {
      std::fill(marks_.begin(), marks_.end(), 0);
    } else {
      for_each_column(a, b, row, [&](Idx column) { marks[column >> 6] = 0; });
    }
    return distinct;
  }

  /// Writes the row of C.
  void fill(const Csr& a, const Csr& b, std::int64_t row, std::int64_t products, Idx* columns_out,
            Value* values_out) {
    Value* const sums = sums_.data();
    std::uint64_t* const marks = marks_.data();
    if (walks_all_marks(products)) {
      for_each_product(a, b, row, [&](Idx column, Value product) {
        sums[column] += product;
        marks[column >> 6] |= std::uint64_t{1} << (column & 63);
      });
      const auto count = static_cast<std::int64_t>(marks_.size());
      for (std::int64_t word = 0; word < count; ++word) {
        harvest_word(word, columns_out, values_out);
      }
    } else {
      std::uint64_t* const summary = summary_.data();
      for_each_product(a, b, row, [&](Idx column, Value product) {
        sums[column] += product;
        marks[column >> 6] |= std::uint64_t{1} << (column & 63);
        summary[column >> 12] |= std::uint64_t{1} << (column >> 6 & 63);
      });
      for (std::int64_t group = 0; group < static_cast<std::int64_t>(summary_.size()); ++group) {
        for (std::uint64_t left = summary[group]; left != 0; left &= left - 1) {
          harvest_word(64 * group + std::countr_zero(left), columns_out, values_out);
        }
        summary[group] = 0;
      }
    }
  }

 private:
  // Walking over an empty word costs about as much as half a mark in the summary. Nothing hangs on
  // the exact figure: from 1 to 8 the times of the matrices named in row_wise.cpp differ by 5 %.
  static constexpr std::int64_t words_per_product = 2;

  static std::int64_t words(std::int64_t bits) { return (bits + 63) / 64; }

  bool walks_all_marks(std::int64_t products) const {
    return static_cast<std::int64_t>(marks_.size()) <= words_per_product * products;
  }

  // Moves the sums of 64 columns to the output, from left to right, and clears them.
  void harvest_word(std::int64_t word, Idx*& columns_out, Value*& values_out) {
    for (std::uint64_t left = marks_[word]; left != 0; left &= left - 1) {
      const std::int64_t column = 64 * word + std::countr_zero(left);
      *columns_out++ = static_cast<Idx>(column);
      *values_out++ = sums_[column];
      sums_[column] = neutral_of_sums<Value>();
    }
    marks_[word] = 0;
  }

  std::vector<Value> sums_;
  std::vector<std::uint64_t> marks_;
  std::vector<std::uint64_t> summary_;
};

}  // namespace sortie::spgemm::host
