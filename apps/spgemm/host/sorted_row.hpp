// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "apps/spgemm/host/row_products.hpp"
#include "primitives/simd/register_sort.hpp"
#include "segsort/host/sort_segment.hpp"
#include "sortie/csr.hpp"

/// Rows of C by expansion, sorting and compression.
namespace sortie::spgemm::host {

/// Sums the products of equal columns, which are adjacent, in their order.
/// \param columns  n sorted columns
/// \param product  product(i) is the product of columns[i]
/// \return the number of different columns
template <class Key, class Product, class Value, class Idx>
std::int64_t compress_run(const Key* columns, std::int64_t n, const Product& product,
                          Idx* columns_out, Value* values_out) {
  Idx* const first = columns_out;
  for (std::int64_t i = 0; i < n;) {
    const Key column = columns[i];
    Value sum = product(i);
    for (++i; i < n && columns[i] == column; ++i) sum += product(i);
    *columns_out++ = static_cast<Idx>(column);
    *values_out++ = sum;
  }
  return columns_out - first;
}

template <class Key>
std::int64_t count_distinct(const Key* columns, std::int64_t n) {
  std::int64_t distinct = n > 0 ? 1 : 0;
  for (std::int64_t i = 1; i < n; ++i) distinct += columns[i] != columns[i - 1] ? 1 : 0;
  return distinct;
}

/// Counts the entries of rows of C and fills them, by expansion, sorting and compression; for one
/// thread.
/// Extra memory: two copies of the products of the longest row, for any number of columns.
template <matrices::Scalar Value, matrices::Index Idx>
class SortedRow {
 public:
  using Csr = matrices::Csr<Value, Idx>;
  using Key = std::make_unsigned_t<Idx>;

  static constexpr std::uint64_t bytes_per_product = 2 * (sizeof(Key) + sizeof(Value));

  explicit SortedRow(std::int64_t max_products)
      : keys_(max_products),
        key_scratch_(max_products),
        products_(max_products),
        product_scratch_(max_products) {}

  std::int64_t count(const Csr& a, const Csr& b, std::int64_t row) {
    Key* const keys = keys_.data();
    std::int64_t n = 0;
    for_each_product<false>(a, b, row, [&](Idx column) { keys[n++] = static_cast<Key>(column); });
    segsort::sort_segment(keys, n, key_scratch_.data());
    return count_distinct(keys, n);
  }

  /// Writes the row of C. \return its entries
  std::int64_t fill(const Csr& a, const Csr& b, std::int64_t row, Idx* columns_out,
                    Value* values_out) {
    Key* const keys = keys_.data();
    Value* const products = products_.data();
    std::int64_t n = 0;
    for_each_product(a, b, row, [&](Idx column, Value product) {
      keys[n] = static_cast<Key>(column);
      products[n++] = product;
    });
    segsort::sort_segment(Items{keys, products}, n,
                          Items{key_scratch_.data(), product_scratch_.data()});
    return compress_run(
        keys, n, [&](std::int64_t i) { return products[i]; }, columns_out, values_out);
  }

 private:
  std::vector<Key> keys_;
  std::vector<Key> key_scratch_;
  std::vector<Value> products_;
  std::vector<Value> product_scratch_;
};

class ShortRow;  // defined only if has_vector_code is true for double and int32

#ifdef SORTIE_HAVE_VECTOR_UNITS
SORTIE_BEGIN_INTRINSICS

/// Computes rows of C with up to 32 products, sorted in AVX-512 registers: one holds the first
/// sixteen keys, a second one the others. A key is a product's column in the upper bits and its
/// index within the row in the lower bits, so the sort is stable.
///
/// wing squared, 62 032 rows of 15 products, takes 11 ms on one core of an Intel Xeon (Sapphire
/// Rapids, virtual), and 24 ms with every row in SortedRow.
class ShortRow {
 public:
  using Csr = matrices::Csr<double, std::int32_t>;

  static constexpr std::int64_t most_products = 32;

  /// True if keys of this many columns fit 32 bits and the processor has AVX-512.
  static bool supports(std::int64_t cols) {
    return cols <= std::int64_t{1} << (32 - place_bits) && vector_unit() == VectorUnit::avx512;
  }

  /// Number of entries of the row of C. \pre the row has at most most_products products
  SORTIE_TARGET_AVX512 static std::int64_t count(const Csr& a, const Csr& b, std::int64_t row,
                                                 std::int64_t products) {
    const Sorted sorted = sort(expand<false>(a, b, row, products, nullptr), products);
    return std::popcount(sorted.heads);
  }

  /// Writes the row of C. \return its entries
  SORTIE_TARGET_AVX512 static std::int64_t fill(const Csr& a, const Csr& b, std::int64_t row,
                                                std::int64_t products, std::int32_t* columns_out,
                                                double* values_out) {
    // Padded for full-register stores behind the last product.
    alignas(64) std::array<double, most_products + eight> expanded;
    const Sorted sorted = sort(expand<true>(a, b, row, products, expanded.data()), products);

    // The distinct columns.
    const auto heads_low = static_cast<__mmask16>(sorted.heads);
    const auto heads_high = static_cast<__mmask16>(sorted.heads >> 16);
    const int in_low = std::popcount(static_cast<unsigned>(heads_low));
    const int in_high = std::popcount(static_cast<unsigned>(heads_high));
    _mm512_mask_storeu_epi32(
        columns_out, lowest(in_low),
        _mm512_maskz_compress_epi32(heads_low,
                                    _mm512_maskz_srli_epi32(all_lanes, sorted.low, place_bits)));
    if (products > lanes) {
      _mm512_mask_storeu_epi32(
          columns_out + in_low, lowest(in_high),
          _mm512_maskz_compress_epi32(heads_high,
                                      _mm512_maskz_srli_epi32(all_lanes, sorted.high, place_bits)));
    }

    if (products > lanes) {
      add_up<4>(sorted, products, expanded.data(), values_out);
    } else {
      add_up<2>(sorted, products, expanded.data(), values_out);
    }
    return in_low + in_high;
  }

 private:
  static constexpr int place_bits = 5;
  static constexpr std::int64_t lanes = 16;
  static constexpr std::int64_t eight = 8;
  // Full mask for the masked forms of instructions: the unmasked forms trigger a GCC 12 warning
  // about undefined values in its own headers.
  static constexpr __mmask16 all_lanes = 0xFFFF;

  /// Keys 0 .. 15 and 16 .. 31 of a row; all ones for unused lanes.
  struct Keys {
    __m512i low;
    __m512i high;
  };

  struct Sorted : Keys {
    std::uint32_t heads;  ///< bit i: key i is the first of its column
  };

  SORTIE_TARGET_AVX512 static __mmask16 lowest(int bits) {
    return static_cast<__mmask16>((1U << bits) - 1);
  }

  /// Writes the sums: a step adds the second products of all columns to the first ones, the next
  /// step the third ones, and so on. So the products of a column are added in their order, and
  /// there is no loop over columns, whose branches would often be mispredicted: wing squared takes
  /// 4.7 instead of 5.8 ms (Zen 4, one thread).
  /// \tparam Registers  of eight products
  template <int Registers>
  SORTIE_TARGET_AVX512 static void add_up(const Sorted& sorted, std::int64_t products,
                                          const double* expanded, double* values_out) {
    constexpr __mmask8 all = 0xFF;
    __m512d sums[Registers];
    __m512i next[Registers + 1];  // the products that follow
    for (int i = 0; i < Registers; ++i) {
      const __m512i keys = i < 2 ? sorted.low : sorted.high;
      // The instruction takes a constant, which i is only where the loop is unrolled.
      const __m256i half = i % 2 == 0 ? _mm512_maskz_extracti64x4_epi64(all, keys, 0)
                                      : _mm512_maskz_extracti64x4_epi64(all, keys, 1);
      const __m512i places = _mm512_maskz_cvtepu32_epi64(all, half);
      // The upper bits of an index are ignored.
      sums[i] = _mm512_permutex2var_pd(_mm512_load_pd(expanded), places,
                                       _mm512_load_pd(expanded + eight));
      if constexpr (Registers > 2) {
        const __mmask8 upper = _mm512_test_epi64_mask(places, _mm512_set1_epi64(lanes));
        sums[i] = _mm512_mask_blend_pd(
            upper, sums[i],
            _mm512_permutex2var_pd(_mm512_load_pd(expanded + 2 * eight), places,
                                   _mm512_load_pd(expanded + 3 * eight)));
      }
      next[i] = _mm512_castpd_si512(sums[i]);
    }
    next[Registers] = _mm512_setzero_si512();
    const auto used = static_cast<std::uint32_t>((std::uint64_t{1} << products) - 1);
    std::uint32_t following = ~sorted.heads & used;
    std::uint32_t heads = sorted.heads;  // of columns with a further product
    for (;;) {
      following >>= 1;
      heads &= following;
      if (heads == 0) break;
      for (int i = 0; i < Registers; ++i) {
        next[i] = _mm512_maskz_alignr_epi64(all, next[i + 1], next[i], 1);
        sums[i] = _mm512_mask_add_pd(sums[i], static_cast<__mmask8>(heads >> (eight * i)), sums[i],
                                     _mm512_castsi512_pd(next[i]));
      }
    }
    for (int i = 0; i < Registers; ++i) {
      const auto first = static_cast<__mmask8>(sorted.heads >> (eight * i));
      const int n = std::popcount(static_cast<unsigned>(first));
      _mm512_mask_storeu_pd(values_out, static_cast<__mmask8>(lowest(n)),
                            _mm512_maskz_compress_pd(first, sums[i]));
      values_out += n;
    }
  }

  /// Loads the columns of a row's products from B into registers, without gaps, and stores the
  /// products in `expanded`.
  template <bool WithProducts>
  SORTIE_TARGET_AVX512 static Keys expand(const Csr& a, const Csr& b, std::int64_t row,
                                          std::int64_t products, double* expanded) {
    const std::int32_t* const columns = b.col_idx.data();
    const double* const values = b.values.data();
    __m512i low = _mm512_setzero_si512();
    __m512i high = low;
    std::int64_t n = 0;
    const std::int64_t end_a = a.row_ptr[row + 1];
    for (std::int64_t i = a.row_ptr[row]; i < end_a; ++i) {
      fetch_row_ahead<WithProducts>(a, b, i);
      const std::int64_t k = a.col_idx[i];
      const std::int64_t begin = b.row_ptr[k];
      const std::int64_t length = b.row_ptr[k + 1] - begin;
      const auto places = static_cast<std::uint32_t>(((std::uint64_t{1} << length) - 1) << n);
      low = _mm512_mask_expandloadu_epi32(low, static_cast<__mmask16>(places), columns + begin);
      if (products > lanes) {
        const int in_low = std::popcount(places & 0xFFFF);
        high = _mm512_mask_expandloadu_epi32(high, static_cast<__mmask16>(places >> lanes),
                                             columns + begin + in_low);
      }
      if constexpr (WithProducts) {
        const __m512d factors = _mm512_set1_pd(a.values[i]);
        for (std::int64_t j = 0; j < length; j += eight) {
          const auto mask = static_cast<__mmask8>((1U << std::min(eight, length - j)) - 1);
          const __m512d entries = _mm512_maskz_loadu_pd(mask, values + begin + j);
          _mm512_storeu_pd(expanded + n + j, _mm512_maskz_mul_pd(mask, entries, factors));
        }
      }
      n += length;
    }
    const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto used = static_cast<std::uint32_t>((std::uint64_t{1} << products) - 1);
    const __m512i last = _mm512_set1_epi32(-1);
    return {key_of(low, places, last, static_cast<__mmask16>(used)),
            key_of(high, _mm512_or_si512(places, _mm512_set1_epi32(lanes)), last,
                   static_cast<__mmask16>(used >> lanes))};
  }

  SORTIE_TARGET_AVX512 static __m512i key_of(__m512i columns, __m512i places, __m512i unused,
                                             __mmask16 used) {
    return _mm512_mask_or_epi32(unused, used,
                                _mm512_maskz_slli_epi32(all_lanes, columns, place_bits), places);
  }

  SORTIE_TARGET_AVX512 static Sorted sort(const Keys& keys, std::int64_t products) {
    WideVector<std::uint32_t> rows[] = {{keys.low}, {keys.high}};
    if (products > lanes) {
      RegisterSort<std::uint32_t>::sort_rows<2>(rows);
    } else {
      RegisterSort<std::uint32_t>::sort_rows<1>(rows);
    }
    Sorted sorted{{rows[0].words, rows[1].words}, 0};
    const __m512i low = _mm512_maskz_srli_epi32(all_lanes, sorted.low, place_bits);
    const __m512i high = _mm512_maskz_srli_epi32(all_lanes, sorted.high, place_bits);
    // Compare each key's column with that of the key before it; no column is all ones.
    const __m512i before_low = _mm512_maskz_alignr_epi32(all_lanes, low, _mm512_set1_epi32(-1), 15);
    const __m512i before_high = _mm512_maskz_alignr_epi32(all_lanes, high, low, 15);
    const std::uint32_t heads = _mm512_cmpneq_epi32_mask(low, before_low) |
                                std::uint32_t{_mm512_cmpneq_epi32_mask(high, before_high)} << lanes;
    sorted.heads = heads & static_cast<std::uint32_t>((std::uint64_t{1} << products) - 1);
    return sorted;
  }
};

SORTIE_END_INTRINSICS
#endif

}  // namespace sortie::spgemm::host
