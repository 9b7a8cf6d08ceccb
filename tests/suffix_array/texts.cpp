// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "tests/suffix_array/texts.hpp"

namespace sortie::test {
namespace {

/// All 256 byte values, the byte 0 among the letters of the records and as the separator.
NamedText all_bytes_in_records() {
  const std::string letters = random_letters(3000, 256, 0, 11);
  return joined("all_bytes_in_records",
                {letters.substr(0, 1000), letters.substr(1000, 7), letters.substr(0, 1000),
                 letters.substr(1007), std::string(3, '\0')});
}

std::vector<std::string> many_short_records(std::uint64_t seed) {
  Random random(seed);
  std::vector<std::string> records;
  for (int i = 0; i < 400; ++i)
    records.push_back(random_letters(random.below(9), 2, 'A', seed + i));
  return records;
}

NamedText gaps_of_n() {
  const std::string dna = random_letters(2000, 4, 'A', 5);
  // Equal gaps with different and with equal surroundings, a gap at either end, and one that a
  // smaller and a larger letter follow.
  return single("gaps_of_n", std::string(300, 'N') + dna.substr(0, 500) + std::string(200, 'N') +
                                 dna.substr(500, 500) + std::string(200, 'N') +
                                 dna.substr(500, 500) + std::string(90, 'N') + "Z" +
                                 std::string(91, 'N') + "A" + std::string(300, 'N'));
}

NamedText gaps_in_records() {
  const std::string gap(150, 'C');
  return joined("gaps_in_records", {gap, gap + "A", gap + "G", "T" + gap, gap, gap + gap, "C", ""});
}

NamedText nested_prefixes() {
  const std::string letters = random_letters(120, 4, 'a', 3);
  std::vector<std::string> records;
  for (std::size_t length : {0, 1, 2, 26, 27, 28, 53, 54, 55, 120}) {
    records.push_back(letters.substr(0, length));
    records.push_back(letters.substr(letters.size() - length));
  }
  return joined("nested_prefixes", records);
}

}  // namespace

std::vector<NamedText> tricky_texts() {
  std::vector<NamedText> texts = {
      single("empty", ""),
      single("one_symbol", "A"),
      single("one_zero_byte", std::string_view("\0", 1)),
      single("one_letter", std::string(1000, 'A')),
      single("one_letter_shorter_than_a_word", std::string(40, 'A')),
      single("one_letter_as_long_as_a_word", std::string(63, 'A')),
      single("two_letters", "BABABBAABABBBA"),
      single("banana", "banana"),
      single("fibonacci", fibonacci(3000)),
      single("period_3", repeated("ABC", 700)),
      single("period_100", repeated(random_letters(100, 4, 'A', 1), 20)),
      single("de_bruijn", de_bruijn(6)),
      single("ascending", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
      single("descending", "ZYXWVUTSRQPONMLKJIHGFEDCBA"),
      single("random_2", random_letters(5000, 2, 'A', 2)),
      single("random_4", random_letters(20000, 4, 'A', 4)),
      single("random_20", random_letters(5000, 20, 'A', 20)),
      single("random_256", random_letters(20000, 256, 0, 256)),
      single("random_255", random_letters(5000, 255, 1, 255)),
      single("all_bytes_repeated", repeated(random_letters(600, 256, 0, 8), 4)),
      gaps_of_n(),
      gaps_in_records(),
      nested_prefixes(),
      all_bytes_in_records(),
      joined("two_empty_records", {"", ""}),
      joined("only_empty_records", std::vector<std::string>(40)),
      joined("equal_records", std::vector<std::string>(50, random_letters(70, 4, 'A', 7))),
      joined("equal_single_letters", std::vector<std::string>(300, "A")),
      joined("empty_at_both_ends", {"", "GATTACA", "", "", "GATTACA", ""}),
      joined("many_short_records", many_short_records(9)),
  };
  return texts;
}

}  // namespace sortie::test
