// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/compressed.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Expected lines are those of mummer 3.23, in ascending order.
class MatchesCommand : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_file(path("r.fa"),
               ">r1 first\nACGTACGTTTGNNNNRYKMacggattu\n>second\nGGGGACGTACGTTTGCC\n");
    write_file(path("one.fa"), ">s\nACGTACGTTTGCCGCGC\n");
    write_file(path("q.fa"), ">q1 the first\nACGTACGTTTGNNNNN\n>\n\n>q3\nAAACGTACGT\n");
  }
  [[nodiscard]] Result matches(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"matches", "-q", "--verify"});
    return run(arguments);
  }
  [[nodiscard]] std::string of(const std::string& reference,
                               std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {path(reference), path("q.fa")});
    const Result result = matches(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }
};

TEST_F(MatchesCommand, PrintsWhatMummerPrints) {
  EXPECT_EQ(of("r.fa", {"--min-length", "8", "--kind", "maximal"}),
            "> q1\n"
            "  r1             1         1        15\n"
            "  second         5         1        11\n"
            "> \n> q3\n"
            "  r1             1         3         8\n"
            "  second         5         3         8\n");
  EXPECT_EQ(
      of("r.fa", {"--min-length", "8", "--query-lengths"}),
      "> q1  Len = 16\n  r1             1         1        15\n>   Len = 0\n> q3  Len = 10\n");
  EXPECT_EQ(of("r.fa", {"--min-length", "8", "--only-acgt"}), "> q1\n> \n> q3\n");
  EXPECT_EQ(of("one.fa", {"--min-length", "8", "--both-strands", "--letters"}),
            "> q1\n       1         1        11\nacgtacgtttg\n"
            "> q1 Reverse\n       1         9         8\nacgtacgt\n"
            "> \n>  Reverse\n"
            "> q3\n       1         3         8\nacgtacgt\n"
            "> q3 Reverse\n       1         1        10\nacgtacgttt\n");
  EXPECT_EQ(of("one.fa", {"--min-length", "8", "--reverse-only", "--forward-positions",
                          "--reference-names", "--kind", "unique"}),
            "> q1 Reverse\n  s         1         8         8\n>  Reverse\n"
            "> q3 Reverse\n  s         1        10        10\n");
}

TEST_F(MatchesCommand, PrintsPaf) {
  EXPECT_EQ(of("one.fa", {"--min-length", "8", "--both-strands", "--format", "paf"}),
            "q1\t16\t0\t11\t+\ts\t17\t0\t11\t11\t11\t255\tcg:Z:11=\n"
            "q1\t16\t0\t8\t-\ts\t17\t0\t8\t8\t8\t255\tcg:Z:8=\n"
            "q3\t10\t2\t10\t+\ts\t17\t0\t8\t8\t8\t255\tcg:Z:8=\n"
            "q3\t10\t0\t10\t-\ts\t17\t0\t10\t10\t10\t255\tcg:Z:10=\n");
}

TEST_F(MatchesCommand, WritesFiles) {
  write_file(path("q.fa.gz"), gzip(read_file(path("q.fa"))));
  const Result result = run({"matches", path("one.fa"), path("q.fa.gz"), path("q.fa"),
                             "--min-length", "8", "-o", path("out"), "--statistics",
                             path("statistics"), "--plot", path("plot"), "--json", path("json")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              HasSubstr("4 matches of 6 queries with 52 letters, the longest of 11; index "));
  const std::string once =
      "> q1\n       1         1        11\n> \n> q3\n       1         3         8\n";
  EXPECT_EQ(read_file(path("out")), once + once);
  EXPECT_THAT(read_file(path("statistics")),
              testing::StartsWith("q1\t+\t0\t12\t11\nq1\t+\t12\t13\t0\n"));
  EXPECT_THAT(read_file(path("statistics")),
              HasSubstr("q3\t+\t0\t1\t1\nq3\t+\t1\t2\t1\nq3\t+\t2\t10\t8\n"));
  EXPECT_THAT(read_file(path("plot")), testing::StartsWith("<svg "));
  const auto report = nlohmann::json::parse(read_file(path("json")));
  EXPECT_EQ(report["figures"]["matches"], 4);
  EXPECT_EQ(report["figures"]["reference_letters"], 17);
  EXPECT_THAT(names(), ElementsAre("json", "one.fa", "out", "plot", "q.fa", "q.fa.gz", "r.fa",
                                   "statistics"));
}

TEST_F(MatchesCommand, PlansMemory) {
  const Result plan = run({"matches", path("one.fa"), path("q.fa"), "--dry-run", "-q"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("reference of 17 letters in 1 record: index of "));
  EXPECT_THAT(run({"matches", path("one.fa"), path("q.fa"), "--max-memory", "100"}).err,
              HasSubstr("the index of the reference needs"));
}

TEST_F(MatchesCommand, RefusesBadInput) {
  const std::string gz = gzip(">q\n" + std::string(1000, 'A') + "\n");
  write_file(path("cut.gz"), gz.substr(0, gz.size() - 12));
  write_file(path("empty"), "");
  write_file(path("headers"), ">a\n>b\n");
  write_file(path("text"), "ACGT\n");
  const auto refuse = [&](const std::string& reference, const std::string& query,
                          const std::string& message) {
    const Result result = run({"matches", path(reference), path(query), "-o", path("out")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(std::filesystem::exists(path("out")));
  };
  for (const auto& [reference, query] : {std::pair("one.fa", "text"), std::pair("text", "one.fa")})
    refuse(reference, query, "expected a header that begins with '>' (FASTA) or '@' (FASTQ)");
  for (const auto& [reference, query] :
       {std::pair("one.fa", "cut.gz"), std::pair("cut.gz", "one.fa")})
    refuse(reference, query, "cut.gz: ");
  for (const auto& [reference, query] :
       {std::pair("one.fa", "empty"), std::pair("empty", "one.fa")})
    refuse(reference, query, "an empty file, expected a FASTA or FASTQ record");
  refuse("headers", "one.fa", "reference: found no letters, expected at least one");
  refuse("one.fa", "missing", "missing: cannot be opened");
  EXPECT_EQ(run({"matches", path("one.fa"), path("headers"), "-q"}).out, "> a\n> b\n");
}

}  // namespace
}  // namespace sortie::test
