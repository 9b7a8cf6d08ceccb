// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>

#include "apps/inverted_index/packed_block.hpp"
#include "apps/inverted_index/varint.hpp"
#include "apps/inverted_index/words.hpp"
#include "core/random.hpp"

namespace sortie::test {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  indexing::WordScanner().scan(text.data(), text.data() + text.size(),
                               [&](const char* word, std::size_t size) {
                                 words.emplace_back(word, size);
                                 return true;
                               });
  return words;
}

TEST(Words, LettersAndDigitsInLowerCase) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of(" ,;-_"), Words{});
  EXPECT_EQ(words_of("Az@[`{09/:"), (Words{"az", "09"}));
  EXPECT_EQ(words_of("Ein GRÜSSE\xc2\xa0tag"), (Words{"ein", "grüsse", "tag"}));
  EXPECT_EQ(words_of("x\xffy \xc3z \xe2\x82 \xed\xa0\x80q \xc0\xafr"),
            (Words{"x", "y", "z", "q", "r"}));
  EXPECT_EQ(words_of("sixteen_letters_ sixteenletters16 seventeenletters1"),
            (Words{"sixteen", "letters", "sixteenletters16", "seventeenletters1"}));
}

// Every place of a word in a vector, against a scan character by character.
TEST(Words, AllAlignmentsAndAllBytes) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    std::vector<std::string> expected;
    for (std::uint64_t i = random.below(12); i > 0; --i) {
      std::string word;
      for (std::uint64_t letters = 1 + random.below(random.below(4) == 0 ? 30 : 6); letters > 0;
           --letters)
        word += "abcxyz019"[random.below(9)];
      expected.push_back(word);
      text += word;
      for (std::uint64_t blanks = 1 + random.below(random.below(5) == 0 ? 40 : 2); blanks > 0;
           --blanks)
        text += random.below(20) == 0 ? '\x80' : static_cast<char>(random.below(0x30));
    }
    ASSERT_EQ(words_of(text), expected) << text;
  }
  for (int byte = 1; byte < 128; ++byte) {
    const char c = static_cast<char>(byte);
    const bool is_word = std::isalnum(byte) != 0;
    const std::string lower(1, static_cast<char>(std::tolower(byte)));
    EXPECT_EQ(words_of(std::string(1, c)),
              is_word ? std::vector{lower} : std::vector<std::string>{});
    EXPECT_EQ(words_of(std::string(1, c) + std::string(20, ' ')),
              is_word ? std::vector{lower} : std::vector<std::string>{});
  }
}

TEST(PackedBlock, EveryWidth) {
  Random random(1);
  for (int bits = 0; bits <= 32; ++bits) {
    std::array<std::uint32_t, indexing::packed_numbers> numbers;
    for (auto& number : numbers)
      number = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << bits));
    std::vector<char> packed(indexing::packed_bytes(bits));
    indexing::pack_block(numbers.data(), bits, packed.data());
    std::array<std::uint32_t, indexing::packed_numbers> read;
    indexing::unpack_block(packed.data(), bits, read.data());
    EXPECT_EQ(read, numbers) << bits;
  }
}

TEST(Varint, NumbersAndDamage) {
  for (int bits = 0; bits < 64; ++bits) {
    const std::uint64_t value = (std::uint64_t{1} << bits) - (bits % 2 == 0 ? 0 : 1);
    std::string bytes;
    indexing::append_varint(bytes, value);
    const char* at = bytes.data();
    EXPECT_EQ(indexing::take_varint(at, bytes.data() + bytes.size()), value);
    EXPECT_EQ(at, bytes.data() + bytes.size());
    at = bytes.data();
    EXPECT_EQ(indexing::take_varint(at, bytes.data() + bytes.size() - 1), 0u);
    EXPECT_EQ(at, nullptr);
  }
  const std::string endless(20, '\xff');
  const char* at = endless.data();
  EXPECT_EQ(indexing::take_varint(at, endless.data() + endless.size()), 0u);
  EXPECT_EQ(at, nullptr);
}

}  // namespace
}  // namespace sortie::test
