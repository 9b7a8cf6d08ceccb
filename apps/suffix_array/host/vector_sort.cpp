#include "sortie/apps/suffix_array/host/vector_sort.hpp"

#include <algorithm>
#include <bit>

#include "sortie/apps/suffix_array/host/vector_intrinsics.hpp"
#include "sortie/core/error.hpp"

namespace sortie::suffix_array::host {

#ifdef SORTIE_HAVE_VECTOR_UNITS

SORTIE_BEGIN_INTRINSICS

namespace {

#define SORTIE_INLINE_AVX512 \
  [[gnu::always_inline, gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi,bmi2,popcnt")]]
#define SORTIE_AVX512 [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi,bmi2,popcnt")]]

using Vector = __m512i;
constexpr std::uint64_t lanes = 8;

/// One step of a network: each lane is compared with that of `partner`, which is the same vector
/// permuted, and keeps the greater number where `upper` says so, else the lesser.
SORTIE_INLINE_AVX512 inline Vector exchange(Vector v, Vector partner, __mmask8 upper) {
  return _mm512_mask_max_epu64(_mm512_min_epu64(v, partner), upper, v, partner);
}

// Permutations, by the distance of the lanes that change places.
SORTIE_INLINE_AVX512 inline Vector swap_1(Vector v) {
  return _mm512_permutex_epi64(v, 0xB1);
}
SORTIE_INLINE_AVX512 inline Vector swap_2(Vector v) {
  return _mm512_permutex_epi64(v, 0x4E);
}
SORTIE_INLINE_AVX512 inline Vector swap_4(Vector v) {
  return _mm512_shuffle_i64x2(v, v, 0x4E);
}
SORTIE_INLINE_AVX512 inline Vector reverse_of_4(Vector v) {
  return _mm512_permutex_epi64(v, 0x1B);
}
SORTIE_INLINE_AVX512 inline Vector reverse_of_8(Vector v) {
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v);
}

/// A bitonic sequence becomes a sorted one.
SORTIE_INLINE_AVX512 inline Vector sorted_bitonic(Vector v) {
  v = exchange(v, swap_4(v), 0xF0);
  v = exchange(v, swap_2(v), 0xCC);
  return exchange(v, swap_1(v), 0xAA);
}

SORTIE_INLINE_AVX512 inline Vector sorted_8(Vector v) {
  v = exchange(v, swap_1(v), 0xAA);
  v = exchange(v, reverse_of_4(v), 0xCC);
  v = exchange(v, swap_1(v), 0xAA);
  v = exchange(v, reverse_of_8(v), 0xF0);
  v = exchange(v, swap_2(v), 0xCC);
  return exchange(v, swap_1(v), 0xAA);
}

/// A bitonic sequence of `Count` vectors becomes a sorted one.
template <int Count>
SORTIE_INLINE_AVX512 inline void sort_bitonic(Vector* v) {
  if constexpr (Count == 1) {
    v[0] = sorted_bitonic(v[0]);
  } else {
#pragma GCC unroll 8
    for (int i = 0; i < Count / 2; ++i) {
      const Vector lesser = _mm512_min_epu64(v[i], v[i + Count / 2]);
      v[i + Count / 2] = _mm512_max_epu64(v[i], v[i + Count / 2]);
      v[i] = lesser;
    }
    sort_bitonic<Count / 2>(v);
    sort_bitonic<Count / 2>(v + Count / 2);
  }
}

/// Merges two sorted sequences of `Count` vectors each, one behind the other.
template <int Count>
SORTIE_INLINE_AVX512 inline void merge(Vector* v) {
  Vector descending[Count];
#pragma GCC unroll 8
  for (int i = 0; i < Count; ++i) descending[i] = reverse_of_8(v[2 * Count - 1 - i]);
#pragma GCC unroll 8
  for (int i = 0; i < Count; ++i) {
    v[Count + i] = _mm512_max_epu64(v[i], descending[i]);
    v[i] = _mm512_min_epu64(v[i], descending[i]);
  }
  sort_bitonic<Count>(v);
  sort_bitonic<Count>(v + Count);
}

template <int Count>
SORTIE_INLINE_AVX512 inline void sort_vectors(Vector* v) {
  if constexpr (Count == 1) {
    v[0] = sorted_8(v[0]);
  } else {
    sort_vectors<Count / 2>(v);
    sort_vectors<Count / 2>(v + Count / 2);
    merge<Count / 2>(v);
  }
}

/// The first min(n, lanes) lanes.
SORTIE_INLINE_AVX512 inline __mmask8 first_lanes(std::uint64_t n) {
  return static_cast<__mmask8>(_bzhi_u32(0xFF, static_cast<unsigned>(std::min(n, lanes))));
}

/// Reads numbers [begin, n), as far as `Count` vectors hold them; the greatest number stands for
/// those that are not there.
template <int Count>
SORTIE_INLINE_AVX512 inline void load_up_to(const std::uint64_t* in, std::uint64_t begin,
                                            std::uint64_t n, Vector* v) {
#pragma GCC unroll 8
  for (int i = 0; i < Count; ++i, begin += lanes) {
    const std::uint64_t left = begin < n ? n - begin : 0;
    v[i] = _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), first_lanes(left), in + begin);
  }
}

template <int Count>
SORTIE_INLINE_AVX512 inline void store_up_to(std::uint64_t* out, std::uint64_t begin,
                                             std::uint64_t n, const Vector* v) {
#pragma GCC unroll 8
  for (int i = 0; i < Count; ++i, begin += lanes) {
    const std::uint64_t left = begin < n ? n - begin : 0;
    _mm512_mask_storeu_epi64(out + begin, first_lanes(left), v[i]);
  }
}

template <int Count>
SORTIE_INLINE_AVX512 inline void sort_at_once(const std::uint64_t* in, std::uint64_t* out,
                                              std::uint64_t n) {
  Vector v[Count];
  load_up_to<Count>(in, 0, n, v);
  sort_vectors<Count>(v);
  store_up_to<Count>(out, 0, n, v);
}

constexpr int window_vectors = static_cast<int>(vector_window / lanes);

SORTIE_AVX512 void sort_parts_avx512(const std::uint64_t* in, std::uint64_t* out, std::uint64_t n) {
  if (n <= lanes) return sort_at_once<1>(in, out, n);
  if (n <= 2 * lanes) return sort_at_once<2>(in, out, n);
  Vector v[2 * window_vectors];
  load_up_to<window_vectors>(in, 0, n, v);
  sort_vectors<window_vectors>(v);
  std::uint64_t done = 0;
  for (; done + vector_window < n; done += vector_window) {
    const std::uint64_t next = done + vector_window;
    if (next + vector_window <= n) {
#pragma GCC unroll 8
      for (int i = 0; i < window_vectors; ++i) {
        v[window_vectors + i] =
            _mm512_loadu_si512(in + next + static_cast<std::uint64_t>(i) * lanes);
      }
    } else {
      load_up_to<window_vectors>(in, next, n, v + window_vectors);
    }
    sort_vectors<window_vectors>(v + window_vectors);
    merge<window_vectors>(v);
#pragma GCC unroll 8
    for (int i = 0; i < window_vectors; ++i) {
      _mm512_storeu_si512(out + done + static_cast<std::uint64_t>(i) * lanes, v[i]);
      v[i] = v[window_vectors + i];
    }
  }
  store_up_to<window_vectors>(out, done, n, v);
}

/// What a division found.
struct Division {
  std::uint64_t lesser;     ///< how many numbers are not above the pivot; these come first now
  std::uint64_t differing;  ///< bits in which one of them differs from the pivot
};

/// Numbers on their way to the lower or the upper end of a room between them.
class DividedEnds {
 public:
  SORTIE_AVX512 DividedEnds(std::uint64_t* elements, std::uint64_t n, std::uint64_t last)
      : low(elements),
        high(elements + n),
        pivot_(_mm512_set1_epi64(static_cast<long long>(last))),
        differing_(_mm512_setzero_si512()) {}

  /// Writes the first `count` lanes, at most 8.
  SORTIE_INLINE_AVX512 void put(Vector v, std::uint64_t count) {
    const __mmask8 there = first_lanes(count);
    const __mmask8 below = _mm512_mask_cmple_epu64_mask(there, v, pivot_);
    const auto above = static_cast<__mmask8>(there & ~below);
    const auto lesser = static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(below)));
    differing_ = _mm512_mask_or_epi64(differing_, below, differing_, _mm512_xor_si512(v, pivot_));
    _mm512_mask_storeu_epi64(low, first_lanes(lesser), _mm512_maskz_compress_epi64(below, v));
    low += lesser;
    high -= count - lesser;
    _mm512_mask_storeu_epi64(high, first_lanes(count - lesser),
                             _mm512_maskz_compress_epi64(above, v));
  }
  SORTIE_AVX512 [[nodiscard]] std::uint64_t differing() const {
    return static_cast<std::uint64_t>(_mm512_reduce_or_epi64(differing_));
  }

  std::uint64_t* low;   ///< end of the numbers not above the pivot
  std::uint64_t* high;  ///< begin of the others

 private:
  Vector pivot_;
  Vector differing_;
};

/// Brings the numbers that are not above `last` before all others, in place (n at least 1): some of
/// both ends wait elsewhere, and what is read next is from the end with less room, so that both
/// have enough.
SORTIE_AVX512 Division divide(std::uint64_t* elements, std::uint64_t n, std::uint64_t last) {
  // So many at a time that it does not matter how long the choice of an end takes.
  constexpr std::uint64_t block = 4 * lanes;
  Vector waiting[3 * block / lanes];
  std::uint64_t waiting_vectors = 0;
  DividedEnds ends(elements, n, last);
  const std::uint64_t* left = elements;  // what is still to be read
  const std::uint64_t* right = elements + n;
  if (n >= 2 * block) {
    right -= block;
#pragma GCC unroll 4
    for (std::uint64_t i = 0; i < block / lanes; ++i) {
      waiting[i] = _mm512_loadu_si512(left + i * lanes);
      waiting[block / lanes + i] = _mm512_loadu_si512(right + i * lanes);
    }
    waiting_vectors = 2 * block / lanes;
    left += block;
    while (static_cast<std::uint64_t>(right - left) >= block) {
      const bool from_left = left - ends.low <= ends.high - right;
      const std::uint64_t* from = left;
      if (from_left) {
        left += block;
      } else {
        right -= block;
        from = right;
      }
      Vector v[block / lanes];
#pragma GCC unroll 4
      for (std::uint64_t i = 0; i < block / lanes; ++i) {
        v[i] = _mm512_loadu_si512(from + i * lanes);
      }
#pragma GCC unroll 4
      for (std::uint64_t i = 0; i < block / lanes; ++i) ends.put(v[i], lanes);
    }
  }
  // The last vector may be a part of one.
  std::uint64_t last_count = lanes;
  for (; left < right; left += lanes) {
    last_count = std::min(lanes, static_cast<std::uint64_t>(right - left));
    waiting[waiting_vectors++] = _mm512_maskz_loadu_epi64(first_lanes(last_count), left);
  }
  for (std::uint64_t i = 0; i + 1 < waiting_vectors; ++i) ends.put(waiting[i], lanes);
  ends.put(waiting[waiting_vectors - 1], last_count);
  return {static_cast<std::uint64_t>(ends.low - elements), ends.differing()};
}

/// The least and the median of eight numbers, evenly spaced.
struct Sample {
  std::uint64_t least;
  std::uint64_t median;
};

SORTIE_AVX512 Sample sample_of(const std::uint64_t* elements, std::uint64_t n) {
  const std::uint64_t step = n / lanes;
  const Vector places =
      _mm512_add_epi64(_mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
                                          _mm512_set1_epi64(static_cast<long long>(step))),
                       _mm512_set1_epi64(static_cast<long long>(step / 2)));
  const Vector sorted = sorted_8(_mm512_i64gather_epi64(places, elements, 8));
  alignas(64) std::uint64_t numbers[lanes];
  _mm512_store_si512(numbers, sorted);
  return {numbers[0], numbers[lanes / 2]};
}

}  // namespace

SORTIE_END_INTRINSICS

void sort_parts(const std::uint64_t* in, std::uint64_t* out, std::uint64_t n) {
  sort_parts_avx512(in, out, n);
}

bool sort_by_pivots(std::uint64_t* elements, std::uint64_t n, int key_shift, int levels) {
  const std::uint64_t below_key = (std::uint64_t{1} << key_shift) - 1;
  while (n > vector_window) {
    if (levels-- == 0) return false;
    // What is below the key of the median comes first, or, where that may be the least key, what
    // has this key.
    const Sample sample = sample_of(elements, n);
    const std::uint64_t key = sample.median & ~below_key;
    const bool may_be_least = sample.least >= key;
    const std::uint64_t last = may_be_least ? key | below_key : key - 1;
    const Division division = divide(elements, n, last);
    std::uint64_t* const others = elements + division.lesser;
    const std::uint64_t rest = n - division.lesser;
    // Parts of one key are done.
    const bool is_done = division.differing >> key_shift == 0;
    if (may_be_least && !is_done && rest == 0) {
      // It was the greatest, too frequent for the sample to have another.
      n = divide(elements, n, key - 1).lesser;
      continue;
    }
    // The shorter part by a call, so that these are few.
    if (is_done || division.lesser <= rest) {
      if (!is_done && !sort_by_pivots(elements, division.lesser, key_shift, levels)) {
        return false;
      }
      elements = others;
      n = rest;
    } else {
      if (!sort_by_pivots(others, rest, key_shift, levels)) return false;
      n = division.lesser;
    }
  }
  sort_parts_avx512(elements, elements, n);
  return true;
}

#else

namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::unavailable, "sort by vectors: found a processor without AVX-512");
}

}  // namespace

void sort_parts(const std::uint64_t*, std::uint64_t*, std::uint64_t) {
  refuse();
}
bool sort_by_pivots(std::uint64_t*, std::uint64_t, int, int) {
  refuse();
}

#endif

}  // namespace sortie::suffix_array::host
