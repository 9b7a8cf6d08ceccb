// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/compressed.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;

const std::string words =
    "cat hat 0.2\nhat bat 0.16\nbat cat 1.0\nbat bit 0.125\nbit fit 0.25\nfit hit 0.5\nhit bit "
    "0.16\n";
const std::string clusters_of_words = "cat\that\tbat\nbit\tfit\thit\n";

class ClusterCommand : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_file(path("words"), words);
  }
  // One line, exit 1, and no output.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& message) {
    std::vector<std::string> all{"cluster", "-o", path("clusters")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    expect_error(run(all), 1, message);
    EXPECT_FALSE(std::filesystem::exists(path("clusters")));
  }
};

TEST_F(ClusterCommand, WritesClustersOfLabels) {
  const Result result =
      run({"cluster", path("words"), "--inflation", "2", "-o", path("clusters"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(read_file(path("clusters")), clusters_of_words);
  EXPECT_THAT(result.err, HasSubstr("6 vertices, 7 edges\n2 clusters, the largest of 3"));
  EXPECT_THAT(result.err, HasSubstr("verified"));
}

TEST_F(ClusterCommand, ReadsStandardInputAndCompressedFiles) {
  EXPECT_EQ(run({"cluster", "-", "-o", "-", "-q"}, {.in = path("words")}).out, clusters_of_words);
  write_file(path("words.gz"), gzip(words));
  EXPECT_EQ(run({"cluster", path("words.gz"), "-o", "-", "-q"}).out, clusters_of_words);
}

TEST_F(ClusterCommand, MembersOfAMatrixAreItsIndices) {
  write_file(path("a.mtx"),
             "%%MatrixMarket matrix coordinate pattern symmetric\n6 6 4\n4 2\n6 4\n6 2\n5 1\n");
  EXPECT_EQ(run({"cluster", path("a.mtx"), "-o", "-", "-q"}).out, "2\t4\t6\n1\t5\n3\n");
}

TEST_F(ClusterCommand, OptionsOfPruningAndIterations) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--no-pruning"},
        {"--prune-below", "1e-3", "--keep-top", "3", "--recover-top", "4", "--recover-below",
         "0.8"}}) {
    std::vector<std::string> all{"cluster", path("words"), "-o", "-", "-q", "--verify"};
    all.insert(all.end(), options.begin(), options.end());
    const Result result = run(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, clusters_of_words);
  }
  EXPECT_EQ(run({"cluster", path("words"), "--no-pruning", "--keep-top", "3"}).exit_code, 2);
  EXPECT_EQ(run({"cluster", path("words"), "--keep-top", "0"}).exit_code, 2);
  const Result early = run({"cluster", path("words"), "--max-iterations", "1"});
  EXPECT_EQ(early.exit_code, 0);
  EXPECT_THAT(early.out, HasSubstr("not converged"));
}

TEST_F(ClusterCommand, ReportsItsFigures) {
  const Result result = run({"cluster", path("words"), "--json", path("report"), "-q"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(read_file(path("report")));
  const auto& figures = report["figures"];
  EXPECT_EQ(figures["vertices"], 6);
  EXPECT_EQ(figures["edges"], 7);
  EXPECT_EQ(figures["clusters"], 2);
  EXPECT_EQ(figures["iterations"], 13);
  EXPECT_EQ(figures["converged"], true);
}

TEST_F(ClusterCommand, RefusesBadInput) {
  expect_refused({path("words"), "--inflation", "1"},
                 "--inflation: found 1, expected a number above 1");
  expect_refused({path("words"), "--inflation", "-2"},
                 "--inflation: found -2, expected a number above 1");
  expect_refused({path("words"), "--inflation", "nan"},
                 "--inflation: found nan, expected a number above 1");
  write_file(path("bad"), "a b 1\nb c -3\n");
  expect_refused({path("bad")},
                 path("bad") + ":2: found the weight \"-3\", expected a number of at least 0");
  write_file(path("bad"), "a b 1\nb\n");
  expect_refused({path("bad")},
                 path("bad") + ":2: found one field, expected two labels and a weight");
  write_file(path("bad"), "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 1\n");
  expect_refused({path("bad")},
                 path("bad") + ": found 2 rows and 3 columns, expected a square matrix");
}

}  // namespace
}  // namespace sortie::test
