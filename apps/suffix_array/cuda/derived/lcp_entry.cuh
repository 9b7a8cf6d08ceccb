// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>

#include "apps/suffix_array/cuda/text/symbol_stream.cuh"

namespace sortie::suffix_array::cuda {

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

  /// Whether two windows start with the same letter.
  [[nodiscard]] __host__ __device__ bool first_letters_equal(std::uint64_t left,
                                                             std::uint64_t right) const {
    const int shift = used_ - text_.bits;
    return left >> shift == right >> shift && left >> shift != 0;
  }

  /// Letters that two windows have in common after their first symbols: 0 .. window() - 1.
  [[nodiscard]] __host__ __device__ int common_behind_first(std::uint64_t left,
                                                            std::uint64_t right) const {
    const std::uint64_t behind_first = (std::uint64_t{1} << (used_ - text_.bits)) - 1;
    const std::uint64_t stops = stops_of(left, right) & behind_first;
    return stops == 0 ? window_ - 1 : symbol_of_highest(stops) - 1;
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

/// Entries of the LCP array that are not known yet: the suffixes agree in all symbols compared so
/// far. Both marks are greater than any length, since a text has at most max_symbols<Index> symbols.
/// Equal letters precede the suffixes: the entry follows from another one.
template <class Index>
inline constexpr Index extended_mark = std::numeric_limits<Index>::max();
/// Different letters precede them: more symbols have to be compared.
template <class Index>
inline constexpr Index longer_mark = std::numeric_limits<Index>::max() - Index{1};

/// The entry of the LCP array as far as one window of each suffix determines it.
///
/// \param left, right  CommonSymbols::window_before() of the positions of the previous entry and of
///                     the entry
/// \return the entry, below CommonSymbols::window() - 1, or a mark
template <class Index>
[[nodiscard]] __host__ __device__ Index first_look(const CommonSymbols& text, std::uint64_t left,
                                                   std::uint64_t right) {
  const int common = text.common_behind_first(left, right);
  if (common < text.window() - 1) return static_cast<Index>(common);
  return text.first_letters_equal(left, right) ? extended_mark<Index> : longer_mark<Index>;
}

}  // namespace sortie::suffix_array::cuda
