// SPDX-License-Identifier: Apache-2.0
#include "primitives/simd/vector_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "primitives/simd/register_sort.hpp"
#include "sortie/error.hpp"

namespace sortie {

#ifdef SORTIE_HAVE_VECTOR_UNITS

SORTIE_BEGIN_INTRINSICS

namespace avx512 {
namespace {
#define SORTIE_TARGET_UNIT SORTIE_TARGET_AVX512
#define SORTIE_INLINE_UNIT SORTIE_INLINE_AVX512
#include "primitives/simd/vector_sort_definition.hpp"
#undef SORTIE_TARGET_UNIT
#undef SORTIE_INLINE_UNIT
}  // namespace
}  // namespace avx512

namespace avx2 {
namespace {
#define SORTIE_TARGET_UNIT SORTIE_TARGET_AVX2
#define SORTIE_INLINE_UNIT SORTIE_INLINE_AVX2
#include "primitives/simd/vector_sort_definition.hpp"
#undef SORTIE_TARGET_UNIT
#undef SORTIE_INLINE_UNIT
}  // namespace
}  // namespace avx2

SORTIE_END_INTRINSICS

template <std::unsigned_integral Word>
void sort_words_to_depth(Word* words, std::size_t n, int low_bits, int depth, VectorUnit unit) {
  const auto below_key = static_cast<Word>((Word{1} << low_bits) - 1);
  if (unit == VectorUnit::avx512) return avx512::VectorSort<Word>::sort(words, n, below_key, depth);
  avx2::VectorSort<Word>::sort(words, n, below_key, depth);
}

template <std::unsigned_integral Word>
std::size_t divide_words(Word* words, std::size_t n, VectorUnit unit) {
  if (unit == VectorUnit::avx512) return avx512::VectorSort<Word>::template divide<false>(words, n);
  return avx2::VectorSort<Word>::template divide<false>(words, n);
}

template <std::unsigned_integral Word>
std::size_t divide_keys(Word* keys, std::size_t n, const KeyCodec<Word>& codec, VectorUnit unit) {
  if (codec.is_identity()) return divide_words(keys, n, unit);
  if (unit == VectorUnit::avx512)
    return avx512::VectorSort<Word>::template divide<true>(keys, n, codec);
  return avx2::VectorSort<Word>::template divide<true>(keys, n, codec);
}

#else

template <std::unsigned_integral Word>
void sort_words_to_depth(Word*, std::size_t, int, int, VectorUnit) {
  throw Error(ErrorKind::unavailable, "vector sort: found a processor without AVX2");
}

template <std::unsigned_integral Word>
std::size_t divide_words(Word*, std::size_t, VectorUnit) {
  throw Error(ErrorKind::unavailable, "vector sort: found a processor without AVX2");
}

template <std::unsigned_integral Word>
std::size_t divide_keys(Word*, std::size_t, const KeyCodec<Word>&, VectorUnit) {
  throw Error(ErrorKind::unavailable, "vector sort: found a processor without AVX2");
}

#endif

template std::size_t divide_words(std::uint32_t*, std::size_t, VectorUnit);
template std::size_t divide_words(std::uint64_t*, std::size_t, VectorUnit);
template std::size_t divide_keys(std::uint32_t*, std::size_t, const KeyCodec<std::uint32_t>&,
                                 VectorUnit);
template std::size_t divide_keys(std::uint64_t*, std::size_t, const KeyCodec<std::uint64_t>&,
                                 VectorUnit);
template void sort_words_to_depth(std::uint32_t*, std::size_t, int, int, VectorUnit);
template void sort_words_to_depth(std::uint64_t*, std::size_t, int, int, VectorUnit);

}  // namespace sortie
