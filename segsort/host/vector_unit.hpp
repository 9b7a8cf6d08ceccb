#pragma once

/// Which vector instructions the processor of this run has, and functions compiled for them.
///
/// A function is compiled for several kinds of processor by a body that is always inlined, written
/// as plain loops that the compiler turns into vector instructions, and one wrapper for each kind
/// that calls it. (Loops, not vector types: those are split up for the smallest processor before
/// the body is inlined.)

#if defined(__x86_64__) && defined(__GNUC__)
#define SORTIE_HAVE_VECTOR_UNITS 1
#define SORTIE_TARGET_AVX2 [[gnu::target("avx2,bmi,bmi2")]]
#if defined(__clang__)
#define SORTIE_TARGET_AVX512 [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi,bmi2")]]
#else
// GCC takes vectors of half the width otherwise.
#define SORTIE_TARGET_AVX512 \
  [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi,bmi2,prefer-vector-width=512")]]
#endif
#else
#define SORTIE_TARGET_AVX2
#define SORTIE_TARGET_AVX512
#endif

/// Before a loop: what one turn writes no other reads, although the compiler cannot know. Clang
/// finds it out when the loop runs.
#if defined(__GNUC__) && !defined(__clang__)
#define SORTIE_INDEPENDENT_TURNS _Pragma("GCC ivdep")
#else
#define SORTIE_INDEPENDENT_TURNS
#endif

namespace sortie::segsort {

/// Kinds of processor that some functions are compiled for, each can do what those before it can.
enum class VectorUnit {
  baseline,  ///< what every processor of the architecture has: x86-64 and ARMv8 four 32-bit lanes
  avx2,
  avx512,  ///< with its VL, BW and DQ extensions
};

/// What the processor of this run can do.
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

}  // namespace sortie::segsort
