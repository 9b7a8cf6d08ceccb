// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sortie::suffix_array::cuda {

/// Order-preserving codes of letters, one for each letter before: English text and source take
/// about 4 bits a letter, where a fixed width takes 7 or 8.
///
/// The symbols of a text are its letters, 1..sigma in the order of their bytes, and the end of a
/// record, 0. After each symbol, all symbols have codes that are free of prefixes and ascend with
/// the symbol. So texts that begin behind equal symbols compare as their codes do, one after the
/// other. Behind an end, and as first symbol of a suffix, whose context is unknown to its group,
/// a symbol has the code of context 0, its number in as many bits as the last one needs.
///
/// Source: order-preserving context codes, as alphabetic trees by weight bisection: Walker,
/// Gotlieb (1972), in Knuth, TAOCP 3, 6.2.2.
struct ContextCode {
  /// Bits of the longest code.
  static constexpr int longest = 14;

  /// A code: its bits, right-aligned, above its length in the lowest four bits.
  using Entry = std::uint32_t;
  static constexpr int length(Entry entry) { return static_cast<int>(entry & 15U); }
  static constexpr std::uint32_t bits(Entry entry) { return entry >> 4; }

  std::uint32_t symbols = 1;     ///< sigma + 1
  std::vector<Entry> entries{};  ///< of symbol s behind symbol c: entries[c * symbols + s]
  double bits_a_letter = 0;      ///< of the counted pairs, on average
  double share_of_runs = 0;      ///< of pairs of equal letters among them
};

/// Codes of the symbols `begin` .. `end` - 1 below a node of the tree, by splitting their weights
/// into halves.
/// \param sums  sums[s]: weight of the symbols below s
/// \param node  code of the node
inline void assign_codes(std::span<const std::uint64_t> sums, std::size_t begin, std::size_t end,
                         std::uint32_t node, int length, ContextCode::Entry* entries) {
  if (end - begin == 1) {
    entries[begin] = node << 4 | static_cast<std::uint32_t>(length);
    return;
  }
  const std::uint64_t middle = (sums[begin] + sums[end]) / 2;
  auto split = static_cast<std::size_t>(
      std::upper_bound(sums.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                       sums.begin() + static_cast<std::ptrdiff_t>(end), middle) -
      sums.begin());
  if (split > begin + 1 && (split == end || middle - sums[split - 1] < sums[split] - middle)) {
    --split;
  }
  // Each side must fit into the levels that are left.
  const std::size_t most = std::size_t{1} << (ContextCode::longest - length - 1);
  split = std::min(split, begin + most);
  split = std::max(split, end > begin + most ? end - most : begin + 1);
  assign_codes(sums, begin, split, 2 * node, length + 1, entries);
  assign_codes(sums, split, end, 2 * node + 1, length + 1, entries);
}

/// \param letters  symbol of each byte, 1..sigma in the order of the bytes; 0 for other bytes
/// \param pairs    pairs[256 * a + b]: how often byte b follows byte a in a sample of the text
inline ContextCode plan_context_code(const std::array<std::uint16_t, 256>& letters,
                                     std::span<const std::uint32_t> pairs) {
  ContextCode code;
  code.symbols = *std::max_element(letters.begin(), letters.end()) + 1U;
  code.entries.resize(std::size_t{code.symbols} * code.symbols);
  std::vector<std::uint64_t> all(code.symbols);
  std::vector<std::uint64_t> sums(code.symbols + std::size_t{1});
  std::vector<std::uint8_t> byte_of(code.symbols);
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (letters[byte] != 0) byte_of[letters[byte]] = static_cast<std::uint8_t>(byte);
  }
  for (std::size_t a = 1; a < code.symbols; ++a) {
    const std::uint32_t* row = &pairs[256 * std::size_t{byte_of[a]}];
    for (std::size_t b = 1; b < code.symbols; ++b) all[b] += row[byte_of[b]];
  }
  // Fewer pairs than this say less about a context than the whole text does.
  constexpr std::uint64_t least_pairs = 256;
  std::uint64_t counted = 0;
  std::uint64_t bits = 0;
  std::uint64_t equal = 0;
  for (std::size_t a = 0; a < code.symbols; ++a) {
    const std::uint32_t* row = &pairs[256 * std::size_t{byte_of[a]}];
    const auto count = [&](std::size_t b) -> std::uint64_t {
      return a == 0 ? all[b] : b == 0 ? 0 : row[byte_of[b]];
    };
    for (std::size_t b = 0; b < code.symbols; ++b) sums[b + 1] = sums[b] + count(b);
    ContextCode::Entry* const entries = &code.entries[a * code.symbols];
    if (a != 0 && sums.back() < least_pairs) {
      std::copy_n(code.entries.begin(), code.symbols, entries);  // by the whole text
    } else {
      // No weight is 0, so that rare letters are not all at the greatest depth.
      const std::uint64_t least = sums.back() / 4096 + 1;
      for (std::size_t b = 0; b < code.symbols; ++b) {
        sums[b + 1] = sums[b] + std::max(count(b), least);
      }
      assign_codes(sums, 0, code.symbols, 0, 0, entries);
    }
    if (a != 0) equal += count(a);
    for (std::size_t b = 1; a != 0 && b < code.symbols; ++b) {
      counted += count(b);
      bits += count(b) * static_cast<std::uint64_t>(ContextCode::length(entries[b]));
    }
  }
  const auto length = static_cast<std::uint32_t>(std::bit_width(code.symbols - 1));
  for (std::uint32_t s = 0; s < code.symbols; ++s) code.entries[s] = s << 4 | length;
  if (counted != 0) {
    code.bits_a_letter = static_cast<double>(bits) / static_cast<double>(counted);
    code.share_of_runs = static_cast<double>(equal) / static_cast<double>(counted);
  }
  return code;
}

}  // namespace sortie::suffix_array::cuda
