// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <utility>

#include "apps/spgemm/host/row_products.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "sortie/csr.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS
#include <immintrin.h>
#endif

/// Byte-masked column blocks: eight aligned columns of an accumulator at a time, with the AVX-512
/// instructions that expand packed entries to the lanes of a mask and compress them back. Compilers
/// do not auto-vectorise to these.
///
/// A sum receives the same products in the same order as one at a time, and a lane without a
/// product is unchanged, so results are bitwise equal.

namespace sortie::spgemm::host {

template <matrices::Scalar Value, matrices::Index Idx>
inline constexpr bool has_masked_blocks =
#ifdef SORTIE_HAVE_VECTOR_UNITS
    std::same_as<Value, double>&& std::same_as<Idx, std::int32_t>;
#else
    false;
#endif

#ifdef SORTIE_HAVE_VECTOR_UNITS

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
  MaskedBlockReader(double* sums, std::uint8_t* marks, std::int64_t entries,
                    std::int32_t* columns_out, double* values_out)
      : sums_(sums),
        marks_(marks),
        columns_out_(columns_out),
        end_(columns_out + entries),
        values_out_(values_out) {}

  /// Lists the marked blocks of columns 512 * line .. 512 * line + 511. Moves a full list.
  SORTIE_TARGET_AVX512 void take_line(std::int64_t line) {
    const __m512i marks = _mm512_load_si512(marks_ + 64 * line);
    const std::uint64_t some = _mm512_test_epi8_mask(marks, marks);
    if (some == 0) return;
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

 private:
  static constexpr std::int64_t max_listed = 1024;

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

}  // namespace sortie::spgemm::host
