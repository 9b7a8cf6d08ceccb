// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "sortie/text_deduplication.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/text_deduplication/oracle.hpp"

/// The search on a device beside that on the host: the same result for every policy, length and
/// number of passes.
namespace sortie::texts {
namespace {

using test::Documents;
using test::mutated_documents;

Deduplication find_on(Backend backend, const Documents& documents,
                      const DeduplicationOptions& options, std::uint64_t budget = 0) {
  Context context;
  context.backend = backend;
  context.memory_budget = budget;
  return find_duplicates(context, documents.text, documents.begins, options);
}

void expect_same(const Deduplication& found, const Deduplication& expected) {
  EXPECT_EQ(found.ranges, expected.ranges);
  EXPECT_EQ(found.other_begin, expected.other_begin);
  EXPECT_EQ(found.duplicate_windows, expected.duplicate_windows);
  EXPECT_EQ(found.bytes_removed, expected.bytes_removed);
  EXPECT_EQ(found.documents_changed, expected.documents_changed);
  EXPECT_EQ(found.documents_emptied, expected.documents_emptied);
  EXPECT_EQ(found.range_lengths, expected.range_lengths);
  EXPECT_EQ(found.copies, expected.copies);
  EXPECT_EQ(found.passages, expected.passages);
}

/// All policies: none, first, first and protected, another corpus.
std::vector<DeduplicationOptions> all_policies(std::uint64_t length, const Documents& documents) {
  std::vector<DeduplicationOptions> all(4, {.min_length = length});
  all[1].keep = Keep::first;
  all[1].across_documents = true;
  all[2].keep = Keep::first;
  all[2].protect_first = true;
  all[2].min_island = 20;
  all[3].other_corpus = documents.begins.size() / 2;
  return all;
}

TEST(DeviceSearch, EqualsTheHostInOneAndSeveralPasses) {
  Random random(1);
  const Documents documents = mutated_documents(random, 400'000);
  for (const std::uint64_t length : {1, 9, 24, 100, 700, 3000}) {
    for (const DeduplicationOptions& options : all_policies(length, documents)) {
      SCOPED_TRACE(testing::Message() << "L " << length << ", keep " << name(options.keep));
      const Deduplication expected = find_on(Backend::host, documents, options);
      expect_same(find_on(Backend::cuda, documents, options), expected);
      if (length < 24) continue;
      expect_same(find_on(Backend::cuda, documents, options, 1'000'000), expected);
    }
  }
}

/// A k-gram that occurs often between different bytes, so that groups are divided into windows.
TEST(DeviceSearch, DividesGroupsOfCommonGrams) {
  Random random(5);
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    for (int j = 0; j < 30; ++j) text += static_cast<char>('a' + random.below(i % 3 == 0 ? 2 : 20));
    text += std::string(20, '#') + "=" + std::string(20, '#');
    if (i % 7 == 0 && i > 0) text += text.substr(random.below(text.size()), 190);
  }
  Documents documents;
  documents.add(std::string_view(text).substr(0, text.size() / 2));
  documents.add(std::string_view(text).substr(text.size() / 2));
  for (const std::uint64_t length : {45, 64, 100}) {
    for (const DeduplicationOptions& options : all_policies(length, documents)) {
      SCOPED_TRACE(testing::Message() << "L " << length << ", keep " << name(options.keep));
      const Deduplication expected = find_on(Backend::host, documents, options);
      EXPECT_GT(expected.duplicate_windows, 100'000U);
      expect_same(find_on(Backend::cuda, documents, options), expected);
    }
  }
}

TEST(DeviceSearch, RunsAndPeriodsOfMillionsOfBytes) {
  for (const std::uint64_t period : {1, 2, 7, 60, 1000}) {
    Random random(period);
    std::string text;
    for (std::uint64_t i = 0; i < 3'000'000; ++i)
      text += i < period ? static_cast<char>(random.below(256)) : text[i - period];
    for (std::uint64_t i = 25'000; i < text.size(); i += 50'000) text[i] ^= 1;
    Documents documents;
    documents.add(text);
    for (const DeduplicationOptions& options : all_policies(100, documents)) {
      SCOPED_TRACE(testing::Message() << "period " << period << ", keep " << name(options.keep));
      expect_same(find_on(Backend::cuda, documents, options),
                  find_on(Backend::host, documents, options));
    }
  }
}

/// Texts that do not fit into the memory: in passes over their files.
class DeviceStream : public testing::Test {
 protected:
  DeviceStream() : documents_(make_documents()) {
    constexpr std::size_t files = 5;
    const std::size_t all = documents_.begins.size() - 1;
    for (std::size_t i = 0; i < files; ++i) {
      std::string lines;
      for (std::size_t d = all * i / files; d < all * (i + 1) / files; ++d) {
        const std::uint64_t begin = documents_.begins[d];
        lines += "{\"text\":\"";
        lines += documents_.view().substr(begin, documents_.begins[d + 1] - begin);
        lines += "\"}\n";
      }
      paths_.push_back(folder_.write("part" + std::to_string(i) + ".jsonl", lines));
    }
  }

  static Documents make_documents() {
    Random random(3);
    Documents documents = mutated_documents(random, 3'000'000);
    documents.add(std::string(200'000, '-'));
    return documents;
  }

  [[nodiscard]] CorpusDeduplication find(const CorpusDeduplicationOptions& options,
                                         const ProgressCallback& progress = {}) const {
    CorpusStream corpus({}, paths_, {.split_documents = true, .block_bytes = 50'000});
    Context context;
    context.backend = Backend::cuda;
    context.memory_budget = 2'000'000;
    context.progress = progress;
    return find_duplicates(context, corpus, options);
  }

  Documents documents_;
  test::TemporaryFolder folder_;
  std::vector<std::string> paths_;
};

TEST_F(DeviceStream, PassesEqualTheHost) {
  for (const std::uint64_t length : {30, 100, 2000}) {
    std::vector<DeduplicationOptions> policies = all_policies(length, documents_);
    policies.pop_back();  // with another corpus
    for (const DeduplicationOptions& options : policies) {
      SCOPED_TRACE(testing::Message() << "L " << length << ", keep " << name(options.keep));
      CorpusDeduplicationOptions of_corpus;
      of_corpus.windows = options;
      const CorpusDeduplication found = find(of_corpus);
      EXPECT_FALSE(found.plan.in_memory);
      EXPECT_LE(found.plan.memory, 2'000'000U);
      EXPECT_GT(found.plan.passes, length == 100 ? 1U : 0U);
      Deduplication expected = find_on(Backend::host, documents_, options);
      // Of very many with few copies, passages may be left out.
      if (found.result.least_copies_of_passages != 2) expected.passages = found.result.passages;
      expect_same(found.result, expected);
    }
  }
}

TEST_F(DeviceStream, GoesOnAfterTheLastPass) {
  const test::TemporaryFolder outputs;
  CorpusDeduplicationOptions options;
  options.windows.keep = Keep::first;
  options.windows.protect_first = true;
  options.state_file = outputs.path("state");
  int passes = 2;
  test::expect_error(
      [&] {
        (void)find(options, [&](std::string_view phase, std::uint64_t, std::uint64_t) {
          if (phase == "groups" && passes-- == 0) throw Error(ErrorKind::output, "stopped");
        });
      },
      ErrorKind::output, "stopped");
  const CorpusDeduplication found = find(options);
  EXPECT_EQ(found.resumed_passes, 2U);
  EXPECT_GT(found.plan.passes, 2U);
  EXPECT_EQ(found.result.ranges, find_on(Backend::host, documents_, options.windows).ranges);
}

TEST(DeviceSearch, SaysHowMuchMemoryItNeeds) {
  Random random(2);
  const Documents documents = mutated_documents(random, 100'000);
  try {
    (void)find_on(Backend::cuda, documents, {}, 50'000);
    FAIL() << "found a result, expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    EXPECT_THAT(error.what(), testing::HasSubstr("text deduplication"));
  }
}

}  // namespace
}  // namespace sortie::texts
