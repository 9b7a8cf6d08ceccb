#pragma once

#include <array>
#include <cstdint>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array {

/// How the first symbols of a suffix are packed in one 64-bit word so that words compare as the
/// suffixes do.
///
/// The bytes that occur as letters get the codes 1..sigma in byte order, the end of a record (a
/// separator, or the end of the text) gets 0. A word holds `symbols` codes as the digits of a
/// number in base sigma + 1, first symbol first; all digits after an end are 0. Five DNA symbols
/// (base 5, four letters and the end) leave 27 symbols to a word, where whole bits would leave 21.
///
/// Words of two suffixes compare as the suffixes compare in their first `symbols` symbols. Equal
/// words that contain an end belong to suffixes equal up to their ends: these are in their final
/// order when sorted by (word, position), so nothing remains to be done for them.
///
/// The words of neighbouring positions follow from each other from right to left,
///   word(p) = code(p) * top_weight + word(p + 1) / base   for a letter at p,
///   word(p) = 0                                           for a separator or the end of the text,
/// because the division drops the digit that leaves the window.
struct PackingPlan {
  std::array<std::uint16_t, 256> code{};  ///< 1..sigma for bytes that occur as letters, else 0
  int sigma = 0;                          ///< number of distinct letters, 0..256
  std::uint64_t base = 2;                 ///< max(sigma + 1, 2)
  int symbols = 63;                       ///< k: the greatest number with base^k < 2^64
  std::uint64_t top_weight = 1ULL << 62;  ///< base^(k - 1), the weight of the first symbol
  int word_bits = 63;                     ///< bits of the greatest word, base^k - 1

  /// The word before `next`, the word of the following position; `symbol_code` is 0 at a separator.
  [[nodiscard]] constexpr std::uint64_t prepend(std::uint64_t symbol_code,
                                                std::uint64_t next) const {
    return symbol_code == 0 ? 0 : symbol_code * top_weight + next / base;
  }

  /// True when the end of the record lies within the word, so that (word, position) is final.
  [[nodiscard]] constexpr bool contains_end(std::uint64_t word) const { return word % base == 0; }

  /// The word of `symbols` times the same letter.
  [[nodiscard]] constexpr std::uint64_t run_word(std::uint64_t symbol_code) const {
    return symbol_code * ((top_weight - 1) / (base - 1) + top_weight);
  }

  /// True when the word is a run of one letter: k equal digits, none of them 0.
  [[nodiscard]] constexpr bool is_run(std::uint64_t word) const {
    return word != 0 && word == run_word(word / top_weight);
  }
};

/// The plan for the letters that occur in a text. Sequential, O(n).
[[nodiscard]] PackingPlan plan_packing(const TextView& text);

/// The plan for given letters: `occurs[b]` tells whether byte b is one.
[[nodiscard]] PackingPlan plan_packing(const std::array<bool, 256>& occurs);

/// The word of one position by definition; O(k) plus a search among the separators.
[[nodiscard]] std::uint64_t pack_word(const PackingPlan& plan, const TextView& text,
                                      std::uint64_t position);

}  // namespace sortie::suffix_array
