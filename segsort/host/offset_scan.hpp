#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::segsort {

/// What one pass over the offsets of some segments tells.
struct OffsetSummary {
  std::uint64_t items = 0;     ///< of all segments
  std::uint64_t shortest = 0;  ///< items of the shortest segment
  std::uint64_t longest = 0;   ///< items of the longest segment
  bool valid = true;           ///< every begin <= its end <= the bound
};

namespace detail {

/// Bytes of offsets that are asked for before they are read: where segments have one item each,
/// the whole sort is this pass. Reading 2^24 offsets of 8 bytes took 18 ms, 12.6 ms with them (one
/// core of an Intel Xeon, Sapphire Rapids, virtual; 2 to 16 KiB ahead about the same).
inline constexpr std::size_t prefetch_bytes = 4096;

/// See summarise_offsets().
template <class Offset>
[[gnu::always_inline]] inline OffsetSummary summarise_offsets_body(const Offset* begins,
                                                                   const Offset* ends,
                                                                   std::size_t count,
                                                                   std::uint64_t bound) {
  constexpr std::size_t line = 64 / sizeof(Offset);
  constexpr std::size_t piece = 8 * line;
  std::uint64_t items = 0;
  // Signed: what is valid is below 2^63, and AVX2 compares only signed.
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest = 0;
  std::uint64_t signs = 0;  // of begins, ends, lengths, and of what is left behind an end
  for (std::size_t first = 0; first < count; first += piece) {
    // Past the end of the arrays, too: that is no access.
    const auto next_begins = reinterpret_cast<std::uintptr_t>(begins + first) + prefetch_bytes;
    const auto next_ends = reinterpret_cast<std::uintptr_t>(ends + first) + prefetch_bytes;
    for (std::size_t i = 0; i < piece; i += line) {
      __builtin_prefetch(reinterpret_cast<const void*>(next_begins + i * sizeof(Offset)));
      __builtin_prefetch(reinterpret_cast<const void*>(next_ends + i * sizeof(Offset)));
    }
    const std::size_t last = std::min(count, first + piece);
    for (std::size_t i = first; i < last; ++i) {
      const std::uint64_t begin = begins[i];
      const std::uint64_t end = ends[i];
      const std::uint64_t length = end - begin;
      signs |= begin | end | length | (bound - end);
      items += length;
      shortest = std::min(shortest, static_cast<std::int64_t>(length));
      longest = std::max(longest, static_cast<std::int64_t>(length));
    }
  }
  return {items, static_cast<std::uint64_t>(shortest), static_cast<std::uint64_t>(longest),
          static_cast<std::int64_t>(signs) >= 0};
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
template <class Offset>
SORTIE_TARGET_AVX512 OffsetSummary summarise_offsets_avx512(const Offset* begins,
                                                            const Offset* ends, std::size_t count,
                                                            std::uint64_t bound) {
  return summarise_offsets_body(begins, ends, count, bound);
}

template <class Offset>
SORTIE_TARGET_AVX2 OffsetSummary summarise_offsets_avx2(const Offset* begins, const Offset* ends,
                                                        std::size_t count, std::uint64_t bound) {
  return summarise_offsets_body(begins, ends, count, bound);
}
#endif

}  // namespace detail

/// Checks and sums up the offsets of `count` > 0 segments in one pass, at the speed of memory.
///
/// \param begins, ends  `count` of each, unsigned
/// \param bound  what no end may exceed, below 2^63
/// \param unit   vector_unit(), or less
template <std::unsigned_integral Offset>
[[nodiscard]] OffsetSummary summarise_offsets(const Offset* begins, const Offset* ends,
                                              std::size_t count, std::uint64_t bound,
                                              VectorUnit unit) {
#ifdef SORTIE_HAVE_VECTOR_UNITS
  if (unit == VectorUnit::avx512)
    return detail::summarise_offsets_avx512(begins, ends, count, bound);
  if (unit == VectorUnit::avx2) return detail::summarise_offsets_avx2(begins, ends, count, bound);
#endif
  static_cast<void>(unit);
  return detail::summarise_offsets_body(begins, ends, count, bound);
}

}  // namespace sortie::segsort
