// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// A function that is inlined into others with SORTIE_TARGET_AVX512.
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

}  // namespace sortie
