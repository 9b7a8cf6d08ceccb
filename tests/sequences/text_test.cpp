// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sortie/error.hpp"
#include "sortie/text.hpp"

namespace sortie::sequences {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Text make_text(const std::vector<std::string>& parts) {
  Text text;
  for (const std::string& part : parts) {
    if (!text.records.empty()) text.symbols.push_back(Text::separator);
    text.records.push_back({"", text.symbols.size(), part.size()});
    text.symbols.insert(text.symbols.end(), part.begin(), part.end());
  }
  return text;
}

TEST(Text, HasOneSeparatorBetweenRecords) {
  EXPECT_THAT(make_text({}).separators(), IsEmpty());
  EXPECT_THAT(make_text({"ACGT"}).separators(), IsEmpty());
  EXPECT_THAT(make_text({"AC", "", "G"}).separators(), ElementsAre(2, 3));
  EXPECT_EQ(make_text({"AC", "", "G"}).letters(), 3u);
  EXPECT_EQ(make_text({}).letters(), 0u);
}

TEST(Text, FindsTheRecordOfEveryPosition) {
  const Text text = make_text({"AC", "", "", "GTT", ""});
  std::vector<std::size_t> found;
  for (std::uint64_t position = 0; position < text.symbols.size(); ++position) {
    found.push_back(text.record_of(position));
  }
  EXPECT_THAT(found, ElementsAre(0, 0, 0, 1, 2, 3, 3, 3, 3));
}

TEST(Text, RefusesAPositionBeyondTheEnd) {
  try {
    (void)make_text({"AC", "G"}).record_of(4);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(), "position 4 is beyond a text of 4 symbols");
  }
}

TEST(Text, CountsSymbolsWithoutSeparators) {
  const auto counts = histogram(make_text({"AACaN", "", "AC"}));
  EXPECT_EQ(counts['A'], 3u);
  EXPECT_EQ(counts['a'], 1u);
  EXPECT_EQ(counts['C'], 2u);
  EXPECT_EQ(counts['N'], 1u);
  EXPECT_EQ(counts[0], 0u);
}

struct Detection {
  std::vector<std::string> parts;
  Alphabet alphabet;
};

class DetectAlphabet : public testing::TestWithParam<Detection> {};

TEST_P(DetectAlphabet, FindsTheSmallest) {
  EXPECT_EQ(detect_alphabet(make_text(GetParam().parts)), GetParam().alphabet);
}

INSTANTIATE_TEST_SUITE_P(All, DetectAlphabet,
                         testing::Values(Detection{{}, Alphabet::dna},
                                         Detection{{""}, Alphabet::dna},
                                         Detection{{"ACGT", "acgt"}, Alphabet::dna},
                                         Detection{{"ACG", "A"}, Alphabet::dna},
                                         Detection{{"ACGTn"}, Alphabet::dna_iupac},
                                         Detection{{"ACRYSWKMBDHV-"}, Alphabet::dna_iupac},
                                         Detection{{"ACGu"}, Alphabet::rna},
                                         Detection{{"ACGU", "RY-"}, Alphabet::rna_iupac},
                                         Detection{{"ACGTU"}, Alphabet::protein},
                                         Detection{{"mkvlaa*"}, Alphabet::protein},
                                         Detection{{"AC1"}, Alphabet::bytes},
                                         Detection{{"A>"}, Alphabet::bytes}));

TEST(Alphabets, AreNamedAndParsed) {
  for (const Alphabet alphabet :
       {Alphabet::automatic, Alphabet::dna, Alphabet::dna_iupac, Alphabet::rna, Alphabet::rna_iupac,
        Alphabet::protein, Alphabet::bytes}) {
    EXPECT_EQ(parse_alphabet(name(alphabet)), alphabet);
  }
  EXPECT_THROW((void)parse_alphabet("dnaa"), Error);
}

TEST(Alphabets, TakeEitherCase) {
  EXPECT_TRUE(contains(Alphabet::dna, 'g'));
  EXPECT_FALSE(contains(Alphabet::dna, 'n'));
  EXPECT_TRUE(contains(Alphabet::protein, '*'));
  EXPECT_FALSE(contains(Alphabet::protein, '.'));
  EXPECT_TRUE(contains(Alphabet::bytes, 0x01));
  EXPECT_FALSE(contains(Alphabet::bytes, '\n'));
  EXPECT_FALSE(contains(Alphabet::bytes, 0));
  EXPECT_TRUE(contains(Alphabet::automatic, 0xff));
  EXPECT_FALSE(contains(Alphabet::automatic, 0x7f));
}

}  // namespace
}  // namespace sortie::sequences
