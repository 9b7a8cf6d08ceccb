// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/build/text_rounds.hpp"

#include <algorithm>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/text/coded_text.hpp"
#include "primitives/simd/vector_unit.hpp"

namespace sortie::suffix_array::host {
namespace {

constexpr std::uint64_t word_bits = 64;

/// Replaces the key of an element by the symbols at some depth.
struct KeyReader {
  const SymbolStream& stream;
  const PrefixPlan& plan;
  std::uint64_t depth;
  int dropped_bits;

  [[nodiscard]] std::uint64_t element(std::uint64_t element) const {
    const std::uint64_t position = plan.position_of(element);
    const std::uint64_t word = stream.until_end(stream.word(position + depth));
    return plan.element(word >> dropped_bits, position);
  }
};

#ifdef SORTIE_HAVE_VECTOR_UNITS
SORTIE_BEGIN_INTRINSICS

/// The mark_equal_keys() bits of 64 elements.
SORTIE_TARGET_AVX512 std::uint64_t equal_keys_avx512(const std::uint64_t* elements, int key_shift) {
  const __m512i limit = WordReader::repeated(std::uint64_t{1} << key_shift);
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < word_bits; i += 8) {
    const __m512i differing =
        _mm512_loadu_si512(elements + i) ^ _mm512_loadu_si512(elements + i - 1);
    bits |= std::uint64_t{_mm512_cmplt_epu64_mask(differing, limit)} << i;
  }
  return bits;
}

SORTIE_TARGET_AVX512 void mark_differing_texts_avx512(const SymbolStream& stream,
                                                      const PrefixPlan& plan, int words,
                                                      const std::uint64_t* elements,
                                                      std::uint64_t n, const std::uint64_t* marks,
                                                      std::uint64_t* differing) {
  constexpr int most_words = 4;
  constexpr std::uint64_t lanes = 8;
  const WordReader reader(stream);
  const __m512i position_mask = WordReader::repeated(plan.position_of(~std::uint64_t{0}));
  const __m512i depth = WordReader::repeated(plan.depth());
  const __m512i step = _mm512_set1_epi64(stream.symbols());
  // The words of the previous eight elements; only the last lane is used, and only if it belongs to
  // a group.
  __m512i before[most_words];
  for (__m512i& word : before) word = _mm512_setzero_si512();
  std::fill_n(differing, (n + word_bits - 1) / word_bits, std::uint64_t{0});
  for (std::uint64_t begin = 0; begin < n; begin += lanes) {
    const std::uint64_t word = begin / word_bits;
    const std::uint64_t shift = begin % word_bits;
    // The first element of a group has no mark; the element after it has one.
    const std::uint64_t next_word = (word + 1) * word_bits < n ? marks[word + 1] : 0;
    const std::uint64_t of_groups = marks[word] | marks[word] >> 1 | next_word << (word_bits - 1);
    const auto members = static_cast<__mmask8>(of_groups >> shift);
    if (members == 0) continue;
    const auto marked = static_cast<__mmask8>(marks[word] >> shift);
    // Members are below n, so masked-out lanes are never members.
    const __m512i element = _mm512_maskz_loadu_epi64(members, elements + begin);
    __m512i position = _mm512_add_epi64(_mm512_and_si512(element, position_mask), depth);
    __mmask8 unequal = 0;
    for (int i = 0; i < words; ++i) {
      const __m512i found = reader.words(members, position);
      const __m512i left = _mm512_alignr_epi64(found, before[i], lanes - 1);
      unequal = static_cast<__mmask8>(unequal | _mm512_cmpneq_epu64_mask(found, left) |
                                      reader.contain_end(found));
      before[i] = found;
      position = _mm512_add_epi64(position, step);
    }
    differing[word] |= std::uint64_t{static_cast<__mmask8>(unequal & marked)} << shift;
  }
}

/// Handles as many whole blocks of eight elements as there are.
/// \return the number of elements that have new keys
SORTIE_TARGET_AVX512 std::uint64_t replace_keys_avx512(const SymbolStream& stream, KeyReader reader,
                                                       std::uint64_t* elements, std::uint64_t n,
                                                       std::uint64_t& differing) {
  constexpr std::uint64_t lanes = 8;
  const WordReader words(stream);
  const __m512i position_mask = WordReader::repeated(reader.plan.position_of(~std::uint64_t{0}));
  const __m512i depth = WordReader::repeated(reader.depth);
  const __m128i dropped_bits = _mm_cvtsi32_si128(reader.dropped_bits);
  const __m128i position_bits = _mm_cvtsi32_si128(reader.plan.position_bits);
  const __m512i first = WordReader::repeated(reader.element(elements[0]));
  __m512i differing_lanes = _mm512_setzero_si512();
  std::uint64_t done = 0;
  for (; done + lanes <= n; done += lanes) {
    const __m512i position = _mm512_and_si512(_mm512_loadu_si512(elements + done), position_mask);
    const __m512i found = words.words(0xFF, _mm512_add_epi64(position, depth));
    __m512i replaced = _mm512_or_si512(
        _mm512_sll_epi64(_mm512_srl_epi64(found, dropped_bits), position_bits), position);
    if (words.contain_end(found) != 0) [[unlikely]] {
      for (std::uint64_t i = done; i < done + lanes; ++i) elements[i] = reader.element(elements[i]);
      replaced = _mm512_loadu_si512(elements + done);
    } else {
      _mm512_storeu_si512(elements + done, replaced);
    }
    differing_lanes = _mm512_or_si512(differing_lanes, _mm512_xor_si512(replaced, first));
  }
  differing |= static_cast<std::uint64_t>(_mm512_reduce_or_epi64(differing_lanes));
  return done;
}

SORTIE_END_INTRINSICS
#endif

}  // namespace

void mark_equal_keys(const std::uint64_t* elements, std::uint64_t n, int key_shift,
                     std::uint64_t* bits, [[maybe_unused]] VectorUnit unit) {
  for (std::uint64_t begin = 0; begin < n; begin += word_bits) {
    const std::uint64_t end = std::min(begin + word_bits, n);
    std::uint64_t& word = bits[begin / word_bits];
#ifdef SORTIE_HAVE_VECTOR_UNITS
    if (unit == VectorUnit::avx512 && begin > 0 && end - begin == word_bits) {
      word = equal_keys_avx512(elements + begin, key_shift);
      continue;
    }
#endif
    word = 0;
    for (std::uint64_t i = std::max<std::uint64_t>(begin, 1); i < end; ++i) {
      const bool equal = (elements[i] ^ elements[i - 1]) >> key_shift == 0;
      word |= std::uint64_t{equal} << (i % word_bits);
    }
  }
}

void mark_differing_texts([[maybe_unused]] const SymbolStream& stream,
                          [[maybe_unused]] const PrefixPlan& plan, [[maybe_unused]] int words,
                          [[maybe_unused]] const std::uint64_t* elements, std::uint64_t n,
                          const std::uint64_t* marks, std::uint64_t* differing) {
#ifdef SORTIE_HAVE_VECTOR_UNITS
  if (vector_unit() == VectorUnit::avx512) {
    return mark_differing_texts_avx512(stream, plan, words, elements, n, marks, differing);
  }
#endif
  std::copy_n(marks, (n + word_bits - 1) / word_bits, differing);
}

std::uint64_t replace_keys(const SymbolStream& stream, const PrefixPlan& plan,
                           std::uint64_t* elements, std::uint64_t n, std::uint64_t depth,
                           int symbols, [[maybe_unused]] VectorUnit unit) {
  if (n == 0) return 0;
  const KeyReader reader{stream, plan, depth, (stream.symbols() - symbols) * stream.bits()};
  std::uint64_t differing = 0;
  std::uint64_t i = 0;
#ifdef SORTIE_HAVE_VECTOR_UNITS
  if (unit == VectorUnit::avx512) i = replace_keys_avx512(stream, reader, elements, n, differing);
#endif
  for (; i < n; ++i) {
    elements[i] = reader.element(elements[i]);
    differing |= elements[i] ^ elements[0];
  }
  return differing;
}

template <Position Pos>
void write_positions(const std::uint64_t* elements, std::uint64_t n, int position_bits,
                     Pos* positions, VectorUnit unit) {
  run_on_unit(
      unit, [=]() __attribute__((always_inline)) {
        const std::uint64_t mask = (std::uint64_t{1} << position_bits) - 1;
        SORTIE_INDEPENDENT_ITERATIONS
        for (std::uint64_t i = 0; i < n; ++i) positions[i] = static_cast<Pos>(elements[i] & mask);
      });
}

SORTIE_FOR_BOTH_POSITIONS(write_positions);

}  // namespace sortie::suffix_array::host
