// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace sortie::suffix_array::cuda {

/// Maps the beginning of a suffix to the key of the first sort: the number of a leaf of a tree.
///
/// A node of the tree is a string of common letters. Its children, in order, are the end of the
/// record and all letters. A common letter leads to another node, down to depth `symbols`, where
/// nodes are leaves; the end and rare letters lead to a leaf at once. Leaves are numbered from left
/// to right, so numbers compare as the suffixes do in the symbols on the path to their leaves, and
/// no number is unused: four letters take hardly more than two bits each, with ends and unknown
/// bases (N) in the alphabet, where five or six equal digits would take 2.3 or 2.6.
///
/// A subtree at depth i has leaves[i] leaves:
///   leaves[symbols] = 1,   leaves[i] = common * leaves[i + 1] + rare,
/// the end counted as rare. So the leaf of a suffix is the sum, over the symbols on its path, of
///   (common letters below the symbol) * leaves[i + 1] + (rare ones below).
///
/// The key of a suffix is 2 * leaf + 1 if its path ends at the end of the record, else 2 * leaf.
/// Suffixes of equal keys agree in all symbols on the path. If the key is odd, they are equal up to
/// their ends, and in their final order when sorted by (key, position).
struct PrefixCode {
  static constexpr int most_symbols = 32;

  /// The contribution of a symbol, in one word: common letters below it in bits 0..8, rare ones in
  /// bits 16..24, `stop` at a rare letter, `stop` and `end` at the end of a record.
  static constexpr std::uint32_t stop = 1U << 30;
  static constexpr std::uint32_t end = 1U << 31;
  static constexpr std::uint32_t end_of_record = stop | end;

  std::array<std::uint32_t, 256> letters{};  ///< by byte; 0 for bytes that are not letters
  std::array<std::uint16_t, 256> codes{};    ///< 1..sigma of the letters, in order
  std::uint64_t leaves[most_symbols + 1]{};
  int symbols = 1;   ///< depth of the tree, at least 1
  int sigma = 0;     ///< letters
  int rare = 1;      ///< rare letters and the end
  int common = 0;    ///< common letters
  int key_bits = 1;  ///< bits of the greatest key

  /// The symbols that a key of a run of `letter` covers: `symbols`, or 1 for a rare letter.
  [[nodiscard]] constexpr int run_symbols(std::uint32_t letter) const {
    return (letter & stop) != 0 ? 1 : symbols;
  }

  /// The key of suffixes that start with run_symbols() times the same letter.
  [[nodiscard]] constexpr std::uint64_t run_key(std::uint32_t letter) const {
    std::uint64_t leaf = 0;
    for (int i = 0; i < run_symbols(letter); ++i) {
      leaf += (letter & 0x1ffU) * leaves[i + 1] + (letter >> 16 & 0x1ffU);
    }
    return 2 * leaf;
  }
};

/// The deepest code whose keys have at most `bits` bits.
/// \param occurs  which bytes are letters
/// \param starts  how often each letter follows a different one, in the text or a sample of it. A
///                letter is rare if its share is below an eighth of the share that it would have if
///                all letters were equally frequent; a run counts once, since runs are sorted by
///                their length.
[[nodiscard]] PrefixCode plan_prefix_code(const std::array<bool, 256>& occurs,
                                          const std::array<std::uint64_t, 256>& starts, int bits);

}  // namespace sortie::suffix_array::cuda
