#pragma once

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "sortie/apps/spgemm/host/eight_columns.hpp"
#include "sortie/apps/spgemm/host/neutral_of_sums.hpp"
#include "sortie/apps/spgemm/host/result_arrays.hpp"
#include "sortie/apps/spgemm/host/row_operands.hpp"
#include "sortie/apps/spgemm/host/row_products.hpp"
#include "sortie/matrices/csr.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::spgemm::host {

/// One row of C in an accumulator as wide as the matrix, in work space of one thread.
///
/// Work space (all clear between two rows):
///   sums_     cols       Value   the sums, neutral_of_sums() where none stands
///   marks_    cols / 64  bits    columns that have a sum
///   summary_  cols / 64  bits^2  words of marks_ that are not zero; only for rows too short to
///   walk over all of marks_
/// The columns are read from marks_ from left to right, so they come out sorted. Columns are marked
/// word by word where B's are given so (RowOperands::words), and sums are made eight columns at a
/// time where B's are given in eights: the order of the products of one column stays that of
/// for_each_product().
/// Source: Gustavson: Two Fast Algorithms for Sparse Matrices (ACM TOMS 1978) for the accumulator.
template <matrices::Scalar Value, matrices::Index Idx>
class DenseRow {
 public:
  using Operands = RowOperands<Value, Idx>;

  explicit DenseRow(std::int64_t cols)
      : unit_(segsort::vector_unit()), marks_(words(cols)), summary_(words(words(cols))) {
    // In large pages, since neighbouring products may lie anywhere.
    reserve_large_pages(sums_, padded(cols) / Sums::size);
    sums_.assign(padded(cols) / Sums::size, neutral_sums());
  }

  /// Bytes of work space for a matrix of `cols` columns.
  static std::uint64_t bytes(std::int64_t cols) {
    return padded(cols) * sizeof(Value) + 8 * (words(cols) + words(words(cols)));
  }

  /// True where fill() makes use of RowOperands::eights on the processor of this run.
  static bool adds_eights() {
    return has_eight_columns<Value, Idx> && segsort::vector_unit() == segsort::VectorUnit::avx512;
  }

  /// Number of entries of the row of C. \param products  that it has
  std::int64_t count(const Operands& operands, std::int64_t row, std::int64_t products) {
    mark_row(operands, row, products);
    return unit_ == segsort::VectorUnit::baseline ? take_marks(products)
                                                  : take_marks_avx2(products);
  }

  /// Writes the row of C. \param entries  what count() said
  void fill(const Operands& operands, std::int64_t row, std::int64_t products, std::int64_t entries,
            Idx* columns_out, Value* values_out) {
    if constexpr (has_eight_columns<Value, Idx>) {
      if (unit_ == segsort::VectorUnit::avx512) {
        fill_avx512(operands, row, products, entries, columns_out, values_out);
        return;
      }
    }
    mark_row(operands, row, products);
    add_products(operands, row);
    for_each_marked_word(products, [&](std::int64_t word, std::uint64_t marks) {
      take_sums(word, marks, columns_out, values_out);
    });
  }

 private:
  /// Sums that begin a cache line, so that eight of them never lie in two.
  struct alignas(64) Sums {
    static constexpr std::int64_t size = 64 / sizeof(Value);
    Value of[size];
  };
  static Sums neutral_sums() {
    Sums sums;
    std::fill(std::begin(sums.of), std::end(sums.of), neutral_of_sums<Value>());
    return sums;
  }
  [[nodiscard]] Value* sums() { return sums_.data()->of; }

  static std::int64_t words(std::int64_t bits) { return (bits + 63) / 64; }
  static std::int64_t padded(std::int64_t cols) { return 64 * words(cols); }

  // A word costs about as much to walk over as some products cost to mark in the summary, where
  // one waits for the one before.
  static constexpr std::int64_t products_per_word = 4;

  bool walks_all_marks(std::int64_t products) const {
    return static_cast<std::int64_t>(marks_.size()) <= products / products_per_word;
  }

  template <bool Summarised>
  [[gnu::always_inline]] void mark(std::int64_t word, std::uint64_t mask) {
    marks_[word] |= mask;
    if constexpr (Summarised) summary_[word >> 6] |= std::uint64_t{1} << (word & 63);
  }

  template <bool Summarised>
  void mark_row(const Operands& operands, std::int64_t row) {
    const matrices::Csr<Value, Idx>& a = operands.a;
    if (!operands.words.has_value()) {
      for_each_column(a, operands.b, row, [&](Idx column) {
        mark<Summarised>(column >> 6, std::uint64_t{1} << (column & 63));
      });
      return;
    }
    const std::int64_t* const begins = operands.words->begins();
    const Idx* const words = operands.words->words();
    const std::uint64_t* const masks = operands.words->masks();
    const std::int64_t end_a = a.row_ptr[row + 1];
    for (std::int64_t i = a.row_ptr[row]; i < end_a; ++i) {
      fetch_words_ahead(a, *operands.words, i);
      const std::int64_t k = a.col_idx[i];
      const std::int64_t end = begins[k + 1];
      for (std::int64_t j = begins[k]; j < end; ++j) mark<Summarised>(words[j], masks[j]);
    }
  }

  void mark_row(const Operands& operands, std::int64_t row, std::int64_t products) {
    if (walks_all_marks(products)) {
      mark_row<false>(operands, row);
    } else {
      mark_row<true>(operands, row);
    }
  }

  void add_products(const Operands& operands, std::int64_t row) {
    Value* const sums = this->sums();
    for_each_product(operands.a, operands.b, row,
                     [&](Idx column, Value product) { sums[column] += product; });
  }

  /// Calls body(word, marks) for every word that has marks, from left to right, and clears them.
  template <class Body>
  [[gnu::always_inline]] void for_each_marked_word(std::int64_t products, const Body& body) {
    if (walks_all_marks(products)) {
      const auto words = static_cast<std::int64_t>(marks_.size());
      for (std::int64_t word = 0; word < words; ++word) {
        if (const std::uint64_t marks = std::exchange(marks_[word], 0); marks != 0)
          body(word, marks);
      }
      return;
    }
    const auto groups = static_cast<std::int64_t>(summary_.size());
    for (std::int64_t group = 0; group < groups; ++group) {
      for (std::uint64_t left = std::exchange(summary_[group], 0); left != 0; left &= left - 1) {
        const std::int64_t word = 64 * group + std::countr_zero(left);
        body(word, std::exchange(marks_[word], 0));
      }
    }
  }

  /// Counts the marks and clears them.
  [[gnu::always_inline]] std::int64_t take_marks(std::int64_t products) {
    std::int64_t n = 0;
    if (walks_all_marks(products)) {
      for (std::uint64_t& marks : marks_) n += std::popcount(std::exchange(marks, 0));
    } else {
      for_each_marked_word(products,
                           [&](std::int64_t, std::uint64_t marks) { n += std::popcount(marks); });
    }
    return n;
  }

  // With an instruction that counts bits.
  SORTIE_TARGET_AVX2 std::int64_t take_marks_avx2(std::int64_t products) {
    return take_marks(products);
  }

  /// Moves the sums of the marked columns of a word to the output, from left to right, and clears
  /// them.
  [[gnu::always_inline]] void take_sums(std::int64_t word, std::uint64_t marks, Idx*& columns_out,
                                        Value*& values_out) {
    Value* const sums = this->sums();
    for (std::uint64_t left = marks; left != 0; left &= left - 1) {
      const std::int64_t column = 64 * word + std::countr_zero(left);
      *columns_out++ = static_cast<Idx>(column);
      *values_out++ = std::exchange(sums[column], neutral_of_sums<Value>());
    }
  }

#ifdef SORTIE_HAVE_VECTOR_UNITS
  SORTIE_TARGET_AVX512 void fill_avx512(const Operands& operands, std::int64_t row,
                                        std::int64_t products, std::int64_t entries,
                                        Idx* columns_out, Value* values_out) {
    mark_row(operands, row, products);
    if (operands.eights.has_value()) {
      add_eights(operands, row);
    } else {
      add_products(operands, row);
    }
    const Idx* const end = columns_out + entries;
    if (walks_all_marks(products)) {
      const auto words = static_cast<std::int64_t>(marks_.size());
      for (std::int64_t word = 0; word < words; ++word) {
        if (marks_[word] != 0) take_word_avx512(word, end, columns_out, values_out);
      }
      return;
    }
    const auto groups = static_cast<std::int64_t>(summary_.size());
    for (std::int64_t group = 0; group < groups; ++group) {
      for (std::uint64_t left = std::exchange(summary_[group], 0); left != 0; left &= left - 1)
        take_word_avx512(64 * group + std::countr_zero(left), end, columns_out, values_out);
    }
  }

  /// take_sums(), by eights where that is faster. \param end  of the row's columns in the output
  SORTIE_TARGET_AVX512 void take_word_avx512(std::int64_t word, const Idx* end, Idx*& columns_out,
                                             Value*& values_out) {
    constexpr int many = 6;
    const std::uint64_t marks = std::exchange(marks_[word], 0);
    // What is written behind the last of a word's entries must be the row's own.
    if (std::popcount(marks) >= many && end - columns_out >= 64 + 8) {
      take_sums_by_eights(sums() + 64 * word, 64 * word, marks, columns_out, values_out);
    } else {
      take_sums(word, marks, columns_out, values_out);
    }
  }

  SORTIE_TARGET_AVX512 void add_eights(const Operands& operands, std::int64_t row) {
    const matrices::Csr<Value, Idx>& a = operands.a;
    const matrices::Csr<Value, Idx>& b = operands.b;
    const std::int64_t* const begins = operands.eights->begins();
    const Idx* const eights = operands.eights->words();
    const std::uint8_t* const masks = operands.eights->masks();
    Value* const sums = this->sums();
    const std::int64_t end_a = a.row_ptr[row + 1];
    for (std::int64_t i = a.row_ptr[row]; i < end_a; ++i) {
      fetch_words_ahead(a, *operands.eights, i);
      fetch_ahead<true>(a, b, i);
      const std::int64_t k = a.col_idx[i];
      const std::int64_t end = begins[k + 1];
      add_row_by_eights(a.values[i], eights + begins[k], masks + begins[k], end - begins[k],
                        b.values.data() + b.row_ptr[k], sums);
    }
  }
#endif

  segsort::VectorUnit unit_;
  std::vector<Sums> sums_;
  std::vector<std::uint64_t> marks_;
  std::vector<std::uint64_t> summary_;
};

}  // namespace sortie::spgemm::host
