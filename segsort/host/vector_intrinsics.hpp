// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Vector intrinsics, for operations that compilers do not generate from plain loops: permutations,
/// compression, gathers.

#include "segsort/host/vector_unit.hpp"

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
