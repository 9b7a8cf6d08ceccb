// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "apps/inverted_index/sort_queue.hpp"
#include "papers/papers.hpp"
#include "sortie/error.hpp"
#include "tests/inverted_index/random_documents.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using indexing::Indexer;
using indexing::IndexOptions;

/// Those that this backend has.
std::vector<Indexer> indexers() {
  if (backend() == Backend::cuda) return {Indexer::gpu, Indexer::gpu_overlapped};
  return {Indexer::cpu, Indexer::cpu_overlapped};
}

class BuildIndex : public testing::Test {
 protected:
  /// Builds an index, compares it with `expected`, and returns its bytes.
  std::string build(const IndexedDocuments& expected, const indexing::DocumentSource& source,
                    const IndexOptions& options, const Context& context) {
    const std::string path = folder.path("index");
    const auto figures = indexing::build_index(context, source, path, options);
    const IndexContent content = content_of_index(path);
    EXPECT_EQ(content.names, expected.names);
    EXPECT_EQ(content.lengths, expected.lengths);
    EXPECT_TRUE(content.terms ==
                (options.positions ? expected.terms : without_positions(expected.terms)));
    EXPECT_EQ(figures.documents, expected.texts.size());
    EXPECT_EQ(figures.terms, expected.terms.size());
    runs = figures.runs;
    return content_of(path);
  }

  TemporaryFolder folder;
  std::uint64_t runs = 0;
};

TEST_F(BuildIndex, RandomDocumentsByEveryIndexer) {
  for (std::uint64_t seed = 0; seed < 7; ++seed) {
    const auto documents =
        random_documents(1 + seed * 9, 1 + 60 * (seed % 4), 13 + 90 * seed, seed);
    for (const bool positions : {false, true}) {
      std::string first;
      for (const Indexer indexer : indexers()) {
        for (const std::uint64_t block_bytes : {0, 1, 700, 20000}) {
          IndexOptions options{.indexer = indexer, .positions = positions};
          options.block_bytes = block_bytes;
          const std::string bytes = build(documents, documents.source(), options, context());
          if (first.empty()) first = bytes;
          EXPECT_TRUE(bytes == first) << name(indexer) << ' ' << block_bytes;
        }
      }
    }
  }
}

TEST_F(BuildIndex, TheFileDependsNeitherOnThreadsNorOnTheBudget) {
  const auto documents = random_documents(2000, 40, 3000, 7);
  const IndexOptions options{.indexer = indexers().back(), .positions = true};
  const std::string expected = build(documents, documents.source(), options, context());
  EXPECT_EQ(runs, 1u);
  for (const int threads : {1, 2, 3, 8}) {
    Context limited = context();
    limited.threads = threads;
    for (const std::uint64_t budget : {std::uint64_t{1} << 20, std::uint64_t{1} << 30}) {
      // The indexer gpu-overlapped has a thread more.
      limited.memory_budget = budget * (static_cast<std::uint64_t>(threads) + 1);
      EXPECT_TRUE(build(documents, documents.source(), options, limited) == expected) << threads;
    }
  }
  // Runs in the temporary file, and merges of many of them.
  Context small = context();
  small.memory_budget = 2 << 20;
  small.threads = 1;
  static_cast<void>(build(documents, documents.source(), options, small));
  EXPECT_GT(runs, 3u);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST_F(BuildIndex, LongListsHaveManyBlocks) {
  for (const std::size_t documents : {127, 128, 129, 1000, 40000}) {
    IndexedDocuments all;
    Random random(documents);
    for (std::size_t i = 0; i < documents; ++i) {
      std::vector<std::string> terms(1 + (i % 7 == 0 ? random.below(40) : 0), "all");
      if (i % 2 == 0) terms.emplace_back("even");
      if (random.below(300) == 0) terms.emplace_back("rare");
      std::string text;
      for (const std::string& term : terms) text += term + ' ';
      all.add(text, terms);
    }
    for (const bool positions : {false, true})
      static_cast<void>(
          build(all, all.source(), {.indexer = indexers()[0], .positions = positions}, context()));
  }
}

TEST_F(BuildIndex, PlainDocumentsAreSplitBetweenWords) {
  const auto parts = random_documents(40, 300, 500, 3);
  IndexedDocuments joined;
  std::vector<std::string> paths;
  for (std::size_t first : {0, 20}) {
    std::string text;
    std::vector<std::string> terms;
    for (std::size_t i = first; i < first + 20; ++i) {
      std::vector<std::string> own(parts.lengths[i]);
      for (const auto& [term, postings] : parts.terms) {
        const auto found = postings.find(static_cast<std::uint32_t>(i));
        if (found == postings.end()) continue;
        for (const std::uint64_t position : found->second) own[position] = term;
      }
      text += parts.texts[i] + '\n';
      terms.insert(terms.end(), own.begin(), own.end());
    }
    paths.push_back(folder.write("text" + std::to_string(first), text));
    joined.add(text, terms);
    joined.names.back() = paths.back();
  }
  for (const Indexer indexer : indexers()) {
    for (const std::uint64_t block_bytes : {100, 999, 1 << 20}) {
      IndexOptions options{.indexer = indexer, .positions = true};
      options.block_bytes = block_bytes;
      static_cast<void>(
          build(joined, indexing::corpus_documents(context(), paths), options, context()));
    }
  }
}

TEST_F(BuildIndex, ALargeDictionaryDoesNotCutLaterRuns) {
  IndexedDocuments documents;
  for (int part = 0; part < 8; ++part) {
    std::string text;
    std::vector<std::string> terms;
    for (int i = 0; i < 5000; ++i) {
      terms.push_back("w" + std::to_string(part == 0 ? i : i % 10));
      text += terms.back() + ' ';
    }
    documents.add(text, terms);
  }
  IndexOptions options{.indexer = indexers()[0]};
  options.block_bytes = 20000;
  static_cast<void>(build(documents, documents.source(), options, context()));
  EXPECT_LE(runs, 20u);
}

TEST_F(BuildIndex, LongWordsAreSplitAtACharacter) {
  IndexedDocuments documents;
  const std::string a(255, 'a');
  documents.add(a + a + "bc d", {a, a, "bc", "d"});
  std::string umlauts;
  for (int i = 0; i < 127; ++i) umlauts += "ü";
  documents.add(umlauts + umlauts + "x", {umlauts, umlauts + "x"});
  documents.add(std::string(254, 'b') + "ü", {std::string(254, 'b'), "ü"});
  static_cast<void>(build(documents, documents.source(),
                          {.indexer = indexers()[0], .positions = true}, context()));
}

TEST_F(BuildIndex, NoDocumentsAndNoWords) {
  IndexedDocuments none;
  static_cast<void>(build(none, none.source(), {.indexer = indexers()[0]}, context()));
  none.add("", {});
  none.add(" -- ", {});
  static_cast<void>(build(none, none.source(), {.indexer = indexers()[0]}, context()));
}

TEST_F(BuildIndex, StemsJoinWords) {
  IndexedDocuments documents;
  documents.add("Indexing the indexed INDEX; a CONNECTION connected", {});
  const auto build_stemmed = [&](const std::string& stemmer) {
    IndexOptions options{.indexer = indexers()[0], .positions = true};
    options.stemmer = stemmer;
    indexing::build_index(context(), documents.source(), folder.path("index"), options);
    indexing::check_index(context(), documents.source(), folder.path("index"), options);
  };
  try {
    build_stemmed("english");
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::unavailable);
    GTEST_SKIP() << error.what();
  }
  const IndexContent content = content_of_index(folder.path("index"));
  EXPECT_EQ(content.terms.at("index").at(0), (std::vector<std::uint64_t>{0, 2, 3}));
  EXPECT_EQ(content.terms.at("connect").at(0), (std::vector<std::uint64_t>{5, 6}));
  EXPECT_THAT([&] { build_stemmed("klingon"); },
              testing::ThrowsMessage<Error>(
                  testing::StartsWith("stemmer: found \"klingon\", expected one of")));
}

TEST_F(BuildIndex, TheCheckFindsADifference) {
  const auto documents = random_documents(20, 30, 60, 1);
  const auto others = random_documents(20, 30, 60, 2);
  const IndexOptions options{.indexer = indexers()[0], .positions = true};
  const std::string path = folder.path("index");
  indexing::build_index(context(), documents.source(), path, options);
  indexing::check_index(context(), documents.source(), path, options);
  try {
    indexing::check_index(context(), others.source(), path, options);
    ADD_FAILURE() << "no difference was found";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::check);
  }
}

TEST_F(BuildIndex, Refusals) {
  const auto documents = random_documents(20, 30, 60, 1);
  const auto expect = [&](const IndexOptions& options, const Context& context, ErrorKind kind) {
    try {
      indexing::build_index(context, documents.source(), folder.path("index"), options);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
    }
    EXPECT_EQ(folder.entries(), 0u);
  };
  Context small = context();
  small.memory_budget = 1000;
  expect({}, small, ErrorKind::out_of_memory);
  expect({.kmer_length = 32}, context(), ErrorKind::usage);
  expect({.canonical = true}, context(), ErrorKind::usage);
  expect({.indexer = Indexer::cpu, .gpu_sort = SortAlgorithm::merge}, context(), ErrorKind::usage);
  expect({.indexer = Indexer::gpu, .kmer_length = 5, .gpu_sort = SortAlgorithm::merge}, context(),
         ErrorKind::usage);
  Context host = context();
  host.device = 4000;
  expect({.indexer = Indexer::gpu}, host, ErrorKind::unavailable);
  expect({.indexer = Indexer::gpu_overlapped}, host, ErrorKind::unavailable);
  // An error of the source ends all indexers.
  for (const Indexer indexer : indexers()) {
    std::uint64_t calls = 0;
    const auto source = [&](indexing::Documents& block, std::uint64_t) {
      if (++calls == 5) throw Error(ErrorKind::input, "broken");
      block.bytes = "some words";
      block.end_document("x");
      return true;
    };
    EXPECT_THROW(
        indexing::build_index(context(), source, folder.path("index"), {.indexer = indexer}),
        Error);
    EXPECT_EQ(folder.entries(), 0u);
  }
}

TEST_F(BuildIndex, EverySortOfTheGpu) {
  if (backend() == Backend::host) GTEST_SKIP() << "needs a GPU";
  const auto documents = random_documents(300, 60, 900, 5);
  for (const bool positions : {false, true}) {
    IndexOptions options{.indexer = Indexer::gpu, .positions = positions, .block_bytes = 5000};
    const std::string expected = build(documents, documents.source(), options, context());
    for (const SortAlgorithm sort : {SortAlgorithm::merge, SortAlgorithm::radix, papers::bitonic}) {
      options.gpu_sort = sort;
      options.indexer = Indexer::gpu_overlapped;
      EXPECT_TRUE(build(documents, documents.source(), options, context()) == expected)
          << name(sort);
    }
  }
}

// gpu-overlapped without a GPU: threads parse while one sorts.
TEST(SortQueue, SortsWhileOthersParse) {
  const auto documents = random_documents(50, 40, 100, 1);
  for (const bool overlapped : {false, true}) {
    const IndexOptions options;
    indexing::SortQueue queue(overlapped);
    indexing::Documents block;
    static_cast<void>(documents.source()(block, 1 << 20));
    constexpr int threads = 4;
    constexpr int rounds = 20;
    std::vector<std::thread> parsers;
    std::atomic<int> left = threads;
    std::atomic<int> sorted = 0;
    std::atomic<int> parsing = 0;
    for (int i = 0; i < threads; ++i) {
      parsers.emplace_back([&] {
        indexing::BlockParser parser(options, 1 << 16);
        indexing::TokenRun run(options, 1 << 16);
        for (int round = 0; round < rounds; ++round) {
          parser.begin(block);
          queue.begin_parsing();
          ++parsing;
          EXPECT_TRUE(parser.parse(run));
          --parsing;
          queue.sort(run);
        }
        if (--left == 0) queue.close();
      });
    }
    queue.serve([&](indexing::TokenRun& run) {
      EXPECT_TRUE(overlapped || parsing == 0);
      run.sort_alone();
      ++sorted;
    });
    for (std::thread& parser : parsers) parser.join();
    EXPECT_EQ(sorted, threads * rounds);
  }
}

TEST(SortQueue, HandsErrorsToTheThreadThatWaits) {
  const IndexOptions options;
  indexing::SortQueue queue(true);
  indexing::TokenRun run(options, 10);
  std::thread parser([&] {
    queue.begin_parsing();
    EXPECT_THROW(queue.sort(run), Error);
    queue.close();
  });
  queue.serve([](indexing::TokenRun&) { throw Error(ErrorKind::device, "broken"); });
  parser.join();
}

}  // namespace
}  // namespace sortie::test
