// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "sortie/text_deduplication.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/text_deduplication/oracle.hpp"

namespace sortie::texts {
namespace {

using test::context;
using test::Documents;
using test::mutated_documents;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Each document is a file.
std::vector<std::string> plain_files(const TemporaryFolder& folder, const Documents& documents) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i + 1 < documents.begins.size(); ++i) {
    paths.push_back(
        folder.write("plain" + std::to_string(i),
                     documents.view().substr(documents.begins[i],
                                             documents.begins[i + 1] - documents.begins[i])));
  }
  return paths;
}

Deduplication in_memory(const Documents& documents, const DeduplicationOptions& options) {
  return find_duplicates(context(), documents.text, documents.begins, options);
}

CorpusDeduplication from_files(const std::vector<std::string>& paths,
                               const CorpusDeduplicationOptions& options, std::uint64_t budget,
                               std::size_t block_bytes = 5000) {
  CorpusStream corpus(context(), paths, {.split_documents = true, .block_bytes = block_bytes});
  Context limited = context();
  limited.memory_budget = budget;
  return find_duplicates(limited, corpus, options);
}

void expect_same(const Deduplication& found, const Deduplication& expected) {
  EXPECT_EQ(found.text_bytes, expected.text_bytes);
  EXPECT_EQ(found.documents, expected.documents);
  EXPECT_EQ(found.ranges, expected.ranges);
  EXPECT_EQ(found.other_begin, expected.other_begin);
  EXPECT_EQ(found.duplicate_windows, expected.duplicate_windows);
  EXPECT_EQ(found.bytes_removed, expected.bytes_removed);
  EXPECT_EQ(found.documents_changed, expected.documents_changed);
  EXPECT_EQ(found.documents_emptied, expected.documents_emptied);
  EXPECT_EQ(found.range_lengths, expected.range_lengths);
  EXPECT_EQ(found.copies, expected.copies);
  if (found.least_copies_of_passages == 2) {
    EXPECT_EQ(found.passages, expected.passages);
  }
}

constexpr std::uint64_t text_bytes = 150'000;
constexpr std::uint64_t small_budget = 200'000;

TEST(CorpusDeduplication, PassesOverTheCorpusFindTheSame) {
  for (const int kind : {0, 1, 2, 3, 4}) {
    Random random(kind);
    const TemporaryFolder folder;
    const Documents documents = mutated_documents(random, text_bytes);
    const std::vector<std::string> paths = plain_files(folder, documents);
    CorpusDeduplicationOptions options;
    options.windows.min_length = kind == 1 ? 40 : 100;
    options.windows.keep = kind == 1 || kind == 2 ? Keep::first : Keep::none;
    options.windows.protect_first = kind == 2;
    options.windows.across_documents = kind >= 3;
    options.windows.min_island = kind == 2 ? 30 : 0;
    if (kind == 4) options.other_file = paths.size() / 2;
    const CorpusDeduplication large = from_files(paths, options, 0);
    EXPECT_TRUE(large.plan.in_memory);
    EXPECT_EQ(std::vector(large.text().begin(), large.text().end()), documents.text);
    EXPECT_EQ(large.begins, documents.begins);
    const CorpusDeduplication small = from_files(paths, options, small_budget);
    EXPECT_FALSE(small.plan.in_memory);
    EXPECT_GT(small.plan.passes, 1u);
    EXPECT_LE(small.plan.memory, small_budget);
    EXPECT_EQ(small.begins, documents.begins);
    DeduplicationOptions windows = options.windows;
    if (kind == 4) windows.other_corpus = options.other_file;
    const Deduplication expected = in_memory(documents, windows);
    EXPECT_FALSE(expected.ranges.empty());
    expect_same(large.result, expected);
    expect_same(small.result, expected);
    if (small.result.passages == large.result.passages) {
      EXPECT_EQ(small.excerpts, large.excerpts);
      EXPECT_EQ(large.excerpts[0],
                documents.view().substr(large.result.passages[0].begin, large.excerpts[0].size()));
    }
  }
}

TEST(CorpusDeduplication, ShardsAreOneCorpus) {
  Random random(7);
  const TemporaryFolder folder;
  const Documents documents = mutated_documents(random, text_bytes);
  const Deduplication expected = in_memory(documents, {});
  const std::size_t count = documents.begins.size() - 1;
  for (const std::size_t shards : {1, 2, 5}) {
    std::vector<std::string> paths;
    for (std::size_t shard = 0; shard < shards; ++shard) {
      std::string lines;
      for (std::size_t i = count * shard / shards; i < count * (shard + 1) / shards; ++i) {
        lines += "{\"text\":\"";
        lines += documents.view().substr(documents.begins[i],
                                         documents.begins[i + 1] - documents.begins[i]);
        lines += "\"}\n";
      }
      paths.push_back(folder.write(std::to_string(shard) + ".jsonl", lines));
    }
    for (const std::uint64_t budget : {std::uint64_t{0}, small_budget})
      expect_same(from_files(paths, {}, budget).result, expected);
  }
}

TEST(CorpusDeduplication, ADocumentOfManyBlocks) {
  Random random(9);
  const TemporaryFolder folder;
  Documents documents;
  documents.add(mutated_documents(random, text_bytes).view());
  const std::vector<std::string> paths = plain_files(folder, documents);
  for (const std::uint64_t length : {7, 100, 3000}) {
    CorpusDeduplicationOptions options;
    options.windows.min_length = length;
    const Deduplication expected = in_memory(documents, options.windows);
    for (const std::size_t block_bytes : {64, 1000, 100'000}) {
      // Each block has an anchor with all bytes of its windows.
      if (length > 2 * block_bytes) continue;
      const CorpusDeduplication found = from_files(paths, options, small_budget, block_bytes);
      EXPECT_FALSE(found.plan.in_memory);
      expect_same(found.result, expected);
    }
  }
}

TEST(CorpusDeduplication, GoesOnAfterTheLastPassThatEnded) {
  Random random(11);
  const TemporaryFolder folder;
  const Documents documents = mutated_documents(random, text_bytes);
  const std::vector<std::string> paths = plain_files(folder, documents);
  const TemporaryFolder outputs;
  CorpusDeduplicationOptions options;
  options.windows.keep = Keep::first;
  options.windows.protect_first = true;
  options.state_file = outputs.path("state");
  const auto stop_after = [&](int passes) {
    CorpusStream corpus(context(), paths, {.split_documents = true});
    Context limited = context();
    limited.memory_budget = small_budget;
    limited.progress = [&](std::string_view phase, std::uint64_t, std::uint64_t) {
      if (phase == "groups" && passes-- == 0) throw Error(ErrorKind::output, "stopped");
    };
    test::expect_error([&] { (void)find_duplicates(limited, corpus, options); }, ErrorKind::output,
                       "stopped");
  };
  stop_after(0);
  EXPECT_EQ(outputs.entries(), 0u);
  stop_after(1);
  EXPECT_EQ(outputs.entries(), 1u);
  stop_after(1);
  const CorpusDeduplication found = from_files(paths, options, small_budget);
  EXPECT_EQ(found.resumed_passes, 2u);
  EXPECT_GT(found.plan.passes, 2u);
  expect_same(found.result, in_memory(documents, options.windows));

  // A state of other options, other files, or in pieces, is not used.
  CorpusDeduplicationOptions longer = options;
  longer.windows.min_length = 101;
  EXPECT_EQ(from_files(paths, longer, small_budget).resumed_passes, 0u);
  std::filesystem::remove(options.state_file);
  stop_after(1);
  const std::string state = test::content_of(options.state_file);
  for (const std::string& broken :
       {state.substr(0, state.size() - 8), state.substr(0, 100), std::string(), [&] {
          std::string changed = state;
          changed[changed.size() / 2] ^= 1;
          return changed;
        }()}) {
    const std::string kept = outputs.write("state", broken);
    const CorpusDeduplication again = from_files(paths, options, small_budget);
    EXPECT_EQ(again.resumed_passes, 0u);
    expect_same(again.result, in_memory(documents, options.windows));
  }
  (void)outputs.write("state", state);
  std::string changed = test::content_of(paths[0]);
  changed += "x";
  (void)folder.write("plain0", changed);
  EXPECT_EQ(from_files(paths, options, small_budget).resumed_passes, 0u);
}

TEST(CorpusDeduplication, PlansWithoutWork) {
  Random random(13);
  const TemporaryFolder folder;
  const Documents documents = mutated_documents(random, text_bytes);
  const std::vector<std::string> paths = plain_files(folder, documents);
  CorpusDeduplicationOptions options;
  options.plan_only = true;
  options.state_file = folder.path("state");
  int announced = 0;
  options.announce = [&](const DeduplicationPlan& plan) {
    ++announced;
    EXPECT_EQ(plan.text_bytes, documents.text.size());
    EXPECT_EQ(plan.documents, documents.begins.size() - 1);
  };
  const CorpusDeduplication small = from_files(paths, options, small_budget);
  EXPECT_LE(small.plan.disk, 3 * text_bytes);
  EXPECT_GT(small.plan.disk, text_bytes / 8);
  EXPECT_TRUE(small.result.ranges.empty());
  EXPECT_EQ(from_files(paths, options, 0).plan.passes, 1u);
  EXPECT_EQ(announced, 2);
}

TEST(CorpusDeduplication, NamesTheMemoryThatIsMissing) {
  Random random(15);
  const TemporaryFolder folder;
  const std::vector<std::string> paths = plain_files(folder, mutated_documents(random, text_bytes));
  const auto fails = [&](std::uint64_t budget, const std::string& message) {
    test::expect_error([&] { (void)from_files(paths, {}, budget); }, ErrorKind::out_of_memory,
                       HasSubstr(message));
  };
  fails(20'000, "text deduplication, for marks of offsets");
  fails(30'000, "text deduplication, for the windows of equal hashes");
}

}  // namespace
}  // namespace sortie::texts
