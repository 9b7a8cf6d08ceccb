// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/files/checksum.hpp"
#include "sequences/generators.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::sequences {
namespace {

std::string digest(const Text& text) {
  return checksum_text(extend_fnv1a(fnv1a_seed, text.symbols.data(), text.symbols.size()));
}

void expect_one_record(const Text& text, std::uint64_t length) {
  ASSERT_EQ(text.records.size(), 1u);
  EXPECT_EQ(text.records[0].offset, 0u);
  EXPECT_EQ(text.records[0].length, length);
  EXPECT_EQ(text.symbols.size(), length);
}

std::string content(const Text& text) {
  return {text.symbols.begin(), text.symbols.end()};
}

TEST(Generators, MakeTheLengthAskedFor) {
  for (const std::uint64_t length : {0, 1, 2, 31, 32, 33, 1000, 100'000}) {
    expect_one_record(uniform_dna(length, 1), length);
    expect_one_record(repetitive_dna(length, 1), length);
    expect_one_record(fibonacci_text(length), length);
    expect_one_record(one_letter(length, 'N'), length);
  }
}

// The same seed must give the same text on every machine and in every later version.
TEST(Generators, AreReproducible) {
  EXPECT_EQ(digest(uniform_dna(100'000, 1)), "518b5a691579ae93");
  EXPECT_EQ(digest(repetitive_dna(100'000, 1)), "a0322d36a07193dc");
  EXPECT_NE(digest(uniform_dna(1000, 1)), digest(uniform_dna(1000, 2)));
  EXPECT_NE(digest(repetitive_dna(1000, 1)), digest(repetitive_dna(1000, 2)));
}

TEST(UniformDna, HasEveryBaseAQuarterOfTheTime) {
  const auto counts = histogram(uniform_dna(1'000'000, 3));
  for (const char base : {'A', 'C', 'G', 'T'}) {
    // Five standard deviations of the binomial distribution.
    EXPECT_NEAR(static_cast<double>(counts[static_cast<std::size_t>(base)]), 250'000, 2200);
  }
}

TEST(RepetitiveDna, HasTheSharesAskedFor) {
  const auto n_share = [](double wanted) {
    const auto counts = histogram(repetitive_dna(8'000'000, 5, {.n_share = wanted}));
    return static_cast<double>(counts['N']) / 8e6;
  };
  EXPECT_EQ(n_share(0), 0);
  EXPECT_NEAR(n_share(0.2), 0.2, 0.06);
  EXPECT_EQ(detect_alphabet(repetitive_dna(1'000'000, 5)), Alphabet::dna_iupac);
}

TEST(RepetitiveDna, RepeatsExactlyWithoutMutations) {
  const std::string text = content(repetitive_dna(
      200'000, 9, {.interspersed_share = 1, .tandem_share = 0, .n_share = 0, .mutation_rate = 0}));
  // Ten families of at most 6000 letters, on two strands: a window must come again somewhere.
  EXPECT_NE(text.find(text.substr(50, 40), 51), std::string::npos);
}

TEST(RepetitiveDna, RefusesSharesThatMakeNoSense) {
  EXPECT_THROW((void)repetitive_dna(10, 1, {.n_share = -0.1}), Error);
  EXPECT_THROW((void)repetitive_dna(10, 1, {.mutation_rate = 1.5}), Error);
  EXPECT_THROW((void)repetitive_dna(10, 1, {.interspersed_share = 0.8, .tandem_share = 0.3}),
               Error);
}

Text source_of(std::string_view letters) {
  Text source;
  source.symbols.assign(letters.begin(), letters.end());
  source.records.push_back({"", 0, letters.size()});
  return source;
}

TEST(MutatedCopies, RepeatTheSourceAndChangeTheShareAskedFor) {
  const Text source = uniform_dna(50'000, 7);
  const std::uint64_t length = 20 * source.symbols.size() + 123;
  for (const double rate : {0.0, 0.01, 0.5, 1.0}) {
    SCOPED_TRACE(rate);
    const Text text = mutated_copies(source, length, rate, 1);
    expect_one_record(text, length);
    std::uint64_t changed = 0;
    for (std::uint64_t i = 0; i < length; ++i) {
      const bool differs = text.symbols[i] != source.symbols[i % source.symbols.size()];
      ASSERT_FALSE(differs && i < source.symbols.size()) << "the source itself, at " << i;
      changed += differs ? 1 : 0;
    }
    const double copied = static_cast<double>(length - source.symbols.size());
    // Five standard deviations of the binomial distribution.
    EXPECT_NEAR(static_cast<double>(changed), rate * copied,
                5 * std::sqrt(copied * rate * (1 - rate)));
  }
  EXPECT_EQ(digest(mutated_copies(source, 300'000, 0.01, 1)), "e180caf9e02644e0");
}

TEST(MutatedCopies, LeaveGapsAsTheyAre) {
  const std::string text = content(mutated_copies(source_of("NNNANNN"), 7000, 1, 1));
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 7 != 3) {
      ASSERT_EQ(text[i], 'N') << i;
    } else if (i > 7) {
      ASSERT_NE(std::string("CGT").find(text[i]), std::string::npos) << i;
    }
  }
}

TEST(MutatedCopies, RunTheRecordsTogether) {
  Text source = source_of(std::string("AC\0GT", 5));
  source.records = {{"a", 0, 2}, {"b", 3, 2}};
  EXPECT_EQ(content(mutated_copies(source, 7, 0, 1)), "ACGTACG");
  EXPECT_EQ(content(mutated_copies(source, 0, 0, 1)), "");
}

TEST(MutatedCopies, RefuseAnEmptySourceAndAWrongRate) {
  EXPECT_THROW((void)mutated_copies(source_of(""), 10, 0.01, 1), Error);
  EXPECT_THROW((void)mutated_copies(source_of("A"), 10, -0.01, 1), Error);
  EXPECT_THROW((void)mutated_copies(source_of("A"), 10, 1.01, 1), Error);
}

TEST(FibonacciText, IsTheInfiniteWord) {
  EXPECT_EQ(content(fibonacci_text(21)), "ABAABABAABAABABAABABA");
  // Each word is the one before it followed by the one before that.
  const std::string word = content(fibonacci_text(6765));
  EXPECT_EQ(word.substr(4181), word.substr(0, 2584));
}

TEST(OneLetter, IsOneLetter) {
  EXPECT_EQ(content(one_letter(5, 'G')), "GGGGG");
}

}  // namespace
}  // namespace sortie::sequences
