// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "sortie/error.hpp"
#include "tests/inverted_index/random_documents.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using indexing::Bm25Options;
using indexing::Hit;
using Set = std::set<std::uint32_t>;

/// Documents, and their index.
class Search : public testing::Test {
 protected:
  void build(IndexedDocuments indexed, bool positions = false) {
    documents = std::move(indexed);
    indexing::IndexOptions options;
    options.positions = positions;
    indexing::build_index(HostBuild(), documents.source(), folder.path("index"), options);
    index.emplace(folder.path("index"));
  }
  static Context HostBuild() { return {}; }

  /// By the definition, for each document.
  [[nodiscard]] std::vector<Hit> plain_bm25(const std::vector<std::string>& query,
                                            const Bm25Options& options) const {
    double all = 0;
    for (const std::uint64_t length : documents.lengths) all += static_cast<double>(length);
    const auto count = static_cast<double>(documents.texts.size());
    std::vector<std::pair<std::string, int>> words;
    for (const std::string& term : query) {
      const auto known = std::find_if(words.begin(), words.end(),
                                      [&](const auto& word) { return word.first == term; });
      if (known == words.end()) {
        words.emplace_back(term, 1);
      } else {
        ++known->second;
      }
    }
    std::vector<Hit> hits;
    for (std::uint32_t d = 0; d < documents.texts.size(); ++d) {
      double score = 0;
      bool found = false;
      for (const auto& [term, times] : words) {
        const auto postings = documents.terms.find(term);
        if (postings == documents.terms.end()) continue;
        const auto own = postings->second.find(d);
        if (own == postings->second.end()) continue;
        found = true;
        const auto having = static_cast<double>(postings->second.size());
        const auto f = static_cast<double>(own->second.size());
        const double norm =
            options.k1 * (1 - options.b) +
            options.k1 * options.b / (all / count) * static_cast<double>(documents.lengths[d]);
        const double idf = times * std::log(1 + (count - having + 0.5) / (having + 0.5));
        score += idf * f / (f + norm);
      }
      if (found) hits.push_back({d, score});
    }
    std::stable_sort(hits.begin(), hits.end(),
                     [](const Hit& a, const Hit& b) { return a.score > b.score; });
    if (hits.size() > options.top) hits.resize(options.top);
    return hits;
  }

  [[nodiscard]] std::string random_term(Random& random) const {
    if (random.below(20) == 0) return "absent";
    auto term = documents.terms.begin();
    std::advance(term, static_cast<std::ptrdiff_t>(random.below(documents.terms.size())));
    return term->first;
  }
  [[nodiscard]] Set documents_with(const std::string& term) const {
    Set found;
    if (const auto postings = documents.terms.find(term); postings != documents.terms.end())
      for (const auto& [document, positions] : postings->second) found.insert(document);
    return found;
  }

  /// A random expression and the documents that satisfy it.
  std::pair<std::string, Set> random_expression(Random& random, int depth) {
    const std::uint64_t kind = depth == 0 ? 0 : random.below(5);
    if (kind == 0) {
      const std::string term = random_term(random);
      return {term, documents_with(term)};
    }
    auto [left, left_set] = random_expression(random, depth - 1);
    Set result;
    if (kind == 1) {
      for (std::uint32_t d = 0; d < documents.texts.size(); ++d)
        if (!left_set.contains(d)) result.insert(d);
      return {"NOT (" + left + ")", result};
    }
    auto [right, right_set] = random_expression(random, depth - 1);
    if (kind == 2) {
      std::set_union(left_set.begin(), left_set.end(), right_set.begin(), right_set.end(),
                     std::inserter(result, result.end()));
      return {"(" + left + " OR " + right + ")", result};
    }
    std::set_intersection(left_set.begin(), left_set.end(), right_set.begin(), right_set.end(),
                          std::inserter(result, result.end()));
    return {"(" + left + (kind == 3 ? " AND " : " ") + right + ")", result};
  }

  TemporaryFolder folder;
  IndexedDocuments documents;
  std::optional<indexing::InvertedIndex> index;
};

TEST_F(Search, RanksAreThoseOfTheDefinition) {
  Random random(5);
  for (std::uint64_t corpus = 0; corpus < 4; ++corpus) {
    // Few words: long lists, and documents with equal scores.
    build(
        random_documents(corpus == 3 ? 3000 : 400, 1 + 12 * corpus, corpus == 0 ? 5 : 60, corpus));
    for (int i = 0; i < 250; ++i) {
      std::vector<std::string> query;
      std::string text;
      for (std::uint64_t words = 1 + random.below(6); words > 0; --words) {
        query.push_back(random_term(random));
        text += query.back() + ' ';
      }
      const Bm25Options options{.k1 = 0.3 * static_cast<double>(random.below(6)),
                                .b = 0.25 * static_cast<double>(random.below(5)),
                                .top = random.below(3) == 0 ? 1000 : random.below(12)};
      const std::vector<Hit> found = search_bm25(*index, text, options);
      const std::vector<Hit> expected = plain_bm25(query, options);
      ASSERT_EQ(found.size(), expected.size()) << text;
      check_bm25(*index, text, options, found);
      for (std::size_t hit = 0; hit < found.size(); ++hit) {
        ASSERT_EQ(found[hit].document, expected[hit].document) << text << hit;
        ASSERT_EQ(found[hit].score, expected[hit].score) << text << hit;
      }
    }
  }
}

TEST_F(Search, ExpressionsSelectTheSameDocumentsAsSets) {
  Random random(6);
  for (std::uint64_t corpus = 0; corpus < 3; ++corpus) {
    build(random_documents(corpus == 2 ? 2000 : 300, 10 + 10 * corpus, 40, corpus));
    for (int i = 0; i < 300; ++i) {
      const auto [expression, expected] = random_expression(random, 4);
      const std::vector<std::uint32_t> found = search_boolean(*index, expression);
      ASSERT_TRUE(Set(found.begin(), found.end()) == expected) << expression;
      ASSERT_TRUE(std::is_sorted(found.begin(), found.end()));
      check_boolean(*index, expression, ~std::uint64_t{0}, found);
      const std::vector<std::uint32_t> first = search_boolean(*index, expression, 3);
      ASSERT_TRUE(std::equal(first.begin(), first.end(), found.begin())) << expression;
      ASSERT_EQ(first.size(), std::min<std::size_t>(3, found.size()));
    }
  }
}

TEST_F(Search, WordsThatFollowEachOther) {
  build(random_documents(500, 40, 20, 9), true);
  std::vector<std::vector<std::string>> words;
  for (std::size_t d = 0; d < documents.texts.size(); ++d) words.emplace_back(documents.lengths[d]);
  for (const auto& [term, postings] : documents.terms)
    for (const auto& [document, positions] : postings)
      for (const std::uint64_t position : positions) words[document][position] = term;
  Random random(10);
  for (int i = 0; i < 200; ++i) {
    const std::vector<std::string> phrase = {random_term(random), random_term(random),
                                             random_term(random)};
    const std::size_t size = 2 + random.below(2);
    Set expected;
    for (std::uint32_t d = 0; d < words.size(); ++d) {
      for (std::size_t at = 0; at + size <= words[d].size(); ++at)
        if (std::equal(phrase.begin(), phrase.begin() + static_cast<std::ptrdiff_t>(size),
                       words[d].begin() + static_cast<std::ptrdiff_t>(at)))
          expected.insert(d);
    }
    std::string query = "\"";
    for (std::size_t w = 0; w < size; ++w) query += phrase[w] + (w + 1 < size ? " " : "\"");
    const std::vector<std::uint32_t> found = search_boolean(*index, query);
    ASSERT_TRUE(Set(found.begin(), found.end()) == expected) << query;
    check_boolean(*index, query, ~std::uint64_t{0}, found);
  }
}

TEST_F(Search, TheChecksFindDifferences) {
  build(random_documents(50, 30, 40, 3));
  std::vector<Hit> hits = search_bm25(*index, "i straße 3d");
  ASSERT_FALSE(hits.empty());
  hits[0].score += 1e-9;
  EXPECT_THROW(check_bm25(*index, "i straße 3d", {}, hits), Error);
  std::vector<std::uint32_t> documents_found = search_boolean(*index, "i OR 3d");
  documents_found.pop_back();
  EXPECT_THROW(check_boolean(*index, "i OR 3d", 100, documents_found), Error);
}

TEST_F(Search, WordsOfQueriesAreThoseOfDocuments) {
  IndexedDocuments few;
  few.add("Don't STOP", {"don", "t", "stop"});
  few.add("stop don", {"stop", "don"});
  build(few);
  EXPECT_EQ(search_boolean(*index, "DON'T"), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(search_boolean(*index, "Stop"), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(search_bm25(*index, "t, t!").size(), 1u);
  EXPECT_TRUE(search_bm25(*index, "").empty());
  EXPECT_TRUE(search_bm25(*index, "stop", {.top = 0}).empty());
}

TEST_F(Search, QueriesThatAreNotWellFormed) {
  IndexedDocuments few;
  few.add("a b", {"a", "b"});
  build(few);
  const auto expect = [&](const std::string& query, const std::string& message) {
    EXPECT_THAT([&] { static_cast<void>(search_boolean(*index, query)); },
                testing::ThrowsMessage<Error>("query " + message))
        << query;
  };
  expect("", "\"\": found the end of the query, expected a word");
  expect("a OR", "\"a OR\": found the end of the query, expected a word");
  expect("(a", "\"(a\": found the end of the query, expected \")\"");
  expect("a)", "\"a)\": found \")\", expected the end of the query");
  expect("--", "\"--\": found \"--\", expected a word");
  expect("\"a b\"",
         "\"\\\"a b\\\"\": found words that follow each other, expected an index with "
         "positions");
  expect("\"a", "\"\\\"a\": found no second quotation mark, expected one");
  EXPECT_THROW(static_cast<void>(search_boolean(*index, std::string(100000, '('))), Error);
  EXPECT_THROW(static_cast<void>(search_bm25(*index, "a", {.k1 = -1})), Error);
  EXPECT_THROW(static_cast<void>(search_bm25(*index, "a", {.b = 2})), Error);
  EXPECT_THROW(static_cast<void>(search_kmers(*index, "ACGT", 1)), Error);
}

}  // namespace
}  // namespace sortie::test
