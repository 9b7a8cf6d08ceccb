// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "apps/spgemm/host/column_words.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "sortie/csr.hpp"

namespace sortie::spgemm::host {

#ifdef SORTIE_HAVE_VECTOR_UNITS

// Byte-masked column blocks: eight aligned columns of an accumulator at a time, with the AVX-512
// instructions that expand packed entries to the lanes of a mask and compress them back. Compilers
// do not auto-vectorise to these.
//
// A sum receives the same products in the same order as one at a time, and a lane without a
// product is unchanged, so results are bitwise equal.

/// For every block e < n and every bit b of masks[e], in ascending order: adds factor times the
/// next element of `values` to sums[8 * blocks[e] + b]. Sets the same bits in marks[blocks[e]].
/// \tparam Summarised  also sets used[blocks[e] / 64] to 1
/// \pre `sums` is aligned to a cache line
template <bool Summarised, class Idx>
SORTIE_TARGET_AVX512 inline void add_row_by_blocks(double factor, const Idx* blocks,
                                                   const std::uint8_t* masks, std::int64_t n,
                                                   const double* values, double* sums,
                                                   std::uint8_t* marks, std::uint8_t* used) {
  const __m512d factors = _mm512_set1_pd(factor);
  // Added to lanes without a product. A masked store would delay the full-width load of the same
  // block for the next row of B until the store has reached the cache.
  const __m512d neutral = _mm512_set1_pd(additive_identity<double>());
  for (std::int64_t e = 0; e < n; ++e) {
    const __mmask8 mask = masks[e];
    const auto number = static_cast<std::int64_t>(blocks[e]);
    double* const eight = sums + 8 * number;
    const __m512d entries = _mm512_maskz_expandloadu_pd(mask, values);
    const __m512d products = _mm512_mask_mul_pd(neutral, mask, entries, factors);
    _mm512_store_pd(eight, _mm512_add_pd(_mm512_load_pd(eight), products));
    marks[number] |= masks[e];
    if constexpr (Summarised) used[number >> 6] = 1;
    values += std::popcount(static_cast<unsigned>(mask));
  }
}

/// Moves the sums of marked columns to a row of the output in ascending order. Resets sums and
/// marks. The numbers of marked blocks are listed first; then a loop without data-dependent
/// branches moves the sums. Memory: 4 KiB of stack.
class MaskedBlockReader {
 public:
  /// \param sums     additive_identity() in columns without a mark
  /// \param marks    one byte per block of eight columns
  /// \param capacity elements of the output that may be written
  MaskedBlockReader(double* sums, std::uint8_t* marks, std::int32_t* columns_out,
                    double* values_out, std::int64_t capacity)
      : sums_(sums),
        marks_(marks),
        columns_out_(columns_out),
        end_(columns_out + capacity),
        values_out_(values_out) {}

  /// Lists the marked blocks of columns 512 * line .. 512 * line + 511. Moves a full list.
  SORTIE_TARGET_AVX512 void take_line(std::int64_t line) {
    const __m512i marks = _mm512_load_si512(marks_ + 64 * line);
    const std::uint64_t some = _mm512_test_epi8_mask(marks, marks);
    if (some == 0) return;
    const int blocks = std::popcount(some);
    if (blocks <= few_blocks) {
      // Numbers behind the last are overwritten or not read.
      std::uint64_t left = some;
      for (int i = 0; i < few_blocks; ++i, left &= left - 1)
        listed_[n_ + i] = static_cast<std::int32_t>(64 * line + std::countr_zero(left));
      n_ += blocks;
      if (n_ > max_listed - 64) take_listed();
      return;
    }
    __m512i numbers =
        _mm512_add_epi32(_mm512_set1_epi32(static_cast<std::int32_t>(64 * line)),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (int part = 0; part < 4; ++part) {
      const auto mask = static_cast<__mmask16>(some >> (16 * part));
      _mm512_storeu_si512(listed_.data() + n_, _mm512_maskz_compress_epi32(mask, numbers));
      n_ += std::popcount(static_cast<unsigned>(mask));
      numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
    }
    if (n_ > max_listed - 64) take_listed();
  }

  SORTIE_TARGET_AVX512 void take_listed() {
    const __m512d neutral = _mm512_set1_pd(additive_identity<double>());
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    std::int32_t* columns_out = columns_out_;
    double* values_out = values_out_;
    for (std::int64_t i = 0; i < n_; ++i) {
      const std::int32_t number = listed_[i];
      const __mmask8 mask = std::exchange(marks_[number], 0);
      double* const eight = sums_ + 8 * static_cast<std::int64_t>(number);
      const __m512d values = _mm512_maskz_compress_pd(mask, _mm512_load_pd(eight));
      const __m256i columns =
          _mm256_maskz_compress_epi32(mask, _mm256_add_epi32(_mm256_set1_epi32(8 * number), lanes));
      _mm512_store_pd(eight, neutral);
      if (end_ - columns_out >= 8) {
        // Lanes behind the entries of the block are overwritten by the following entries.
        _mm512_storeu_pd(values_out, values);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(columns_out), columns);
      } else {
        const auto row = static_cast<__mmask8>((1U << (end_ - columns_out)) - 1);
        _mm512_mask_storeu_pd(values_out, row, values);
        _mm256_mask_storeu_epi32(columns_out, row, columns);
      }
      const int taken = std::popcount(static_cast<unsigned>(mask));
      columns_out += taken;
      values_out += taken;
    }
    n_ = 0;
    columns_out_ = columns_out;
    values_out_ = values_out;
  }

  /// Where the next column would be written.
  [[nodiscard]] const std::int32_t* columns_out() const { return columns_out_; }

 private:
  static constexpr std::int64_t max_listed = 1024;
  // Up to this many marked blocks of a line are listed one at a time, which makes dblp-2010 and
  // cnr-2000 squared 5 % faster (Zen 4, one thread).
  static constexpr int few_blocks = 4;

  double* sums_;
  std::uint8_t* marks_;
  std::int32_t* columns_out_;
  std::int32_t* end_;
  double* values_out_;
  std::int64_t n_ = 0;
  /// Block numbers. Stores of full registers may write behind the last number.
  std::array<std::int32_t, max_listed> listed_;
};

#endif

/// Computes rows of C with a dense accumulator of one element per column; for one thread.
///
/// Work space (reset between rows):
///   sums_    cols        Value            sums; additive_identity() in columns without a sum
///   marks_   cols / 512  lines (64 bytes) bitmap of the columns that have a sum
///   used_    cols / 512  bytes            1 for lines of marks_ that are not zero; only for rows
///                                         with too few products to traverse all of marks_
/// The columns are read from marks_ in ascending order. Columns are marked a 64-bit word at a time
/// if RowOperands::words exist, and marked and summed eight at a time if byte_blocks exist. The
/// order of the products of one column remains that of for_each_product(). A line is as wide as an
/// AVX-512 register. `used_` has bytes instead of bits, because a byte is set without reading
/// it; with bits, products in neighbouring columns would depend on each other.
/// Source: Gustavson: Two Fast Algorithms for Sparse Matrices (ACM TOMS 1978) for the accumulator.
template <matrices::Scalar Value, matrices::Index Idx>
class DenseRow {
 public:
  using Operands = RowOperands<Value, Idx>;

  explicit DenseRow(std::int64_t cols)
      : unit_(vector_unit()), marks_(lines(cols)), used_(padded_lines(cols)) {
    // In large pages, since consecutive products access distant columns.
    reserve_large_pages(sums_, padded(cols) / Sums::size);
    sums_.resize(padded(cols) / Sums::size);
  }

  static std::uint64_t bytes(std::int64_t cols) {
    return padded(cols) * sizeof(Value) + sizeof(Line) * lines(cols) + padded_lines(cols);
  }

  /// True if fill() uses RowOperands::byte_blocks on this processor.
  static bool uses_byte_blocks() {
    return has_vector_code<Value, Idx> && vector_unit() == VectorUnit::avx512;
  }

  /// Number of entries of the row of C.
  std::int64_t count(const Operands& operands, std::int64_t row, std::int64_t products) {
    mark_row(operands, row, products);
#ifdef SORTIE_HAVE_VECTOR_UNITS
    if (unit_ == VectorUnit::avx512) return take_marks_avx512(products);
#endif
    return unit_ == VectorUnit::baseline ? take_marks(products, TakeUsed{*this})
                                         : take_marks_avx2(products);
  }

  /// Writes the row of C.
  /// \param capacity  elements of the output that may be written, at least the entries of the row
  /// \return its entries
  std::int64_t fill(const Operands& operands, std::int64_t row, std::int64_t products,
                    Idx* columns_out, Value* values_out, std::int64_t capacity) {
    if constexpr (has_vector_code<Value, Idx>) {
      if (unit_ == VectorUnit::avx512)
        return fill_avx512(operands, row, products, columns_out, values_out, capacity);
    }
    const Idx* const first = columns_out;
    add_products(operands, row, products);
    Value* const sums = this->sums();
    for_each_marked_line(products, TakeUsed{*this}, [&](std::int64_t line) {
      for (std::int64_t i = 0; i < Line::size; ++i) {
        std::uint64_t left = std::exchange(marks_[line].of[i], 0);
        for (; left != 0; left &= left - 1) {
          const std::int64_t column = 64 * (Line::size * line + i) + std::countr_zero(left);
          *columns_out++ = static_cast<Idx>(column);
          *values_out++ = std::exchange(sums[column], additive_identity<Value>());
        }
      }
    });
    return columns_out - first;
  }

 private:
  /// Sums of a cache line, so that eight aligned sums of 8 bytes never span two lines.
  struct alignas(64) Sums {
    Sums() { std::fill(std::begin(of), std::end(of), additive_identity<Value>()); }
    static constexpr std::int64_t size = 64 / sizeof(Value);
    Value of[size];
  };
  [[nodiscard]] Value* sums() {
    return sums_.data()->of;
  }

  /// Bits of 512 columns.
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
  /// Rounded up to the 64 lines that are tested together.
  static std::int64_t padded_lines(std::int64_t cols) {
    return (lines(cols) + 63) / 64 * 64;
  }

  // Traversing a line costs about as much as setting its byte for this many products.
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
      for_each_product<false>(a, operands.b, row, [&](Idx column) {
        mark<Summarised>(column >> 6, std::uint64_t{1} << (column & 63));
      });
      return;
    }
    const std::int64_t* const begins = operands.words->begins();
    const Idx* const words = operands.words->words();
    const std::uint64_t* const masks = operands.words->masks();
    const std::int64_t end_a = a.row_ptr[row + 1];
    for (std::int64_t i = a.row_ptr[row]; i < end_a; ++i) {
      fetch_ahead(a, i, begins, words, masks);
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

  /// Adds the products and marks their columns: in one loop, unless B's words mark several columns
  /// at a time.
  void add_products(const Operands& operands, std::int64_t row, std::int64_t products) {
    Value* const sums = this->sums();
    if (operands.words.has_value()) {
      mark_row(operands, row, products);
      for_each_product(operands.a, operands.b, row,
                       [&](Idx column, Value product) { sums[column] += product; });
    } else if (walks_all_marks(products)) {
      add_and_mark<false>(operands, row);
    } else {
      add_and_mark<true>(operands, row);
    }
  }

  template <bool Summarised>
  void add_and_mark(const Operands& operands, std::int64_t row) {
    Value* const sums = this->sums();
    for_each_product(operands.a, operands.b, row, [&](Idx column, Value product) {
      sums[column] += product;
      mark<Summarised>(column >> 6, std::uint64_t{1} << (column & 63));
    });
  }

  /// Returns which of lines first .. first + 63 are used, as bits, and clears their bytes.
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

  /// Calls body(line) in ascending order for every line with marks, and possibly for lines without,
  /// and clears used_. \param take_used  as TakeUsed
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

  template <class Take>
  [[gnu::always_inline]] std::int64_t take_marks(std::int64_t products, const Take& take_used) {
    std::int64_t n = 0;
    for_each_marked_line(products, take_used, [&](std::int64_t line) {
      for (std::uint64_t& marks : marks_[line].of) n += std::popcount(std::exchange(marks, 0));
    });
    return n;
  }

  // The popcnt instruction is available with AVX2.
  SORTIE_TARGET_AVX2 std::int64_t take_marks_avx2(std::int64_t products) {
    return take_marks(products, TakeUsed{*this});
  }

#ifdef SORTIE_HAVE_VECTOR_UNITS
  /// Like TakeUsed.
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

  SORTIE_TARGET_AVX512 std::int64_t fill_avx512(const Operands& operands, std::int64_t row,
                                                std::int64_t products, Idx* columns_out,
                                                Value* values_out, std::int64_t capacity) {
    if (!operands.byte_blocks.has_value()) {
      add_products(operands, row, products);
    } else if (walks_all_marks(products)) {
      add_byte_blocks<false>(operands, row);
    } else {
      add_byte_blocks<true>(operands, row);
    }

    MaskedBlockReader taker(sums(), reinterpret_cast<std::uint8_t*>(marks()), columns_out,
                            values_out, capacity);
    for_each_marked_line(products, TakeUsedAvx512{*this},
                         [&](std::int64_t line) { taker.take_line(line); });
    taker.take_listed();
    return taker.columns_out() - columns_out;
  }

  template <bool Summarised>
  SORTIE_TARGET_AVX512 void add_byte_blocks(const Operands& operands, std::int64_t row) {
    const matrices::Csr<Value, Idx>& a = operands.a;
    const matrices::Csr<Value, Idx>& b = operands.b;
    const std::int64_t* const begins = operands.byte_blocks->begins();
    const Idx* const byte_blocks = operands.byte_blocks->words();
    const std::uint8_t* const masks = operands.byte_blocks->masks();
    Value* const sums = this->sums();
    auto* const marks = reinterpret_cast<std::uint8_t*>(this->marks());
    std::uint8_t* const used = used_.data();
    const std::int64_t end_a = a.row_ptr[row + 1];
    for (std::int64_t i = a.row_ptr[row]; i < end_a; ++i) {
      fetch_ahead(a, i, begins, byte_blocks, masks);
      fetch_row_ahead<true>(a, b, i);
      const std::int64_t k = a.col_idx[i];
      const std::int64_t end = begins[k + 1];
      add_row_by_blocks<Summarised>(a.values[i], byte_blocks + begins[k], masks + begins[k],
                                    end - begins[k], b.values.data() + b.row_ptr[k], sums, marks,
                                    used);
    }
  }
#endif

  VectorUnit unit_;
  std::vector<Sums> sums_;
  std::vector<Line> marks_;
  std::vector<std::uint8_t> used_;
};

}  // namespace sortie::spgemm::host
