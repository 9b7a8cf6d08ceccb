// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/suffix_array/construction.hpp"
#include "core/random.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::test {

/// Forgets the highest resident size so far. \return false where the system does not let
inline bool reset_peak_memory() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return static_cast<bool>(file);
}

/// A text with its name in test output.
struct NamedText {
  std::string name;
  std::vector<std::uint8_t> symbols;
  std::vector<std::uint64_t> separators;

  [[nodiscard]] suffix_array::TextView view() const { return {symbols, separators}; }
};

inline NamedText single(std::string name, std::string_view letters) {
  return {std::move(name), {letters.begin(), letters.end()}, {}};
}

/// Records joined by a separator, byte 0.
inline NamedText joined(std::string name, const std::vector<std::string>& records) {
  NamedText text{std::move(name), {}, {}};
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i > 0) {
      text.separators.push_back(text.symbols.size());
      text.symbols.push_back(0);
    }
    text.symbols.insert(text.symbols.end(), records[i].begin(), records[i].end());
  }
  return text;
}

/// Uniform letters first .. first + letters - 1.
inline std::string random_letters(std::uint64_t length, unsigned letters, unsigned first,
                                  std::uint64_t seed) {
  Random random(seed);
  std::string text(length, '\0');
  for (char& letter : text) letter = static_cast<char>(first + random.below(letters));
  return text;
}

inline std::string fibonacci(std::size_t length) {
  std::string shorter = "A";
  std::string longer = "AB";
  while (longer.size() < length) {
    std::string next = longer + shorter;
    shorter = std::move(longer);
    longer = std::move(next);
  }
  return longer.substr(0, length);
}

inline std::string repeated(std::string_view unit, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += unit;
  return text;
}

/// A de Bruijn sequence over ACGT: every word of `order` letters once, so that nothing repeats for
/// longer than that. By the greedy rule that prefers the largest letter (Martin 1934).
inline std::string de_bruijn(unsigned order) {
  const std::string_view letters = "ACGT";
  const std::size_t words = std::size_t{1} << (2 * order);
  std::vector<bool> seen(words);
  std::string text(order, 'A');
  std::size_t word = 0;
  seen[0] = true;
  for (bool extended = true; extended;) {
    extended = false;
    for (std::size_t letter = 4; letter-- > 0 && !extended;) {
      const std::size_t next = (word * 4 + letter) % words;
      if (seen[next]) continue;
      seen[next] = true;
      word = next;
      text += letters[letter];
      extended = true;
    }
  }
  return text;
}

/// The suffix array by the plain sequential reference.
template <suffix_array::Position Pos>
std::vector<Pos> reference(const suffix_array::TextView& text) {
  return suffix_array::build_by<Pos>(suffix_array::parse_algorithm("reference"), {}, text);
}

/// Texts that a suffix sorter gets wrong when it has a gap: all small enough for the reference.
std::vector<NamedText> tricky_texts();

}  // namespace sortie::test
