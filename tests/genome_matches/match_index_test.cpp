// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "apps/genome_matches/index_state.hpp"
#include "sortie/error.hpp"
#include "tests/genome_matches/oracle.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::genome_matches {

void PrintTo(const Match& match, std::ostream* out) {
  *out << match.length << " at " << match.reference << " and " << match.query;
}
void PrintTo(const StatisticsRun& run, std::ostream* out) {
  *out << "[" << run.begin << ", " << run.end << ") from " << run.length;
}

namespace {

using sortie::test::context;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::uint8_t> bytes_of(const std::string& letters) {
  return {letters.begin(), letters.end()};
}

std::vector<Match> matches_of(const std::vector<std::string>& reference, const std::string& query,
                              const MatchOptions& options) {
  const MatchIndex index(context(), test::text_of(reference), options);
  std::vector<std::uint8_t> letters = bytes_of(query);
  index.prepare_query(letters);
  std::vector<Match> matches = index.find(letters);
  index.check(letters, matches);
  return matches;
}

TEST(MatchIndex, KindsOfMatches) {
  const std::vector<std::string> reference{"ACGTACGGT", "TTACGG"};
  const std::string query = "CACGGTCACGT";
  EXPECT_THAT(matches_of(reference, query, {.min_length = 4, .kind = Kind::maximal}),
              ElementsAre(Match{1, 4, 5}, Match{1, 12, 4}, Match{7, 0, 4}));
  EXPECT_THAT(matches_of(reference, query, {.min_length = 4}),
              ElementsAre(Match{1, 4, 5}, Match{7, 0, 4}));
  EXPECT_THAT(matches_of(reference, query + query, {.min_length = 4}).size(), 4u);
  EXPECT_THAT(matches_of(reference, query + "GGACGT", {.min_length = 4, .kind = Kind::unique}),
              ElementsAre(Match{1, 4, 5}));
}

TEST(MatchIndex, LettersThatAreNotAcgtMatchThemselvesUnlessTheyMustNot) {
  const std::string text = "ACGNNNRTTGA";
  EXPECT_THAT(matches_of({text}, text, {.min_length = 3}), ElementsAre(Match{0, 0, 11}));
  EXPECT_THAT(matches_of({text}, text, {.min_length = 3, .only_acgt = true}),
              ElementsAre(Match{0, 0, 3}, Match{7, 7, 4}));
}

std::uint64_t random_pairs() {
  const char* text = std::getenv("SORTIE_MATCH_PAIRS");
  return text == nullptr ? 400 : std::strtoull(text, nullptr, 10);
}

/// Random records, queries made of them, and all options; also in ranges of the query.
TEST(MatchIndex, EqualsTheDefinition) {
  std::uint64_t found = 0;
  for (std::uint64_t seed = 0; seed < random_pairs(); ++seed) {
    Random random(seed);
    std::vector<std::string> reference(1 + random.below(4));
    std::string all;
    for (std::string& record : reference) {
      record = test::random_letters(random, 150, all);
      all += record;
    }
    if (all.empty()) continue;
    const std::string query = test::random_letters(random, 200, all);
    const std::vector<std::uint8_t> given = bytes_of(query);
    const MatchOptions options{.min_length = 1 + random.below(random.below(4) == 0 ? 60 : 12),
                               .kind = static_cast<Kind>(random.below(3)),
                               .only_acgt = random.below(3) == 0,
                               .statistics = true};
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", L " << options.min_length << ", "
                                    << name(options.kind) << ", only ACGT " << options.only_acgt);
    const MatchIndex index(context(), test::text_of(reference), options);
    std::vector<std::uint8_t> letters = given;
    index.prepare_query(letters);
    const std::vector<Match> matches = index.find(letters);
    ASSERT_EQ(matches, test::matches_by_definition(reference, query, options));
    ASSERT_NO_THROW(index.check(letters, matches));
    found += matches.size();

    std::vector<std::uint64_t> lengths;
    const std::vector<StatisticsRun> runs = index.statistics(letters);
    for (const StatisticsRun& run : runs)
      for (std::uint64_t i = run.begin; i < run.end; ++i)
        lengths.push_back(run.length - (i - run.begin));
    ASSERT_EQ(lengths, test::statistics_by_definition(reference, query, options.only_acgt));

    std::vector<Match> joined;
    std::vector<StatisticsRun> joined_runs;
    const std::uint64_t step = 1 + random.below(40);
    for (std::uint64_t begin = 0; begin < query.size(); begin += step) {
      const QueryRange range{begin, std::min<std::uint64_t>(query.size(), begin + step)};
      index.state().find(letters, range, [&](std::span<const Match> part) {
        joined.insert(joined.end(), part.begin(), part.end());
      });
      std::vector<StatisticsRun> part;
      index.state().find_statistics(letters, range, part);
      append_runs(joined_runs, part);
    }
    if (options.kind == Kind::unique) keep_unique_in_query(joined);
    ASSERT_EQ(joined, matches);
    ASSERT_EQ(joined_runs, runs);
  }
  EXPECT_GT(found, 10 * random_pairs());
}

/// Runs of one letter: as many matches as diagonals, none of which takes the time of its length.
TEST(MatchIndex, LongRunsOfOneLetter) {
  const std::string run(300'000, 'N');
  const MatchIndex index(context(), test::text_of({"ACGT" + run + "GA"}), {.kind = Kind::maximal});
  EXPECT_EQ(index.find(bytes_of("GGT" + run + "CA")).size(), 2 * run.size() - 1 - 2 * 19);
  EXPECT_THAT(matches_of({run + "ACGTTGCATTGACCTGATTGCC"}, run + "ACGTTGCATTGACCTGATTGCA", {}),
              ElementsAre(Match{0, 0, 300'021}));
}

TEST(MatchIndex, TextsWithoutMatches) {
  for (const Kind kind : {Kind::maximal, Kind::unique_in_reference, Kind::unique}) {
    const MatchOptions options{.min_length = 4, .kind = kind, .statistics = true};
    for (const char* query : {"", "ACG", "CCCCCCCC", "ACGCGTACG"})
      EXPECT_THAT(matches_of({"ACGT"}, query, options), IsEmpty());
    EXPECT_THAT(matches_of({"ACG", "", "TAC"}, "ACGTAC", options), IsEmpty());
  }
}

TEST(MatchIndex, RefusesBadArguments) {
  const auto refuse = [](const Context& context, const std::vector<std::string>& reference,
                         const MatchOptions& options, ErrorKind kind, const std::string& message) {
    sortie::test::expect_error(
        [&] { const MatchIndex index(context, test::text_of(reference), options); }, kind, message);
  };
  refuse(context(), {"ACGT"}, {.min_length = 0}, ErrorKind::usage,
         "minimum length: found 0, expected at least 1");
  refuse(context(), {"", ""}, {}, ErrorKind::input,
         "reference: found no letters, expected at least one");
  Context other = context();
  other.memory_budget = 10;
  refuse(
      other, {"ACGT"}, {}, ErrorKind::out_of_memory,
      "out of memory: the index of the reference needs 44 B (44 bytes), 10 B (10 bytes) are free");
}

TEST(MatchIndex, ChecksMatches) {
  const MatchIndex index(context(), test::text_of({"ACGTACGT", "ACGA"}), {.min_length = 3});
  const std::vector<std::uint8_t> query = bytes_of("TACGC");
  const auto refuse = [&](Match match, const std::string& found) {
    sortie::test::expect_error([&] { index.check(query, std::vector{match}); }, ErrorKind::check,
                               testing::HasSubstr("found " + found + ", expected a maximal match"));
  };
  index.check(query, std::vector<Match>{{0, 3, 4}, {1, 9, 3}});
  refuse({0, 3, 2}, "too few letters");
  refuse({1, 4, 5}, "the end of a text");
  refuse({0, 3, 5}, "different letters");
  refuse({1, 4, 3}, "the same letters before it");
  refuse({0, 3, 3}, "the same letters after it");
}

TEST(ReverseComplement, KnowsCodesOfDna) {
  EXPECT_EQ(reverse_complement(bytes_of("ACGTRYKMBVDHSWNU-X")), bytes_of("NNNNWSDHBVKMRYACGT"));
}

TEST(Kind, HasNames) {
  for (const Kind kind : {Kind::maximal, Kind::unique_in_reference, Kind::unique})
    EXPECT_EQ(parse_kind(name(kind)), kind);
  sortie::test::expect_error(
      [] { (void)parse_kind("all"); }, ErrorKind::usage,
      "kind: found \"all\", expected maximal, unique-in-reference or unique");
}

}  // namespace
}  // namespace sortie::genome_matches
