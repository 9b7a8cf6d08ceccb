#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

#include "sortie/apps/spgemm/host/neutral_of_sums.hpp"
#include "sortie/matrices/csr.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS
#include <immintrin.h>
#endif

/// Eight columns of an accumulator at a time, by the instructions of AVX-512 that move the entries
/// of a sparse row to the lanes that a mask names, and back: no loop of plain code becomes these.
///
/// A sum gets the same products in the same order as one by one, and a lane without a product is
/// left as it is, so the bits are the same.

namespace sortie::spgemm::host {

/// True for the types that the functions below are for.
template <matrices::Scalar Value, matrices::Index Idx>
inline constexpr bool has_eight_columns =
#ifdef SORTIE_HAVE_VECTOR_UNITS
    std::same_as<Value, double>&& std::same_as<Idx, std::int32_t>;
#else
    false;
#endif

#ifdef SORTIE_HAVE_VECTOR_UNITS

/// sums[8 * eights[e] + b] += factor * the next of `values`, for every bit b of masks[e], e below
/// n. \pre `sums` begins a cache line
template <class Idx>
SORTIE_TARGET_AVX512 inline void add_row_by_eights(double factor, const Idx* eights,
                                                   const std::uint8_t* masks, std::int64_t n,
                                                   const double* values, double* sums) {
  const __m512d factors = _mm512_set1_pd(factor);
  // Added to the lanes without a product. (A store of some lanes alone would make a load of all of
  // them, by the next row of B, wait until it has reached the cache.)
  const __m512d neutral = _mm512_set1_pd(neutral_of_sums<double>());
  for (std::int64_t e = 0; e < n; ++e) {
    const __mmask8 mask = masks[e];
    double* const eight = sums + 8 * static_cast<std::int64_t>(eights[e]);
    const __m512d entries = _mm512_maskz_expandloadu_pd(mask, values);
    const __m512d products = _mm512_mask_mul_pd(neutral, mask, entries, factors);
    _mm512_store_pd(eight, _mm512_add_pd(_mm512_load_pd(eight), products));
    values += std::popcount(static_cast<unsigned>(mask));
  }
}

/// Moves the sums of the marked ones of 64 columns to the output, from left to right, and clears
/// them. \param sums   of the 64 columns, those without a mark neutral
/// \param first  number of the first of them
/// \pre the output has room for 72 entries
SORTIE_TARGET_AVX512 inline void take_sums_by_eights(double* sums, std::int64_t first,
                                                     std::uint64_t marks,
                                                     std::int32_t*& columns_out,
                                                     double*& values_out) {
  const __m512d neutral = _mm512_set1_pd(neutral_of_sums<double>());
  __m256i columns = _mm256_add_epi32(_mm256_set1_epi32(static_cast<std::int32_t>(first)),
                                     _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  std::int32_t* to_columns = columns_out;
  double* to_values = values_out;
  for (int eight = 0; eight < 8; ++eight) {
    const auto mask = static_cast<__mmask8>(marks >> (8 * eight));
    _mm512_storeu_pd(to_values, _mm512_maskz_compress_pd(mask, _mm512_load_pd(sums + 8 * eight)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to_columns),
                        _mm256_maskz_compress_epi32(mask, columns));
    _mm512_store_pd(sums + 8 * eight, neutral);
    const int taken = std::popcount(static_cast<unsigned>(mask));
    to_values += taken;
    to_columns += taken;
    columns = _mm256_add_epi32(columns, _mm256_set1_epi32(8));
  }
  columns_out = to_columns;
  values_out = to_values;
}

#endif

}  // namespace sortie::spgemm::host
