// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Detects the vector instructions of the processor at run time, and compiles functions for them.
///
/// A function is compiled for several kinds of processor by an always-inlined body, written as
/// plain loops that the compiler vectorises, and one wrapper per kind that calls the body. (Loops
/// rather than vector types: vector types are lowered for the baseline processor before the body is
/// inlined.)

#if defined(__x86_64__) && defined(__GNUC__)
#define SORTIE_HAVE_VECTOR_UNITS 1
#define SORTIE_TARGET_AVX2 [[gnu::target("avx2,bmi,bmi2")]]
#if defined(__clang__)
#define SORTIE_TARGET_AVX512 [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi,bmi2")]]
#else
// By default GCC prefers vectors of half this width.
#define SORTIE_TARGET_AVX512 \
  [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi,bmi2,prefer-vector-width=512")]]
#endif
#else
#define SORTIE_TARGET_AVX2
#define SORTIE_TARGET_AVX512
#endif

/// Functions that are inlined into others with SORTIE_TARGET_AVX2 and SORTIE_TARGET_AVX512.
#define SORTIE_INLINE_AVX2 [[gnu::always_inline]] SORTIE_TARGET_AVX2 inline
#define SORTIE_INLINE_AVX512 [[gnu::always_inline]] SORTIE_TARGET_AVX512 inline

/// Precedes a loop whose iterations are independent, which the compiler cannot prove. Clang checks
/// this at run time.
#if defined(__GNUC__) && !defined(__clang__)
#define SORTIE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define SORTIE_INDEPENDENT_ITERATIONS
#endif

/// Intrinsics, for operations that compilers do not generate from plain loops: permutations,
/// compression, gathers.
#ifdef SORTIE_HAVE_VECTOR_UNITS
#include <immintrin.h>

/// Enclose functions that use intrinsics. In the headers of GCC 12, lanes that no mask selects are
/// left uninitialised, and GCC warns where these functions are inlined (GCC bug 105593).
#if defined(__clang__)
#define SORTIE_BEGIN_INTRINSICS
#define SORTIE_END_INTRINSICS
#else
#define SORTIE_BEGIN_INTRINSICS                                                        \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wuninitialized\"") \
      _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")
#define SORTIE_END_INTRINSICS _Pragma("GCC diagnostic pop")
#endif
#endif

namespace sortie {

/// Kinds of processor that some functions are compiled for. Each includes the instructions of those
/// before it.
enum class VectorUnit {
  baseline,  ///< every processor of the architecture; x86-64 and ARMv8: four 32-bit lanes
  avx2,
  avx512,  ///< with its VL, BW and DQ extensions
};

/// The kind of the processor that runs the program.
[[nodiscard]] inline VectorUnit vector_unit() {
#ifdef SORTIE_HAVE_VECTOR_UNITS
  static const VectorUnit unit = [] {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
      return VectorUnit::baseline;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    return wide ? VectorUnit::avx512 : VectorUnit::avx2;
  }();
  return unit;
#else
  return VectorUnit::baseline;
#endif
}

template <class Body>
SORTIE_TARGET_AVX512 void run_with_avx512(Body body) {
  body();
}

/// Calls `body`, a lambda of plain loops with the attribute always_inline, compiled with AVX-512 if
/// that is the unit. It captures by value: no store of the loop can then change what it captured.
template <class Body>
void run_on_unit(VectorUnit unit, Body body) {
  if (unit == VectorUnit::avx512) return run_with_avx512(body);
  body();
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
SORTIE_BEGIN_INTRINSICS

/// For each set of `Lanes` bits, the lanes whose bits are set, then the others, both in ascending
/// order: one byte for each part of a lane, of which it has `Parts`. 2 KiB for eight lanes.
template <std::size_t Lanes, std::size_t Parts>
inline constexpr std::array<std::uint64_t, std::size_t{1} << Lanes> parting_orders = [] {
  std::array<std::uint64_t, std::size_t{1} << Lanes> orders{};
  for (std::size_t bits = 0; bits < orders.size(); ++bits) {
    std::size_t place = 0;
    for (const std::size_t wanted : {1, 0}) {
      for (std::size_t lane = 0; lane < Lanes; ++lane) {
        if ((bits >> lane & 1) != wanted) continue;
        for (std::size_t part = 0; part < Parts; ++part, ++place)
          orders[bits] |= std::uint64_t{lane * Parts + part} << 8 * place;
      }
    }
  }
  return orders;
}();

/// An AVX-512 register of words of 32 or 64 bits: the instructions that sort_words() needs.
///
/// A mask has one bit per lane. Functions that use WideVector must be compiled for
/// SORTIE_TARGET_AVX512 and run only if vector_unit() is VectorUnit::avx512.
template <std::unsigned_integral Word>
requires(sizeof(Word) == 4 || sizeof(Word) == 8) struct WideVector {
  static constexpr std::size_t lanes = 64 / sizeof(Word);
  static constexpr bool is_wide = sizeof(Word) == 8;
  using Mask = std::conditional_t<is_wide, __mmask8, __mmask16>;
  using Bits = Mask;
  static constexpr Bits all_bits = static_cast<Bits>(~0U);
  /// Truth table of the exclusive or of three operands. Of two words and the lesser of them, it is
  /// the greater.
  static constexpr int exclusive_or = 0x96;

  SORTIE_TARGET_AVX512 static WideVector load(const Word* from) {
    return {_mm512_loadu_si512(from)};
  }
  /// Lanes whose mask bit is clear are not read and take the words of `others`.
  SORTIE_TARGET_AVX512 static WideVector load(const Word* from, Mask mask, WideVector others) {
    return {is_wide ? _mm512_mask_loadu_epi64(others.words, mask, from)
                    : _mm512_mask_loadu_epi32(others.words, mask, from)};
  }
  /// from[0], from[stride], ..., from[(lanes - 1) * stride]
  SORTIE_TARGET_AVX512 static WideVector load_strided(const Word* from, std::size_t stride) {
    const __m512i number = load(flipped_lanes<0>.data()).words;
    const __m512i step = all(static_cast<Word>(stride)).words;
    if constexpr (is_wide)
      return {_mm512_i64gather_epi64(_mm512_mullo_epi64(number, step), from, sizeof(Word))};
    else
      return {_mm512_i32gather_epi32(_mm512_mullo_epi32(number, step), from, sizeof(Word))};
  }
  SORTIE_TARGET_AVX512 static WideVector all(Word word) {
    return {is_wide ? _mm512_set1_epi64(static_cast<std::int64_t>(word))
                    : _mm512_set1_epi32(static_cast<std::int32_t>(word))};
  }
  SORTIE_TARGET_AVX512 void store(Word* to) const { _mm512_storeu_si512(to, words); }
  SORTIE_TARGET_AVX512 void store(Word* to, Mask mask) const {
    is_wide ? _mm512_mask_storeu_epi64(to, mask, words) : _mm512_mask_storeu_epi32(to, mask, words);
  }

  /// Mask of the lanes whose word is not above that of `other`.
  [[nodiscard]] SORTIE_TARGET_AVX512 Mask not_above(WideVector other) const {
    return is_wide ? _mm512_cmple_epu64_mask(words, other.words)
                   : _mm512_cmple_epu32_mask(words, other.words);
  }
  /// Compresses the words whose mask bit is set into the lowest lanes.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector compressed(Mask mask) const {
    return {is_wide ? _mm512_maskz_compress_epi64(mask, words)
                    : _mm512_maskz_compress_epi32(mask, words)};
  }
  /// Writes those of the lowest `count` words whose bit is set from `left` on, and the others so
  /// that they end at `right`.
  /// \param num_lesser  number of bits that are set
  /// \tparam WholeRegister  count is `lanes`, and a whole register may be written from `left` on
  ///                        and before `right`
  template <bool WholeRegister>
  SORTIE_TARGET_AVX512 void write_parts(Bits lesser, std::size_t num_lesser, std::size_t count,
                                        Word* left, Word* right) const {
    if constexpr (WholeRegister && is_wide) {
      // One permutation serves both sides: the lesser words first, then the others.
      const auto* const order = reinterpret_cast<const __m128i*>(&parting_orders<lanes, 1>[lesser]);
      const __m512i from = _mm512_cvtepu8_epi64(_mm_loadl_epi64(order));
      const WideVector parted{_mm512_permutexvar_epi64(from, words)};
      parted.store(left);
      parted.store(right - lanes);
      return;
    }
    const std::size_t num_others = count - num_lesser;
    const Mask there = WholeRegister ? all_bits : low_lanes(count);
    if constexpr (WholeRegister) {
      compressed(lesser).store(left);
    } else {
      compressed(lesser).store(left, low_lanes(num_lesser));
    }
    compressed(static_cast<Mask>(~lesser & there)).store(right - num_others, low_lanes(num_others));
  }
  /// Mask of the `count` lowest lanes; of all lanes if `count` exceeds their number.
  [[nodiscard]] SORTIE_TARGET_AVX512 static Mask low_lanes(std::size_t count) {
    // bzhi uses only the lowest eight bits of the count.
    const auto bits = static_cast<unsigned>(count < 32 ? count : 32);
    return static_cast<Mask>(_bzhi_u32(~0U, bits));
  }
  /// The words of keys whose bits `flip` encoding flips, and those of `negative_flip` too where the
  /// sign bit is set (KeyCodec).
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector encoded(WideVector negative_flip,
                                                        WideVector flip) const {
    const __m512i signs = is_wide ? _mm512_srai_epi64(words, 63) : _mm512_srai_epi32(words, 31);
    const __m512i flipped = _mm512_and_si512(signs, negative_flip.words);
    return {_mm512_ternarylogic_epi64(words, flipped, flip.words, exclusive_or)};
  }
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector least(WideVector other) const {
    return {is_wide ? _mm512_min_epu64(words, other.words) : _mm512_min_epu32(words, other.words)};
  }
  /// Leaves the lesser words in `first` and the greater in `second`.
  SORTIE_TARGET_AVX512 static void exchange(WideVector& first, WideVector& second) {
    // Minimum and maximum take the same execution unit (of 64-bit words two operations each); the
    // exclusive or takes others, too.
    const WideVector least = first.least(second);
    second.words =
        is_wide ? _mm512_ternarylogic_epi64(least.words, first.words, second.words, exclusive_or)
                : _mm512_ternarylogic_epi32(least.words, first.words, second.words, exclusive_or);
    first = least;
  }
  /// Per lane, the greater word where the bit Distance of the lane's index is set, elsewhere the
  /// lesser.
  template <int Distance>
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector ordered(WideVector other) const {
    constexpr unsigned upper = Distance == 1   ? 0xaaaa
                               : Distance == 2 ? 0xcccc
                               : Distance == 4 ? 0xf0f0
                                               : 0xff00;
    constexpr auto mask = static_cast<Mask>(upper);
    const __m512i lesser = least(other).words;
    return {is_wide
                ? _mm512_mask_ternarylogic_epi64(lesser, mask, words, other.words, exclusive_or)
                : _mm512_mask_ternarylogic_epi32(lesser, mask, words, other.words, exclusive_or)};
  }
  /// Lane i receives the word of lane i ^ Flip.
  template <int Flip>
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector flipped() const {
    const __m512i from = load(flipped_lanes<Flip>.data()).words;
    return {is_wide ? _mm512_permutexvar_epi64(from, words)
                    : _mm512_permutexvar_epi32(from, words)};
  }
  /// Lane i receives the lane of (this, other) whose index is in lane i of `from`.
  [[nodiscard]] SORTIE_TARGET_AVX512 WideVector selected(WideVector from, WideVector other) const {
    return {is_wide ? _mm512_permutex2var_epi64(words, from.words, other.words)
                    : _mm512_permutex2var_epi32(words, from.words, other.words)};
  }

  /// Element i is i ^ Flip.
  template <Word Flip>
  static constexpr std::array<Word, lanes> flipped_lanes = [] {
    std::array<Word, lanes> from{};
    for (Word lane = 0; lane < lanes; ++lane) from[lane] = lane ^ Flip;
    return from;
  }();

  __m512i words;
};

SORTIE_END_INTRINSICS
#endif

}  // namespace sortie
