// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "sortie/error.hpp"
#include "sortie/text_deduplication.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/text_deduplication/oracle.hpp"

namespace sortie::texts {

void PrintTo(const ByteRange& range, std::ostream* out) {
  *out << "[" << range.begin << ", " << range.end << ")";
}
void PrintTo(const Passage& passage, std::ostream* out) {
  *out << "[" << passage.begin << ", " << passage.end << ") x " << passage.copies;
}

namespace {

using test::context;
using test::Documents;
using testing::ElementsAre;
using testing::IsEmpty;

Documents documents_of(const std::vector<std::string>& all) {
  Documents documents;
  for (const std::string& document : all) documents.add(document);
  return documents;
}

Deduplication find(const Documents& documents, const DeduplicationOptions& options) {
  return find_duplicates(context(), documents.text, documents.begins, options);
}

TEST(FindDuplicates, RemovesAllCopiesOrAllButTheFirst) {
  const Documents documents = documents_of({"abcdefgh", "xxcdefyy", "cdef"});
  EXPECT_THAT(find(documents, {.min_length = 4}).ranges,
              ElementsAre(ByteRange{2, 6}, ByteRange{10, 14}, ByteRange{16, 20}));
  EXPECT_THAT(find(documents, {.min_length = 4, .keep = Keep::first}).ranges,
              ElementsAre(ByteRange{10, 14}, ByteRange{16, 20}));
  EXPECT_THAT(find(documents, {.min_length = 5}).ranges, IsEmpty());
}

TEST(FindDuplicates, ARunKeepsItsPeriodOrItsFirstWindows) {
  const Documents documents = documents_of({"abababababab"});
  EXPECT_THAT(find(documents, {.min_length = 4, .keep = Keep::first}).ranges,
              ElementsAre(ByteRange{2, 12}));
  EXPECT_THAT(find(documents, {.min_length = 4, .keep = Keep::first, .protect_first = true}).ranges,
              ElementsAre(ByteRange{5, 12}));
}

TEST(FindDuplicates, WindowsCrossDocumentsOnRequestOnly) {
  const Documents documents = documents_of({"abcd", "efgh", "abcde", "fgh"});
  EXPECT_THAT(find(documents, {.min_length = 6}).ranges, IsEmpty());
  EXPECT_THAT(find(documents, {.min_length = 6, .across_documents = true}).ranges,
              ElementsAre(ByteRange{0, 16}));
}

TEST(FindDuplicates, IslandsAreRemovedInChangedDocumentsOnly) {
  const Documents documents = documents_of({"zabcdy", "abcdef1abcd", "uvw"});
  EXPECT_THAT(find(documents, {.min_length = 4, .min_island = 2}).ranges,
              ElementsAre(ByteRange{0, 10}, ByteRange{13, 17}));
  EXPECT_THAT(find(documents, {.min_length = 4, .min_island = 4}).ranges,
              ElementsAre(ByteRange{0, 17}));
}

TEST(FindDuplicates, AnotherCorpusCountsOnlyWhatIsInBoth) {
  const Documents documents = documents_of({"abcdabcd", "efgh", "efgh", "ghgh", "xabcd"});
  const Deduplication result = find(documents, {.min_length = 4, .other_corpus = 2});
  EXPECT_EQ(result.other_begin, 12u);
  EXPECT_THAT(result.ranges, ElementsAre(ByteRange{0, 12}, ByteRange{12, 16}, ByteRange{21, 25}));
  const Documents touching = documents_of({"abcd", "abcd"});
  EXPECT_THAT(find(touching, {.min_length = 1, .other_corpus = 1}).ranges,
              ElementsAre(ByteRange{0, 4}, ByteRange{4, 8}));
}

TEST(FindDuplicates, CountsDocumentsLengthsAndCopies) {
  const Documents documents = documents_of({"abcdefgh", "", "cdefgh", "xx", "cdefgh", "yyabcdyy"});
  const Deduplication result = find(documents, {.min_length = 4});
  EXPECT_EQ(result.text_bytes, 30u);
  EXPECT_EQ(result.documents, 6u);
  EXPECT_EQ(result.duplicate_windows, 11u);
  EXPECT_EQ(result.bytes_removed, 24u);
  EXPECT_EQ(result.documents_changed, 4u);
  EXPECT_EQ(result.documents_emptied, 3u);
  EXPECT_EQ(result.copies[1], 11u);
  EXPECT_EQ(result.range_lengths[3], 1u);  // the documents 0 and 2
  EXPECT_EQ(result.range_lengths[2], 2u);
  EXPECT_THAT(result.passages, ElementsAre(Passage{2, 8, 3}, Passage{0, 4, 2}));
}

TEST(FindDuplicates, TextsWithoutWindows) {
  for (const std::vector<std::string>& all :
       {std::vector<std::string>{}, {""}, {"abc"}, {"abc", "abc", ""}}) {
    const Deduplication result = find(documents_of(all), {.min_length = 4});
    EXPECT_THAT(result.ranges, IsEmpty());
    EXPECT_THAT(result.passages, IsEmpty());
    EXPECT_EQ(result.documents, all.size());
  }
}

TEST(FindDuplicates, RefusesBadArguments) {
  const Documents documents = documents_of({"abcd", "efgh"});
  const auto refuse = [&](const DeduplicationOptions& options, const std::string& message) {
    test::expect_error([&] { (void)find(documents, options); }, ErrorKind::usage, message);
  };
  refuse({.min_length = 0}, "minimum length: found 0 bytes, expected from 1 to 1048576");
  refuse({.min_length = most_min_length + 1},
         "minimum length: found 1048577 bytes, expected from 1 to 1048576");
  refuse({.protect_first = true}, "found protected first occurrences, expected to keep them");
  refuse({.keep = Keep::first, .other_corpus = 1},
         "found another corpus and first occurrences to keep, expected one of them");
  refuse({.other_corpus = 3}, "other corpus: found document 3, expected at most 2");
  for (const std::vector<std::uint64_t>& begins :
       {std::vector<std::uint64_t>{}, {0}, {0, 5}, {1, 8}, {0, 6, 4, 8}}) {
    test::expect_error([&] { (void)find_duplicates(context(), documents.text, begins); },
                       ErrorKind::usage,
                       "found begins of documents that are not ascending from 0 to 8, the size of "
                       "the text");
  }
}

/// Options of all kinds for a corpus.
std::vector<DeduplicationOptions> options_for(const Documents& documents, Random& random) {
  constexpr std::uint64_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 31, 40, 64, 70, 100};
  std::vector<DeduplicationOptions> all;
  for (int kind = 0; kind < 4; ++kind) {
    DeduplicationOptions options{.min_length = lengths[random.below(std::size(lengths))]};
    options.across_documents = random.below(3) == 0;
    options.whole_characters = random.below(2) == 0;
    options.min_island = random.below(2) == 0 ? 0 : random.below(20);
    if (kind == 1 || kind == 2) options.keep = Keep::first;
    options.protect_first = kind == 2;
    if (kind == 3) options.other_corpus = random.below(documents.begins.size());
    all.push_back(options);
  }
  return all;
}

/// The passages of all first windows, the most repeated first.
std::vector<Passage> passages_of(const std::vector<std::uint64_t>& copies, std::uint64_t window) {
  std::vector<Passage> all;
  for (std::uint64_t i = 0; i < copies.size(); ++i) {
    if (copies[i] == 0) continue;
    if (i == 0 || copies[i - 1] != copies[i]) all.push_back({i, i, copies[i]});
    all.back().end = i + window;
  }
  std::ranges::sort(all, [](const Passage& a, const Passage& b) {
    return std::tuple(b.copies, b.end - b.begin, a.begin) <
           std::tuple(a.copies, a.end - a.begin, b.begin);
  });
  all.resize(std::min<std::size_t>(all.size(), 100));
  return all;
}

/// SORTIE_DEDUPLICATION_CORPORA: how many random corpora, by default 250.
std::uint64_t random_corpora() {
  const char* text = std::getenv("SORTIE_DEDUPLICATION_CORPORA");
  return text == nullptr ? 250 : std::strtoull(text, nullptr, 10);
}

TEST(FindDuplicates, EqualsTheDefinitionOnRandomCorpora) {
  std::uint64_t duplicates = 0;
  for (std::uint64_t seed = 0; seed < random_corpora(); ++seed) {
    Random random(seed, 1);
    const Documents documents = test::random_documents(random, 2000);
    for (const DeduplicationOptions& options : options_for(documents, random)) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", L " << options.min_length
                                      << ", keep " << name(options.keep));
      const test::Expected expected = test::expected_of(documents, options);
      // On a device, too small texts are not divided: all anchors of one letter are in one part.
      const std::uint64_t small = test::backend() == Backend::host ? 40'000 : 400'000;
      for (const std::uint64_t budget : {std::uint64_t{0}, small}) {
        Context limited = context();
        limited.memory_budget = budget;
        const Deduplication result =
            find_duplicates(limited, documents.text, documents.begins, options);
        ASSERT_EQ(result.ranges, expected.ranges);
        ASSERT_EQ(result.duplicate_windows, expected.duplicate_windows);
        ASSERT_EQ(result.passages, passages_of(expected.copies, options.min_length));
        ASSERT_NO_THROW(
            check_duplicates(limited, documents.text, documents.begins, options, result));
        duplicates += result.duplicate_windows;
      }
    }
  }
  EXPECT_GT(duplicates, 100'000u * random_corpora() / 250);
}

/// A k-gram that occurs often between different bytes, whose group must be divided.
TEST(FindDuplicates, CommonGramsInDifferentContexts) {
  Random random(5);
  Documents documents;
  const std::string common(40, ' ');
  std::string text;
  for (int i = 0; i < 400; ++i) {
    for (int j = 0; j < 30; ++j) text += static_cast<char>('a' + random.below(i % 3 == 0 ? 2 : 20));
    text += common;
    if (i % 7 == 0 && i > 0) text += text.substr(random.below(text.size()), 90);
  }
  documents.add(text);
  for (const std::uint64_t length : {20, 45, 64, 80}) {
    for (const Keep keep : {Keep::none, Keep::first}) {
      const DeduplicationOptions options{.min_length = length, .keep = keep};
      EXPECT_EQ(find(documents, options).ranges, test::expected_of(documents, options).ranges);
    }
  }
}

TEST(FindDuplicates, RunsOfOneByteAndOfPeriods) {
  for (const std::uint64_t period : {1, 2, 7, 50, 100, 1000}) {
    Random random(period);
    std::string text;
    for (std::uint64_t i = 0; i < 6000; ++i)
      text += i < period ? static_cast<char>(random.below(256)) : text[i - period];
    text[4500] ^= 1;
    Documents documents;
    documents.add(text);
    for (const std::uint64_t length : {100, 300}) {
      const DeduplicationOptions options{.min_length = length, .keep = Keep::first};
      const Deduplication result = find(documents, options);
      EXPECT_EQ(result.ranges, test::expected_of(documents, options).ranges) << period;
    }
  }
}

/// Windows longer than the most offsets of an anchor; a text that several tasks share.
TEST(FindDuplicates, LongWindowsInALongText) {
  Random random(3);
  std::string text;
  for (int i = 0; i < 3'000'000; ++i) text += static_cast<char>('a' + random.below(20));
  const std::uint64_t copied = 900'000;
  text.replace(1'500'000, copied, text.substr(100'000, copied));
  Documents documents;
  documents.add(text);
  for (const std::uint64_t length : {100, 5000, 200'000, 900'000}) {
    DeduplicationOptions options{.min_length = length, .whole_characters = false};
    EXPECT_THAT(find(documents, options).ranges,
                ElementsAre(ByteRange{100'000, 1'000'000}, ByteRange{1'500'000, 2'400'000}));
    options.keep = Keep::first;
    const Deduplication first = find(documents, options);
    EXPECT_THAT(first.ranges, ElementsAre(ByteRange{1'500'000, 2'400'000}));
    EXPECT_THAT(first.passages, ElementsAre(Passage{100'000, 1'000'000, 2}));
  }
}

TEST(CheckDuplicates, FindsWrongRanges) {
  const Documents documents = documents_of({"abcdefgh", "xxcdefyy"});
  const DeduplicationOptions options{.min_length = 4};
  Deduplication result = find(documents, options);
  const auto expect_wrong = [&](const std::string& message) {
    test::expect_error(
        [&] { check_duplicates(context(), documents.text, documents.begins, options, result); },
        ErrorKind::check, message);
  };
  result.ranges[1].end = 13;
  expect_wrong("deduplication, range 1: found 10 13, expected 10 14");
  result.ranges.pop_back();
  expect_wrong("deduplication, range 1: found none, expected 10 14");
  result.duplicate_windows = 3;
  expect_wrong("deduplication: found 3 duplicate windows, expected 2");
}

TEST(Keep, HasNames) {
  for (const Keep keep : {Keep::none, Keep::first}) EXPECT_EQ(parse_keep(name(keep)), keep);
  test::expect_error([] { (void)parse_keep("last"); }, ErrorKind::usage,
                     "keep: found \"last\", expected none or first");
}

}  // namespace
}  // namespace sortie::texts
