// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/compressed.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class KmersCommand : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_file(path("a.fa"), ">a\nACGTACGTNAC\n>b\nggg\n");
    write_file(path("t1"), "AAC\t2\nACG\t4\n");
    write_file(path("t2"), "ACG\t1\nCCC\t1\n");
  }
  [[nodiscard]] Result kmers(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "kmers");
    return run(arguments);
  }
  // One line, and no output.
  void expect_refused(std::vector<std::string> arguments, int exit_code,
                      const std::string& message) const {
    const auto before = names();
    const Result result = kmers(std::move(arguments));
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("sortie: "));
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(lines(result.err).size(), 1U) << result.err;
    EXPECT_EQ(names(), before);
  }
};

TEST_F(KmersCommand, WritesTableHistogramAndPicture) {
  const Result result =
      kmers({path("a.fa"), "-k", "3", "-o", path("table"), "--histogram", path("histogram"),
             "--picture", path("picture"), "--json", path("report"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(read_file(path("table")), "ACG\t4\nCCC\t1\nGTA\t2\n");
  EXPECT_EQ(read_file(path("histogram")), "1 1\n2 1\n4 1\n");
  EXPECT_THAT(read_file(path("picture")), HasSubstr("<title>4: 1</title>"));
  EXPECT_THAT(result.err, HasSubstr("7 k-mers, 3 distinct, 1 of these occur once; 3 in the table"));
  EXPECT_THAT(result.err, HasSubstr("verified"));
  const auto report = nlohmann::json::parse(read_file(path("report"))).at("figures");
  EXPECT_EQ(report.at("kmers"), 7);
  EXPECT_EQ(report.at("distinct"), 3);
  EXPECT_EQ(report.at("k"), 3);
  EXPECT_EQ(report.at("verified"), true);
  EXPECT_THAT(names(), ElementsAre("a.fa", "histogram", "picture", "report", "t1", "t2", "table"));
}

TEST_F(KmersCommand, OptionsChooseTheLines) {
  EXPECT_EQ(
      kmers({path("a.fa"), "-k", "3", "-o", "-", "-q", "--min-count", "2", "--max-count", "3"}).out,
      "GTA\t2\n");
  EXPECT_EQ(kmers({path("a.fa"), "-k", "3", "-o", "-", "-q", "--forward"}).out,
            "ACG\t2\nCGT\t2\nGGG\t1\nGTA\t1\nTAC\t1\n");
  EXPECT_EQ(kmers({path("a.fa"), "-k", "8", "-o", "-", "-q", "--format", "jellyfish"}).out,
            ">1\nACGTACGT\n");
  write_file(path("list"), path("a.fa") + "\n" + path("a.fa") + "\n");
  EXPECT_EQ(
      kmers({"@" + path("list"), "-k", "8", "-o", "-", "-q", "--format", "jellyfish-column"}).out,
      "ACGTACGT 2\n");
  EXPECT_THAT(kmers({path("a.fa"), "-k", "8"}).out, HasSubstr("1 k-mers, 1 distinct"));
}

TEST_F(KmersCommand, CombinesTables) {
  EXPECT_EQ(kmers({"--intersect", path("t1"), path("t2"), "-o", "-", "-q"}).out, "ACG\t1\n");
  EXPECT_EQ(kmers({"--subtract", path("t1"), path("t2"), "-o", "-", "-q"}).out, "AAC\t2\nACG\t3\n");
  EXPECT_EQ(kmers({"--union", path("t1"), path("t2"), "-o", "-", "-q"}).out,
            "AAC\t2\nACG\t5\nCCC\t1\n");
}

TEST_F(KmersCommand, DryRunShowsThePlan) {
  const Result result = kmers({path("a.fa"), "-k", "3", "-o", path("table"), "--dry-run"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("7 k-mers"));
  EXPECT_THAT(result.out, HasSubstr("1 pass, "));
  EXPECT_THAT(names(), ElementsAre("a.fa", "t1", "t2"));
}

TEST_F(KmersCommand, BadInputAndUsageAreRefused) {
  const std::string out = path("out");
  for (const char* k : {"0", "65"}) {
    const Result result = kmers({path("a.fa"), "-k", k, "-o", out});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("not in range"));
  }
  expect_refused({path("a.fa"), "--min-count", "3", "--max-count", "2", "-o", out}, 2,
                 "found counts from 3 to 2");
  expect_refused({"--union", path("t1"), "-o", out}, 2, "found 1 tables, expected two");
  expect_refused({path("t1"), "-o", out, "--histogram", path("h")}, 1, "expected a header");
  write_file(path("bad.fq"), "@a\nACGT\n+\nIII\n");
  expect_refused({path("bad.fq"), "-k", "2", "-o", out, "--histogram", path("h")}, 1,
                 "found 3 quality values");
  const std::string packed = gzip(">a\n" + std::string(5000, 'A') + "\n");
  write_file(path("cut.gz"), packed.substr(0, packed.size() - 9));
  expect_refused({path("cut.gz"), "-o", out}, 1, "cut.gz");
  write_file(path("t3"), "AACC\t2\n");
  expect_refused({"--union", path("t1"), path("t3"), "-o", out}, 1, "found k-mers of 4 letters");
  write_file(path("t4"), "ACG\t2\nAAC\t1\n");
  expect_refused({"--intersect", path("t1"), path("t4"), "-o", out}, 1,
                 "found a k-mer that is not above the one before");
  expect_refused({path("a.fa"), "-o", "-", "--histogram", "-"}, 2, "found two results");
  expect_refused({path("a.fa"), "-o", out, "--picture", path("none/p")}, 1, "none");
  const Result result = kmers({"--union", "--subtract", path("t1"), path("t2"), "-o", out});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("excludes"));
}

}  // namespace
}  // namespace sortie::test
