// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/compressed.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// "abcdefgh" is twice in them.
const std::string first_lines =
    "{\"id\":1,\"text\":\"xx abcdefgh yy\"}\n{\"text\":\"no copy\",\"id\":2}\n";
const std::string second_lines = "{\"text\":\"abcdefgh\"}\n";

class DedupCommand : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_file(path("a.jsonl"), first_lines);
    write_file(path("b.jsonl"), second_lines);
    write_file(path("plain"), "abcdefgh, abcdefgh");
  }
  [[nodiscard]] Result dedup(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"dedup", "--min-length", "8"});
    return run(arguments);
  }
  // Exit 1 or 2, and no output.
  void expect_refused(std::vector<std::string> arguments, int exit_code,
                      const std::string& message) const {
    const auto before = names();
    expect_error(dedup(std::move(arguments)), exit_code, message);
    EXPECT_EQ(names(), before);
  }
};

TEST_F(DedupCommand, WritesRangesAndTheCleanedFiles) {
  const Result result = dedup({path("a.jsonl"), path("b.jsonl"), "--keep", "none", "--ranges",
                               path("ranges"), "-o", path("out"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(read_file(path("ranges")), "3 11\n21 29\n");
  EXPECT_EQ(read_file(path("out/a.jsonl")),
            "{\"id\":1,\"text\":\"xx  yy\"}\n{\"text\":\"no copy\",\"id\":2}\n");
  EXPECT_EQ(read_file(path("out/b.jsonl")), "{\"text\":\"\"}\n");
  EXPECT_THAT(result.err, HasSubstr("29 B of text in 3 documents: in memory"));
  EXPECT_THAT(result.err, HasSubstr("16 of 29 bytes (55.17 %) in 2 ranges of 2 documents, 1 of "
                                    "them as a whole"));
  EXPECT_THAT(result.err, HasSubstr("verified"));
  EXPECT_THAT(names(), ElementsAre("a.jsonl", "b.jsonl", "out", "plain", "ranges"));
}

TEST_F(DedupCommand, KeepsTheFirstCopy) {
  EXPECT_EQ(dedup({path("plain"), "--keep", "first", "-o", "-", "-q"}).out, "abcdefgh, ");
  EXPECT_EQ(dedup({path("plain"), "--keep", "first", "--ranges", "-", "-q"}).out, "10 18\n");
  write_file(path("run"), "ababababababab");
  EXPECT_EQ(dedup({path("run"), "--keep", "first", "-o", "-", "-q"}).out, "ab");
  EXPECT_EQ(dedup({path("run"), "--keep", "first", "--protect-first", "-o", "-", "-q"}).out,
            "ababababa");
}

TEST_F(DedupCommand, RunsOnOneDevice) {
  expect_refused({path("plain"), "--ranges", path("out"), "--gpus", "2"}, 2,
                 "found --gpus 2, expected 1 for dedup");
  expect_refused({path("plain"), "--ranges", path("out"), "--gpus", "1", "--backend", "host"}, 2,
                 "found --gpus with --backend host, expected cuda or auto");
}

TEST_F(DedupCommand, FormatsOfRanges) {
  const auto ranges = [&](const std::string& format) {
    return dedup(
               {path("a.jsonl"), path("b.jsonl"), "--ranges", "-", "--ranges-format", format, "-q"})
        .out;
  };
  EXPECT_EQ(ranges("plain"), "3 11\n21 29\n");
  EXPECT_EQ(ranges("g"), "out\n3 11\n21 29\n");
  EXPECT_EQ(ranges("documents"), "0 3 11\n2 0 8\n");
  EXPECT_EQ(dedup({path("b.jsonl"), "--ranges", "-", "--ranges-format", "g", "-q"}).out, "");
}

TEST_F(DedupCommand, AnnotatesAndDropsEmptyLines) {
  write_file(path("c.jsonl"), first_lines + second_lines);
  EXPECT_EQ(dedup({path("c.jsonl"), "--annotate", "-o", "-", "-q"}).out,
            "{\"id\":1,\"text\":\"xx abcdefgh yy\",\"sa_remove_ranges\":[[3,11]]}\n"
            "{\"text\":\"no copy\",\"id\":2,\"sa_remove_ranges\":[]}\n"
            "{\"text\":\"abcdefgh\",\"sa_remove_ranges\":[[0,8]]}\n");
  EXPECT_EQ(dedup({path("c.jsonl"), "--drop-empty", "-o", "-", "-q"}).out,
            "{\"id\":1,\"text\":\"xx  yy\"}\n{\"text\":\"no copy\",\"id\":2}\n");
}

TEST_F(DedupCommand, RemovesWhatOccursInAnotherCorpus) {
  write_file(path("test.jsonl.gz"), gzip("{\"text\":\"0123-abcdefgh\"}\n"));
  const Result result =
      dedup({path("plain"), "--against", path("test.jsonl.gz"), "--ranges", path("ranges"),
             "--mirror", path("mirror"), "-o", path("out"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(path("ranges")), "0 8\n10 18\n");
  EXPECT_EQ(read_file(path("mirror")), "5 13\n");
  EXPECT_EQ(read_file(path("out")), ", ");
  EXPECT_EQ(dedup({path("plain"), "--against", path("b.jsonl"), "--across-documents", "--ranges",
                   "-", "-q"})
                .out,
            "0 8\n10 18\n");
}

TEST_F(DedupCommand, OptionsOfCharactersAndIslands) {
  write_file(path("utf8"),
             "\xc3\xa4"
             "bcdefgh\xc3 \xa4"
             "bcdefgh\xc3");
  const std::vector<std::string> options{path("utf8"), "--ranges", "-", "-q"};
  EXPECT_EQ(dedup(options).out, "2 10\n11 20\n");
  auto more = options;
  more.emplace_back("--split-characters");
  EXPECT_EQ(dedup(more).out, "1 10\n11 20\n");
  more = options;
  more.insert(more.end(), {"--min-island", "2"});
  EXPECT_EQ(dedup(more).out, "2 20\n");
  more = options;
  more.emplace_back("--refuse-invalid-utf8");
  EXPECT_EQ(dedup(more).exit_code, 1);
}

TEST_F(DedupCommand, Reports) {
  const Result result = dedup({path("a.jsonl"), path("b.jsonl"), "--report", path("report"),
                               "--picture", path("picture"), "--json", path("json"), "-q"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(read_file(path("report")));
  EXPECT_EQ(report["bytes_removed"], 16);
  EXPECT_EQ(report["documents_emptied"], 1);
  EXPECT_EQ(report["range_lengths"],
            nlohmann::json::parse(R"([{"from": 8, "to": 15, "count": 2}])"));
  EXPECT_EQ(report["windows_by_copies"],
            nlohmann::json::parse(R"([{"from": 2, "to": 3, "count": 2}])"));
  ASSERT_EQ(report["passages"].size(), 1u);
  const auto& passage = report["passages"][0];
  EXPECT_EQ(passage["copies"], 2);
  EXPECT_EQ(passage["text"], "abcdefgh");
  EXPECT_EQ(passage["file"], path("a.jsonl"));
  EXPECT_EQ(passage["document"], 0);
  EXPECT_EQ(passage["offset"], 3);
  EXPECT_THAT(read_file(path("picture")),
              AllOf(testing::StartsWith("<svg "), HasSubstr("<title>from 8: 2</title>"),
                    HasSubstr("<title>from 2: 2</title>"), testing::EndsWith("</svg>\n")));
  const auto figures = nlohmann::json::parse(read_file(path("json")))["figures"];
  EXPECT_EQ(figures["bytes_removed"], 16);
  EXPECT_EQ(figures["in_memory"], true);
}

TEST_F(DedupCommand, PassesOverFilesLargerThanMemoryWriteTheSame) {
  std::string text;
  for (int i = 0; i < 12'000; ++i) text += std::to_string(i % 8000 * 7919 % 1'000'003) + ", ";
  write_file(path("large"), text);
  write_file(path("more.jsonl"), first_lines + second_lines);
  const std::vector<std::string> files{path("large"), path("more.jsonl"), "--keep", "first"};
  const auto all = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"dedup", "--min-length", "40"});
    more.insert(more.end(), files.begin(), files.end());
    return run(more);
  };
  EXPECT_EQ(all({"-o", path("one")}).exit_code, 0);
  const Result small = all({"-o", path("two"), "--max-memory", "120K", "--ranges", path("ranges")});
  EXPECT_EQ(small.exit_code, 0) << small.err;
  EXPECT_THAT(small.err, HasSubstr("passes over the corpus after one that counts"));
  EXPECT_EQ(read_file(path("one/large")), read_file(path("two/large")));
  EXPECT_EQ(read_file(path("one/more.jsonl")), read_file(path("two/more.jsonl")));
  EXPECT_THAT(names(), ElementsAre("a.jsonl", "b.jsonl", "large", "more.jsonl", "one", "plain",
                                   "ranges", "two"));
  const Result plan = all({"-o", path("three"), "--max-memory", "120K", "--dry-run", "-q"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("passes over the corpus"));
  EXPECT_FALSE(std::filesystem::exists(path("three")));
  EXPECT_THAT(all({"--dry-run", "-q"}).out, HasSubstr("in memory, 1 pass over the anchors"));
}

TEST_F(DedupCommand, RefusesBadInput) {
  const std::string output = path("out");
  write_file(path("broken.jsonl"), first_lines + "{\"text\":\"x\n");
  expect_refused(
      {path("missing"), "-o", output}, 1,
      path("missing") + ": cannot be opened: No such file or directory, expected a readable file");
  EXPECT_EQ(dedup({path("broken.jsonl"), "-o", output}).exit_code, 1);
  EXPECT_THAT(dedup({path("broken.jsonl"), "-o", output}).err,
              HasSubstr(path("broken.jsonl") + ":3: "));
  EXPECT_THAT(dedup({path("a.jsonl"), "--field", "body", "-o", output}).err,
              HasSubstr(path("a.jsonl") + ":1: "));
  EXPECT_FALSE(std::filesystem::exists(output));
  expect_refused({path("plain"), "--mirror", output}, 2,
                 "found --mirror, expected --against with it");
  expect_refused({path("plain"), "--keep", "first", "--against", path("b.jsonl")}, 2,
                 "found another corpus and first occurrences to keep, expected one of them");
  expect_refused({path("plain"), "--protect-first"}, 2,
                 "found protected first occurrences, expected to keep them");
  expect_refused({"-", "-o", output}, 2,
                 "found standard input with --output, expected files, which are read twice");
  expect_refused({path("plain"), "-o", "-", "--ranges", "-"}, 2,
                 "found two results for standard output, expected at most one");
  expect_refused({path("plain"), "--keep", "last"}, 2, "--keep: last not in {none,first}");
  expect_error(run({"dedup", path("plain"), "--min-length", "0"}), 2,
               "--min-length: Value 0 not in range 1 to 1048576");
  expect_error(run({"dedup"}), 2, "FILE is required");
}

}  // namespace
}  // namespace sortie::test
