// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/compressed.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Documents in files, and their index.
class InvertedIndexCommand : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_file(path("a.txt"), "The cat sat. The CAT ran.");
    write_file(path("b.txt"), "a dog and a cat");
    write_file(path("c.jsonl"), "{\"text\":\"The dogs run\"}\n{\"text\":\"A bird\"}\n");
  }
  Result index(std::vector<std::string> more = {}) {
    std::vector<std::string> all{"inverted-index", path("a.txt"), path("b.txt"),
                                 path("c.jsonl"),  "-o",          path("index")};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  std::string search(std::vector<std::string> more) {
    std::vector<std::string> all{"search", path("index"), "-q"};
    all.insert(all.end(), more.begin(), more.end());
    const Result result = run(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
};

TEST_F(InvertedIndexCommand, IndexesAndSearches) {
  const Result result = index({"--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("4 documents, 10 terms, 13 postings"));
  EXPECT_THAT(result.err, HasSubstr("verified"));
  const std::string found = search({"cat", "the", "--verify"});
  EXPECT_EQ(lines(found).size(), 3u);
  EXPECT_THAT(found, StartsWith("1\t1\t" + path("a.txt") + "\t"));
  EXPECT_EQ(lines(search({"cat", "the", "--top", "1"})).size(), 1u);
  EXPECT_EQ(search({"--boolean", "cat AND NOT dog"}), "1\t" + path("a.txt") + "\n");
  EXPECT_EQ(search({"--boolean", "the OR bird", "--top", "2", "--verify"}),
            "1\t" + path("a.txt") + "\n1\t" + path("c.jsonl") + ":1\n");
  write_file(path("queries"), "Dogs!\nnothing\nbird\n");
  EXPECT_EQ(search({"--boolean", "--queries", path("queries")}),
            "1\t" + path("c.jsonl") + ":1\n3\t" + path("c.jsonl") + ":2\n");
}

TEST_F(InvertedIndexCommand, EveryWayGivesTheSameIndex) {
  EXPECT_EQ(index().exit_code, 0);
  const std::string expected = read_file(path("index"));
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--indexer", "cpu"},
                                               {"--indexer", "cpu-overlapped", "-t", "3"},
                                               {"--max-memory", "20M"}}) {
    const Result result = index(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(read_file(path("index")) == expected);
  }
}

TEST_F(InvertedIndexCommand, StemsAndPositions) {
  const Result result = index({"--positions", "--stem", "english"});
  if (result.exit_code == 1) {
    EXPECT_THAT(result.err, HasSubstr("libstemmer"));
    return;
  }
  EXPECT_EQ(search({"--boolean", "DOG"}),
            "1\t" + path("b.txt") + "\n1\t" + path("c.jsonl") + ":1\n");
  EXPECT_EQ(search({"--boolean", "\"cats running\""}), "");
  EXPECT_EQ(search({"--boolean", "\"cats sat\""}), "1\t" + path("a.txt") + "\n");
}

TEST_F(InvertedIndexCommand, KmersOfSequences) {
  write_file(path("in.fa.gz"), gzip(">one\nGATTACAGATTACA\n>two\nTTTTACAGC\n>three\nCCCC\n"));
  EXPECT_EQ(run({"inverted-index", path("in.fa.gz"), "--kmers", "4", "--canonical", "-o",
                 path("index"), "--verify"})
                .exit_code,
            0);
  EXPECT_EQ(search({"TGTAATC"}), "1\t1\tone\t1.000000\n");
  write_file(path("q.fa"), ">q\nTACAG\n");
  EXPECT_EQ(search({"--queries", path("q.fa"), "--share", "0.5"}),
            "q\t1\tone\t1.000000\nq\t2\ttwo\t1.000000\n");
}

TEST_F(InvertedIndexCommand, WritesCiffAndPlans) {
  const Result ciff = index({"--format", "ciff"});
  EXPECT_EQ(ciff.exit_code, 0) << ciff.err;
  EXPECT_THAT(read_file(path("index")), HasSubstr("words in lower case"));
  EXPECT_EQ(names().size(), 4u);  // no temporary file is left
  const Result out = run({"inverted-index", path("a.txt"), "-o", "-", "--format", "ciff", "-q"});
  EXPECT_THAT(out.out, HasSubstr("sat"));
  const Result plan = run({"inverted-index", path("a.txt"), "--dry-run", "--max-memory", "100M"});
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_THAT(plan.out, HasSubstr("about 1 runs"));
}

TEST_F(InvertedIndexCommand, ReportsItsFigures) {
  EXPECT_EQ(index({"--json", path("report"), "-q"}).exit_code, 0);
  const auto figures = nlohmann::json::parse(read_file(path("report")))["figures"];
  EXPECT_EQ(figures["documents"], 4);
  EXPECT_EQ(figures["terms"], 10);
  EXPECT_EQ(figures["occurrences"], 16);
  EXPECT_EQ(figures["runs"], 1);
}

TEST_F(InvertedIndexCommand, RefusesWrongUsageAndBadInput) {
  expect_error(run({"inverted-index", path("a.txt")}), 2, "--output is required");
  expect_error(run({"inverted-index", path("a.txt"), "-o", "-"}), 2,
               "-: found a pipe or a device, expected a file for the index");
  expect_error(run({"inverted-index", "-", "-o", path("x"), "--verify"}), 2,
               "found standard input with --verify or --repeat, expected files, which can be read "
               "again");
  expect_error(run({"inverted-index", path("a.txt"), "--kmers", "32", "-o", path("x")}), 2,
               "--kmers: Value 32 not in range 1 to 31");
  expect_error(run({"inverted-index", path("a.txt"), "--canonical", "-o", path("x")}), 2,
               "--canonical requires --kmers");
  expect_error(run({"inverted-index", path("a.txt"), "--indexer", "cpu", "--gpu-sort", "bitonic",
                    "-o", path("x")}),
               2, "sort bitonic on the GPU: found indexer cpu, expected gpu or gpu-overlapped");
  expect_error(run({"inverted-index", path("a.txt"), "--gpu-sort", "magic", "-o", path("x")}), 2,
               "sort algorithm: found \"magic\", expected auto, radix, merge, rmg, tanasic, het, "
               "bitonic or rmg-repair");
  const Result gpu = run({"inverted-index", path("a.txt"), "--backend", "cuda", "--device", "4000",
                          "--indexer", "gpu", "-o", path("x")});
  EXPECT_EQ(gpu.exit_code, 1);
  EXPECT_THAT(gpu.err, HasSubstr("CUDA"));
  write_file(path("broken.jsonl"), "{\"text\":\"a\"}\n{\"text\":}\n");
  const Result broken = run({"inverted-index", path("broken.jsonl"), "-o", path("x"), "-q"});
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_THAT(broken.err, HasSubstr("broken.jsonl:2: found"));
  EXPECT_FALSE(std::filesystem::exists(path("x")));
  expect_error(run({"search", path("a.txt"), "cat"}), 1,
               path("a.txt") +
                   ": found a file of fewer bytes than the header of an index, expected an "
                   "index of sortie, version 1");
  EXPECT_EQ(index().exit_code, 0);
  expect_error(run({"search", path("index")}), 2, "found no query, expected QUERY or --queries");
  expect_error(run({"search", path("index"), "--boolean", "a AND"}), 2,
               "query \"a AND\": found the end of the query, expected a word");
}

}  // namespace
}  // namespace sortie::test
