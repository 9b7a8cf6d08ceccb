#pragma once

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
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
///   sums_   cols        Value   the sums, neutral_of_sums() where none stands
///   marks_  cols / 512  lines   of 512 bits: columns that have a sum
///   used_   cols / 512  bytes   lines of marks_ that are not zero; only for rows too short to walk
///   over all of marks_
/// The columns are read from marks_ from left to right, so they come out sorted. Columns are marked
/// word by word where B's are given so (RowOperands::words), and marked and summed eight at a time
/// where B's are given in eights: the order of the products of one column stays that of
/// for_each_product(). Lines are as wide as what one instruction of AVX-512 looks at, and have a
/// byte each since a byte can be set without being read: with bits, products of neighbouring
/// columns wait for each other.
/// Source: Gustavson: Two Fast Algorithms for Sparse Matrices (ACM TOMS 1978) for the accumulator.
template <matrices::Scalar Value, matrices::Index Idx>
class DenseRow {
 public:
  using Operands = RowOperands<Value, Idx>;

  explicit DenseRow(std::int64_t cols)
      : unit_(segsort::vector_unit()), marks_(lines(cols)), used_(padded_lines(cols)) {
    // In large pages, since neighbouring products may lie anywhere.
    reserve_large_pages(sums_, padded(cols) / Sums::size);
    sums_.assign(padded(cols) / Sums::size, neutral_sums());
  }

  /// Bytes of work space for a matrix of `cols` columns.
  static std::uint64_t bytes(std::int64_t cols) {
    return padded(cols) * sizeof(Value) + sizeof(Line) * lines(cols) + padded_lines(cols);
  }

  /// True where fill() makes use of RowOperands::eights on the processor of this run.
  static bool adds_eights() {
    return has_eight_columns<Value, Idx> && segsort::vector_unit() == segsort::VectorUnit::avx512;
  }

  /// Number of entries of the row of C. \param products  that it has
  std::int64_t count(const Operands& operands, std::int64_t row, std::int64_t products) {
    mark_row(operands, row, products);
    switch (unit_) {
#ifdef SORTIE_HAVE_VECTOR_UNITS
      case segsort::VectorUnit::avx512:
        return take_marks_avx512(products);
#endif
      case segsort::VectorUnit::baseline:
        return take_marks(products, TakeUsed{*this});
      default:
        return take_marks_avx2(products);
    }
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
    for_each_marked_line(products, TakeUsed{*this}, [&](std::int64_t line) {
      for (std::int64_t i = 0; i < Line::size; ++i) {
        if (const std::uint64_t marks = std::exchange(marks_[line].of[i], 0); marks != 0)
          take_sums(Line::size * line + i, marks, columns_out, values_out);
      }
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
  [[nodiscard]] Value* sums() {
    return sums_.data()->of;
  }

  /// Marks of 512 columns.
  struct alignas(64) Line {
    static constexpr std::int64_t size = 8;
    std::uint64_t of[size];
  };
  [[nodiscard]] std::uint64_t* marks() {
    return marks_.data()->of;
  }

  static std::int64_t padded(std::int64_t cols) {
    return (cols + 63) / 64 * 64;
  }
  static std::int64_t lines(std::int64_t cols) {
    return (cols + 511) / 512;
  }
  /// As many as are looked at together.
  static std::int64_t padded_lines(std::int64_t cols) {
    return (lines(cols) + 63) / 64 * 64;
  }

  // A line costs about as much to walk over as so many products cost to set its byte.
  static constexpr std::int64_t products_per_line = 32;

  bool walks_all_marks(std::int64_t products) const {
    return static_cast<std::int64_t>(marks_.size()) <= products / products_per_line;
  }

  template <bool Summarised>
  [[gnu::always_inline]] void mark(std::int64_t word, std::uint64_t mask) {
    marks()[word] |= mask;
    if constexpr (Summarised) used_[word / Line::size] = 1;
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

  /// Tells which of lines first .. first + 64 are used, as bits, and clears their bytes.
  struct TakeUsed {
    DenseRow& of;
    [[gnu::always_inline]] std::uint64_t operator()(std::int64_t first) const {
      std::uint8_t* const used = of.used_.data() + first;
      std::uint64_t bits = 0;
      for (int i = 0; i < 64; i += 8) {
        std::uint64_t any = 0;
        std::memcpy(&any, used + i, sizeof any);
        if (any == 0) continue;
        for (int j = i; j < i + 8; ++j)
          bits |= std::uint64_t{std::exchange(used[j], std::uint8_t{0})} << j;
      }
      return bits;
    }
  };

  /// Calls body(line) for every line that has marks, and perhaps for some that have none, from left
  /// to right, and clears used_. \param take_used  as TakeUsed
  template <class Take, class Body>
  [[gnu::always_inline]] void for_each_marked_line(std::int64_t products, const Take& take_used,
                                                   const Body& body) {
    const auto lines = static_cast<std::int64_t>(marks_.size());
    if (walks_all_marks(products)) {
      for (std::int64_t line = 0; line < lines; ++line) body(line);
      return;
    }
    for (std::int64_t first = 0; first < lines; first += 64) {
      for (std::uint64_t left = take_used(first); left != 0; left &= left - 1)
        body(first + std::countr_zero(left));
    }
  }

  /// Counts the marks and clears them.
  template <class Take>
  [[gnu::always_inline]] std::int64_t take_marks(std::int64_t products, const Take& take_used) {
    std::int64_t n = 0;
    for_each_marked_line(products, take_used, [&](std::int64_t line) {
      for (std::uint64_t& marks : marks_[line].of) n += std::popcount(std::exchange(marks, 0));
    });
    return n;
  }

  // With an instruction that counts bits.
  SORTIE_TARGET_AVX2 std::int64_t take_marks_avx2(std::int64_t products) {
    return take_marks(products, TakeUsed{*this});
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
  /// As TakeUsed.
  struct TakeUsedAvx512 {
    DenseRow& of;
    SORTIE_TARGET_AVX512 std::uint64_t operator()(std::int64_t first) const {
      std::uint8_t* const used = of.used_.data() + first;
      const __m512i bytes = _mm512_loadu_si512(used);
      const std::uint64_t bits = _mm512_test_epi8_mask(bytes, bytes);
      if (bits != 0) _mm512_storeu_si512(used, _mm512_setzero_si512());
      return bits;
    }
  };

  SORTIE_TARGET_AVX512 std::int64_t take_marks_avx512(std::int64_t products) {
    return take_marks(products, TakeUsedAvx512{*this});
  }

  SORTIE_TARGET_AVX512 void fill_avx512(const Operands& operands, std::int64_t row,
                                        std::int64_t products, std::int64_t entries,
                                        Idx* columns_out, Value* values_out) {
    if (!operands.eights.has_value()) {
      mark_row(operands, row, products);
      add_products(operands, row);
    } else if (walks_all_marks(products)) {
      add_eights<false>(operands, row);
    } else {
      add_eights<true>(operands, row);
    }

    EightsTaker taker(sums(), reinterpret_cast<std::uint8_t*>(marks()), entries, columns_out,
                      values_out);
    for_each_marked_line(products, TakeUsedAvx512{*this},
                         [&](std::int64_t line) { taker.take_line(line); });
    taker.take_listed();
  }

  template <bool Summarised>
  SORTIE_TARGET_AVX512 void add_eights(const Operands& operands, std::int64_t row) {
    const matrices::Csr<Value, Idx>& a = operands.a;
    const matrices::Csr<Value, Idx>& b = operands.b;
    const std::int64_t* const begins = operands.eights->begins();
    const Idx* const eights = operands.eights->words();
    const std::uint8_t* const masks = operands.eights->masks();
    Value* const sums = this->sums();
    auto* const marks = reinterpret_cast<std::uint8_t*>(this->marks());
    std::uint8_t* const used = used_.data();
    const std::int64_t end_a = a.row_ptr[row + 1];
    for (std::int64_t i = a.row_ptr[row]; i < end_a; ++i) {
      fetch_words_ahead(a, *operands.eights, i);
      fetch_ahead<true>(a, b, i);
      const std::int64_t k = a.col_idx[i];
      const std::int64_t end = begins[k + 1];
      add_row_by_eights<Summarised>(a.values[i], eights + begins[k], masks + begins[k],
                                    end - begins[k], b.values.data() + b.row_ptr[k], sums, marks,
                                    used);
    }
  }
#endif

  segsort::VectorUnit unit_;
  std::vector<Sums> sums_;
  std::vector<Line> marks_;
  std::vector<std::uint8_t> used_;
};

}  // namespace sortie::spgemm::host
