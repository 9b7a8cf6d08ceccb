#include "sortie/apps/suffix_array/host/element_scan.hpp"

#include <algorithm>

#ifdef SORTIE_HAVE_VECTOR_UNITS
#include <immintrin.h>
#endif

namespace sortie::suffix_array::host {
namespace {

using segsort::VectorUnit;

constexpr std::uint64_t word_bits = 64;

/// The word of bits for elements [begin, end), at most 64, whose first has one before it.
std::uint64_t equal_keys(const std::uint64_t* elements, std::uint64_t begin, std::uint64_t end,
                         int key_shift) {
  std::uint64_t bits = 0;
  for (std::uint64_t i = begin; i < end; ++i) {
    const bool equal = (elements[i] ^ elements[i - 1]) >> key_shift == 0;
    bits |= std::uint64_t{equal} << (i % word_bits);
  }
  return bits;
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
/// The same for 64 elements.
SORTIE_TARGET_AVX512 std::uint64_t equal_keys_avx512(const std::uint64_t* elements, int key_shift) {
  const __m512i limit = _mm512_set1_epi64(static_cast<long long>(std::uint64_t{1} << key_shift));
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < word_bits; i += 8) {
    const __m512i differing =
        _mm512_loadu_si512(elements + i) ^ _mm512_loadu_si512(elements + i - 1);
    bits |= std::uint64_t{_mm512_cmplt_epu64_mask(differing, limit)} << i;
  }
  return bits;
}
#endif

template <class Pos>
[[gnu::always_inline]] inline void copy_positions(const std::uint64_t* elements, std::uint64_t n,
                                                  std::uint64_t mask, Pos* positions) {
  SORTIE_INDEPENDENT_TURNS
  for (std::uint64_t i = 0; i < n; ++i) positions[i] = static_cast<Pos>(elements[i] & mask);
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
template <class Pos>
SORTIE_TARGET_AVX512 void copy_positions_avx512(const std::uint64_t* elements, std::uint64_t n,
                                                std::uint64_t mask, Pos* positions) {
  copy_positions(elements, n, mask, positions);
}
#endif

}  // namespace

void mark_equal_keys(const std::uint64_t* elements, std::uint64_t n, int key_shift,
                     std::uint64_t* bits, [[maybe_unused]] VectorUnit unit) {
  for (std::uint64_t begin = 0; begin < n; begin += word_bits) {
    const std::uint64_t end = std::min(begin + word_bits, n);
#ifdef SORTIE_HAVE_VECTOR_UNITS
    if (unit == VectorUnit::avx512 && begin > 0 && end - begin == word_bits) {
      bits[begin / word_bits] = equal_keys_avx512(elements + begin, key_shift);
      continue;
    }
#endif
    bits[begin / word_bits] =
        equal_keys(elements, std::max<std::uint64_t>(begin, 1), end, key_shift);
  }
}

template <Position Pos>
void write_positions(const std::uint64_t* elements, std::uint64_t n, int position_bits,
                     Pos* positions, [[maybe_unused]] VectorUnit unit) {
  const std::uint64_t mask = (std::uint64_t{1} << position_bits) - 1;
#ifdef SORTIE_HAVE_VECTOR_UNITS
  if (unit == VectorUnit::avx512) {
    copy_positions_avx512(elements, n, mask, positions);
    return;
  }
#endif
  copy_positions(elements, n, mask, positions);
}

template void write_positions(const std::uint64_t*, std::uint64_t, int, std::uint32_t*, VectorUnit);
template void write_positions(const std::uint64_t*, std::uint64_t, int, std::uint64_t*, VectorUnit);

}  // namespace sortie::suffix_array::host
