// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "apps/suffix_array/host/induced/symbol_string.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {
namespace {

constexpr std::uint32_t block = 64;

/// How the symbols of a block compare with their successors: bit i is that of symbol i.
struct Comparison {
  std::uint64_t less = 0;
  std::uint64_t equal = 0;
};

template <class Symbol>
Comparison compare_some(const Symbol* symbols, std::uint32_t count) {
  Comparison result;
  for (std::uint32_t i = 0; i < count; ++i) {
    result.less |= std::uint64_t{symbols[i] < symbols[i + 1]} << i;
    result.equal |= std::uint64_t{symbols[i] == symbols[i + 1]} << i;
  }
  return result;
}

#ifdef __SSE2__
/// Compilers do not make masks of loops.
Comparison compare_block(const std::uint8_t* symbols) {
  Comparison result;
  for (std::uint32_t i = 0; i < block; i += 16) {
    const auto* const at = reinterpret_cast<const __m128i*>(symbols + i);
    const __m128i here = _mm_loadu_si128(at);
    const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(symbols + i + 1));
    const auto equal = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(here, next)));
    const auto at_most =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(here, next), here)));
    result.equal |= std::uint64_t{equal} << i;
    result.less |= std::uint64_t{at_most & ~equal} << i;
  }
  return result;
}

/// \pre symbols are below 2^31
Comparison compare_block(const std::uint32_t* symbols) {
  Comparison result;
  for (std::uint32_t i = 0; i < block; i += 4) {
    const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(symbols + i));
    const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(symbols + i + 1));
    const auto mask = [](__m128i lanes) {
      return static_cast<std::uint64_t>(_mm_movemask_ps(_mm_castsi128_ps(lanes)));
    };
    result.less |= mask(_mm_cmplt_epi32(here, next)) << i;
    result.equal |= mask(_mm_cmpeq_epi32(here, next)) << i;
  }
  return result;
}
#else
template <class Symbol>
Comparison compare_block(const Symbol* symbols) {
  return compare_some(symbols, block);
}
#endif

std::uint64_t reversed(std::uint64_t bits) {
  const auto exchange = [&](int distance, std::uint64_t low) {
    bits = (bits >> distance & low) | (bits & low) << distance;
  };
  exchange(1, 0x5555555555555555);
  exchange(2, 0x3333333333333333);
  exchange(4, 0x0f0f0f0f0f0f0f0f);
  exchange(8, 0x00ff00ff00ff00ff);
  exchange(16, 0x0000ffff0000ffff);
  exchange(32, 0x00000000ffffffff);
  return bits;
}

/// Types of positions that are asked for in ascending order.
template <class Symbol>
class Types {
 public:
  explicit Types(const SymbolString<Symbol>& string) : string_(string) {}

  [[nodiscard]] bool is_s(std::uint32_t position) {
    if (position < run_end_) return type_;
    const auto& symbols = string_.symbols;
    std::uint32_t last = position;
    while (last + 1 < string_.size() && symbols[last] == symbols[last + 1]) ++last;
    run_end_ = last + 1;
    type_ = run_end_ == string_.size() ? string_.is_separator(symbols[last])
                                       : symbols[last] < symbols[run_end_];
    return type_;
  }

 private:
  const SymbolString<Symbol>& string_;
  std::uint32_t run_end_ = 0;  ///< of the run of equal symbols, which have one type
  bool type_ = false;
};

/// Calls visit(first, lms) for blocks of positions, first to last: bit i of `lms` says whether position
/// first - i is an LMS suffix. Together, these are positions [begin + 1, end + 1).
template <class Symbol, class Visit>
void for_each_block(const SymbolString<Symbol>& string, std::uint32_t begin, std::uint32_t end,
                    const Visit& visit) {
  Types<Symbol> types(string);
  for (std::uint32_t first = begin; first < end; first += block) {
    const std::uint32_t count = std::min(block, end - first);
    const Symbol* const symbols = string.symbols.data() + first;
    const Comparison order = count == block ? compare_block(symbols) : compare_some(symbols, count);
    // From the last symbol to the first, a type passes from symbol to symbol as long as these are
    // equal, as a carry does in a sum: type = less or (equal and type of the next).
    const std::uint64_t less = reversed(order.less) >> (block - count);
    const std::uint64_t passes = less | reversed(order.equal) >> (block - count);
    const std::uint64_t next =
        (less + passes + std::uint64_t{types.is_s(first + count)}) ^ less ^ passes;
    const std::uint64_t type = less | (passes & next);
    std::uint64_t lms = next & ~type;
    if (count < block) lms &= (std::uint64_t{1} << count) - 1;
    visit(first + count, lms);
  }
}

template <class Symbol>
std::uint32_t count_in_range(const SymbolString<Symbol>& string, std::uint32_t begin,
                             std::uint32_t end) {
  std::uint32_t count = 0;
  for_each_block(string, begin, end, [&count](std::uint32_t, std::uint64_t lms) {
    count += static_cast<std::uint32_t>(std::popcount(lms));
  });
  return count;
}

template <class Symbol>
void find_in_range(const SymbolString<Symbol>& string, std::uint32_t begin, std::uint32_t end,
                   LmsSuffix* out) {
  for_each_block(string, begin, end, [&](std::uint32_t first, std::uint64_t lms) {
    while (lms != 0) {
      const auto bit = static_cast<std::uint32_t>(std::bit_width(lms) - 1);
      lms ^= std::uint64_t{1} << bit;
      const std::uint32_t position = first - bit;
      *out++ = {position, symbols_before(string, position)};
    }
  });
}

template <class Symbol>
EqualShares shares_of(const SymbolString<Symbol>& string) {
  return thread_shares(string.size() - 1);
}

}  // namespace

template <class Symbol>
std::vector<std::uint64_t> count_lms_suffixes(const SymbolString<Symbol>& string) {
  const EqualShares shares = shares_of(string);
  std::vector<std::uint64_t> counts(shares.count);
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
    counts[share] =
        count_in_range(string, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
  });
  return counts;
}

template <class Symbol>
void find_lms_suffixes(const SymbolString<Symbol>& string, std::span<const std::uint64_t> counts,
                       LmsSuffix* found) {
  const std::vector<std::uint64_t> places = begins_of(counts);
  for_each_share(shares_of(string),
                 [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
                   find_in_range(string, static_cast<std::uint32_t>(begin),
                                 static_cast<std::uint32_t>(end), found + places[share]);
                 });
}

template std::vector<std::uint64_t> count_lms_suffixes(const SymbolString<std::uint8_t>&);
template std::vector<std::uint64_t> count_lms_suffixes(const SymbolString<std::uint32_t>&);
template void find_lms_suffixes(const SymbolString<std::uint8_t>&, std::span<const std::uint64_t>,
                                LmsSuffix*);
template void find_lms_suffixes(const SymbolString<std::uint32_t>&, std::span<const std::uint64_t>,
                                LmsSuffix*);

}  // namespace sortie::suffix_array::host
