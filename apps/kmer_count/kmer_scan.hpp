// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "apps/kmer_count/packed_runs.hpp"
#include "primitives/host/radix_pass.hpp"

namespace sortie::kmers {

/// A number of 2k bits, the first letter at the highest ones: numbers are in the order of k-mers.
template <class Key>
[[nodiscard]] constexpr Key key_mask(int k) {
  return static_cast<Key>(~Key{0} >> (8 * static_cast<int>(sizeof(Key)) - 2 * k));
}

/// The number of a code at the first letter. \pre k > 32 for two words
template <class Key>
[[nodiscard]] [[gnu::always_inline]] constexpr Key at_first_letter(std::uint64_t code, int k) {
  if constexpr (sizeof(Key) > sizeof(std::uint64_t)) {
    // Not by a shift of two words, which takes several instructions.
    return Key{code << (2 * k - 66)} << 64;
  } else {
    return code << (2 * k - 2);
  }
}

/// The lesser of two numbers. Which one it is cannot be predicted, and GCC branches for two words.
template <class Key>
[[nodiscard]] [[gnu::always_inline]] constexpr Key lesser(Key a, Key b) {
  if constexpr (sizeof(Key) > sizeof(std::uint64_t)) {
    const Key mask = Key{0} - static_cast<Key>(b < a);
    return a ^ ((a ^ b) & mask);
  } else {
    return std::min(a, b);
  }
}

/// Calls take(key) for the k-mers of runs.
/// \tparam Key  std::uint64_t for k <= 32, else DoubleWord
template <class Key, bool canonical, class Take>
void scan_kmers(std::span<const std::uint64_t> words, int k, Take&& take) {
  const Key mask = key_mask<Key>(k);
  for (std::size_t at = 0; at < words.size();) {
    const std::uint64_t length = words[at++];
    Key forward = 0;
    Key reverse = 0;                                           // the reverse complement
    std::uint64_t before = static_cast<std::uint64_t>(k) - 1;  // letters that end no k-mer
    for (std::uint64_t begin = 0; begin < length; begin += letters_per_word) {
      std::uint64_t codes = words[at++];
      std::uint64_t count = std::min(letters_per_word, length - begin);
      const auto add = [&] {
        const std::uint64_t code = codes & 3;
        codes >>= 2;
        forward = (forward << 2 | code) & mask;
        if constexpr (canonical) reverse = reverse >> 2 | at_first_letter<Key>(code ^ 3, k);
      };
      for (; before != 0 && count != 0; --before, --count) add();
      for (; count != 0; --count) {
        add();
        if constexpr (canonical) {
          take(lesser(forward, reverse));
        } else {
          take(forward);
        }
      }
    }
  }
}

}  // namespace sortie::kmers
