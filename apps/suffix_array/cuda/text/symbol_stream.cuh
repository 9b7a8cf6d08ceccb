// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>

namespace sortie::suffix_array::cuda {

/// The text on the device in as few bits as its letters need: symbol i begins at bit i * bits of a
/// stream of 64-bit words, highest bit first, so that neighbouring symbols read as one number
/// compare without unpacking. Letters are 1..sigma in the order of their bytes, the ends of records
/// 0; zeros follow the text. Genomes take 3 bits a symbol, so that 100 million of them stay in the
/// L2 cache, and one read gives 21.
struct SymbolStream {
  static constexpr std::uint64_t rare_block = 64;  ///< at least as many as first_symbols

  const std::uint64_t* words;
  const std::uint32_t* rare;  ///< one bit a symbol: rare letters of PrefixCode; null if none occur
  /// One bit for each 64 symbols: whether rare letters are among them or the next 64. In a genome,
  /// whose rare letters are gaps, few are set, and all stay in the cache.
  const std::uint32_t* rare_blocks;
  int bits;                   ///< bits of a symbol, 1..9
  int first_symbols;          ///< PrefixCode::symbols
  std::uint64_t lowest_bits;  ///< the lowest bit of each symbol of a window

  /// Symbols that a window of 64 or 32 bits holds.
  __host__ __device__ int window_symbols(int window_bits) const { return window_bits / bits; }

  /// The 64 bits from symbol `position` on.
  __host__ __device__ std::uint64_t bits_from(std::uint64_t position) const {
    const std::uint64_t first = position * static_cast<std::uint64_t>(bits);
    const std::uint64_t* word = words + first / 64;
    const int shift = static_cast<int>(first % 64);
    return shift == 0 ? word[0] : word[0] << shift | word[1] >> (64 - shift);
  }

  __host__ __device__ std::uint32_t symbol(std::uint64_t position) const {
    return static_cast<std::uint32_t>(bits_from(position) >> (64 - bits));
  }

  /// The next window_symbols(bits of Key) symbols as a number; all symbols after an end are 0. Such
  /// windows compare as the suffixes do in these symbols.
  template <class Key>
  __host__ __device__ Key window(std::uint64_t position) const {
    return window_of<Key>(bits_from(position));
  }

  /// The window in which the 64 bits from its first symbol on begin.
  template <class Key>
  __host__ __device__ Key window_of(std::uint64_t bits_of_text) const {
    constexpr int window_bits = 8 * static_cast<int>(sizeof(Key));
    const int used = window_symbols(window_bits) * bits;
    const std::uint64_t all = bits_of_text >> (64 - used);
    const std::uint64_t ends_of_all = ends_in(all);
    const std::uint64_t window_mask =
        used == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << used) - 1;
    const std::uint64_t ends = ends_of_all & window_mask;
    if (ends == 0) return static_cast<Key>(all);
    const int first_end = 63 - count_leading_zeros(ends);
    return static_cast<Key>(all >> first_end << first_end);
  }

  /// The lowest bit of each symbol of a window that is 0, the end of a record.
  __host__ __device__ std::uint64_t ends_in(std::uint64_t window) const {
    // Sets the lowest bit of each symbol if any bit of the symbol is set.
    std::uint64_t nonzero = window;
    for (int i = 1; i < bits; ++i) nonzero |= window >> i;
    return ~nonzero & lowest_bits;
  }

  /// The mask of a window's last symbol, which is 0 if and only if a record ends in the window.
  __host__ __device__ std::uint64_t last_symbol_mask() const {
    return (std::uint64_t{1} << bits) - 1;
  }

  /// The number of symbols of a suffix that the first sort has compared: all that PrefixCode
  /// covers, but none after a rare letter. The suffix must not end within them.
  __host__ __device__ int first_depth(std::uint64_t position) const {
    if (rare == nullptr) return first_symbols;
    const std::uint64_t block = position / rare_block;
    if ((rare_blocks[block / 32] >> (block % 32) & 1U) == 0) return first_symbols;
    const std::uint32_t* word = rare + position / 32;
    const int shift = static_cast<int>(position % 32);
    std::uint32_t ahead = word[0] >> shift;
    if (shift != 0) ahead |= word[1] << (32 - shift);
    if (ahead == 0) return first_symbols;
    const int to_rare = count_trailing_zeros(ahead) + 1;
    return to_rare < first_symbols ? to_rare : first_symbols;
  }

  __host__ __device__ static int count_leading_zeros(std::uint64_t word) {
#ifdef __CUDA_ARCH__
    return __clzll(static_cast<long long>(word));
#else
    return __builtin_clzll(word);
#endif
  }

 private:
  __host__ __device__ static int count_trailing_zeros(std::uint32_t word) {
#ifdef __CUDA_ARCH__
    return __ffs(static_cast<int>(word)) - 1;
#else
    return __builtin_ctz(word);
#endif
  }
};

/// Entries of the LCP array that are not known yet: the suffixes agree in all symbols compared so
/// far. Both marks are greater than any length, since a text has at most max_symbols<Index> symbols.
/// Equal letters precede the suffixes: the entry follows from another one.
template <class Index>
inline constexpr Index extended_mark = std::numeric_limits<Index>::max();
/// Different letters precede them: more symbols have to be compared.
template <class Index>
inline constexpr Index longer_mark = std::numeric_limits<Index>::max() - Index{1};

/// Counts the letters that two positions of a packed text have in common, a window of 64 bits at a
/// time. The end of a record (symbol 0) is equal to nothing, not even to another end.
class CommonSymbols {
 public:
  /// \param size  symbols of the text, its end not counted
  __host__ __device__ CommonSymbols(const SymbolStream& text, std::uint64_t size)
      : text_(text), size_(size), window_(text.window_symbols(64)), used_(window_ * text.bits) {}

  /// Symbols of a window, at least 7.
  [[nodiscard]] __host__ __device__ int window() const { return window_; }

  /// The window that starts at the symbol before `position`, with 0 for the symbol before the text;
  /// in the lower bits, first symbol highest.
  [[nodiscard]] __host__ __device__ std::uint64_t window_before(std::uint64_t position) const {
    if (position == 0) return text_.bits_from(0) >> (64 - used_) >> text_.bits;
    return text_.bits_from(position - 1) >> (64 - used_);
  }

  /// The entry of the LCP array as far as one window of each suffix determines it: the letters
  /// that follow the first of both, below window() - 1, or a mark.
  /// \param left, right  window_before() of the positions of the previous entry and of the entry
  template <class Index>
  [[nodiscard]] __host__ __device__ Index first_look(std::uint64_t left,
                                                     std::uint64_t right) const {
    const int shift = used_ - text_.bits;
    const std::uint64_t stops = stops_of(left, right) & ((std::uint64_t{1} << shift) - 1);
    if (stops != 0) return static_cast<Index>(symbol_of_highest(stops) - 1);
    const bool extended = left >> shift == right >> shift && left >> shift != 0;
    return extended ? extended_mark<Index> : longer_mark<Index>;
  }

  /// Letters that the windows from `left` and `right` on have in common: 0 .. window(). 0 if one of
  /// them lies beyond the text.
  [[nodiscard]] __host__ __device__ int common(std::uint64_t left, std::uint64_t right) const {
    if ((left > right ? left : right) > size_) return 0;
    const std::uint64_t stops =
        stops_of(text_.bits_from(left) >> (64 - used_), text_.bits_from(right) >> (64 - used_));
    return stops == 0 ? window_ : symbol_of_highest(stops);
  }

 private:
  /// Bits in which symbols differ, and the lowest bits of ends.
  [[nodiscard]] __host__ __device__ std::uint64_t stops_of(std::uint64_t left,
                                                           std::uint64_t right) const {
    return (left ^ right) | text_.ends_in(left);
  }

  /// Index of the symbol of a window that contains the highest set bit; 0 is the first symbol.
  [[nodiscard]] __host__ __device__ int symbol_of_highest(std::uint64_t bits) const {
    return (SymbolStream::count_leading_zeros(bits) - (64 - used_)) / text_.bits;
  }

  SymbolStream text_;
  std::uint64_t size_;
  int window_;
  int used_;  ///< bits of a window
};
}  // namespace sortie::suffix_array::cuda
