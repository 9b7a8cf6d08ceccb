// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <numeric>

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
[[nodiscard]] inline PrefixCode plan_prefix_code(const std::array<bool, 256>& occurs,
                                                 const std::array<std::uint64_t, 256>& starts,
                                                 int bits) {
  PrefixCode code;
  for (const bool letter : occurs) code.sigma += letter ? 1 : 0;
  const std::uint64_t all = std::accumulate(starts.begin(), starts.end(), std::uint64_t{0});

  std::uint32_t letters_below = 0;
  std::uint32_t rare_below = 1;  // the end
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (!occurs[byte]) continue;
    const bool is_rare = starts[byte] * 8 * static_cast<std::uint64_t>(code.sigma) < all;
    const std::uint32_t common_below = letters_below - (rare_below - 1);
    code.letters[byte] = common_below | rare_below << 16 | (is_rare ? PrefixCode::stop : 0U);
    code.codes[byte] = static_cast<std::uint16_t>(++letters_below);
    if (is_rare) ++rare_below;
  }
  code.rare = static_cast<int>(rare_below);
  code.common = code.sigma + 1 - code.rare;

  const std::uint64_t most_leaves = std::uint64_t{1} << (bits - 1);
  // The number of leaves of the tree of a depth, or a number above `most_leaves` if there are more.
  const auto count_leaves = [&](int symbols) {
    std::uint64_t leaves = 1;
    for (int i = 0; i < symbols && leaves <= most_leaves; ++i) {
      leaves =
          static_cast<std::uint64_t>(code.common) * leaves + static_cast<std::uint64_t>(code.rare);
    }
    return leaves;
  };
  while (code.symbols < PrefixCode::most_symbols && count_leaves(code.symbols + 1) <= most_leaves) {
    ++code.symbols;
  }
  for (int i = 0; i <= code.symbols; ++i) {
    code.leaves[i] = count_leaves(code.symbols - i);
  }
  code.key_bits = static_cast<int>(std::bit_width(2 * code.leaves[0] - 1));
  return code;
}

}  // namespace sortie::suffix_array::cuda
