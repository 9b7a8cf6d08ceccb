// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/samples/sampling.hpp"

#include "apps/suffix_array/host/text/coded_text.hpp"
#include "primitives/simd/vector_unit.hpp"

namespace sortie::suffix_array::host {
namespace {

// Multiplicative hashing by 2^64 / golden ratio; the fold mixes the highest bits, which depend on
// all symbols, into the others.
constexpr std::uint64_t first_factor = 0x9e3779b97f4a7c15U;
constexpr std::uint64_t second_factor = 0xd6e8feb86659fd93U;

/// The bit positions in a word of the symbols that are hashed.
struct Places {
  Places(const SymbolStream& stream, std::uint64_t hashed)
      : bits(stream.bits()),
        below((stream.symbols() - static_cast<int>(hashed)) * bits),
        top((stream.symbols() - 1) * bits),
        symbol((std::uint64_t{1} << bits) - 1) {}

  int bits;
  int below;             ///< bits of the symbols that are not hashed
  int top;               ///< bits below the first symbol
  std::uint64_t symbol;  ///< mask of one symbol
};

std::uint32_t hash_of(std::uint64_t word, const Places& places) {
  // Compares the first two symbols only: the mask drops the bits that the shift moves beyond the
  // word.
  const bool repeated = ((word ^ word << places.bits) >> places.top & places.symbol) == 0;
  const std::uint64_t product = ((word >> places.below) + 1) * first_factor;
  const auto hash = static_cast<std::uint32_t>(((product ^ product >> 32) * second_factor) >> 32);
  return repeated ? ~std::uint32_t{0} : hash >> 1;
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
SORTIE_BEGIN_INTRINSICS

/// Whole blocks of eight hashes. \return the number of hashes written
SORTIE_TARGET_AVX512 std::uint64_t hash_symbols_avx512(const SymbolStream& stream,
                                                       const Places& places, std::uint64_t first,
                                                       std::uint64_t n, std::uint32_t* hashes) {
  constexpr std::uint64_t lanes = 8;
  const WordReader reader(stream);
  const __m512i symbol = _mm512_set1_epi64(places.symbol);
  const __m512i factor = _mm512_set1_epi64(first_factor);
  const __m512i other_factor = _mm512_set1_epi64(second_factor);
  const __m512i one = _mm512_set1_epi64(1);
  const __m128i bits = _mm_cvtsi32_si128(places.bits);
  const __m128i below = _mm_cvtsi32_si128(places.below);
  const __m128i top = _mm_cvtsi32_si128(places.top);
  const __m512i greatest = _mm512_set1_epi64(~std::uint32_t{0});
  __m512i position =
      _mm512_add_epi64(_mm512_set1_epi64(first), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
  std::uint64_t done = 0;
  for (; done + lanes <= n; done += lanes) {
    const __m512i word = reader.words(0xFF, position);
    const __m512i changes =
        _mm512_srl_epi64(_mm512_xor_si512(word, _mm512_sll_epi64(word, bits)), top);
    const __mmask8 alike = _mm512_testn_epi64_mask(changes, symbol);
    const __m512i product =
        _mm512_mullo_epi64(_mm512_add_epi64(_mm512_srl_epi64(word, below), one), factor);
    const __m512i folded = _mm512_xor_si512(product, _mm512_srli_epi64(product, 32));
    const __m512i hash = _mm512_srli_epi64(_mm512_mullo_epi64(folded, other_factor), 33);
    const __m512i found = _mm512_mask_mov_epi64(hash, alike, greatest);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(hashes + done), _mm512_cvtepi64_epi32(found));
    position = _mm512_add_epi64(position, _mm512_set1_epi64(lanes));
  }
  return done;
}

SORTIE_END_INTRINSICS
#endif

}  // namespace

void hash_symbols(const SymbolStream& stream, std::uint64_t hashed, std::uint64_t first,
                  std::uint64_t n, std::uint32_t* hashes, [[maybe_unused]] VectorUnit unit) {
  const Places places(stream, hashed);
  std::uint64_t i = 0;
#ifdef SORTIE_HAVE_VECTOR_UNITS
  if (unit == VectorUnit::avx512) i = hash_symbols_avx512(stream, places, first, n, hashes);
#endif
  for (; i < n; ++i) hashes[i] = hash_of(stream.word(first + i), places);
}

}  // namespace sortie::suffix_array::host
