#pragma once

/// The processor's vector instructions by their own names, where plain loops do not become them:
/// permutations, compression, reads from anywhere.

#include "sortie/segsort/host/vector_unit.hpp"

#ifdef SORTIE_HAVE_VECTOR_UNITS
#include <immintrin.h>

/// Around functions that use them. The headers of GCC 12 leave the lanes that no mask selects
/// undefined, and it warns of them where they are inlined (GCC bug 105593).
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
