// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <complex>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sortie/matrix_market.hpp"
#include "sortie/npz.hpp"
#include "tests/cli/program.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;

class SpgemmSemiring : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    // Two triangles with a common edge: 1 2 3 and 2 3 4; and one with a weight of 7.
    write_file(path("g.mtx"),
               "%%MatrixMarket matrix coordinate integer symmetric\n4 4 5\n2 1 1\n3 1 7\n3 2 1\n"
               "4 2 1\n4 3 1\n");
    write_file(path("m.mtx"),
               "%%MatrixMarket matrix coordinate pattern general\n4 4 3\n1 1\n1 4\n4 2\n");
    write_file(path("z.mtx"),
               "%%MatrixMarket matrix coordinate complex general\n4 4 2\n1 1 1 2\n2 3 0 -1\n");
  }

  Result spgemm(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "spgemm");
    return run(arguments);
  }
  Result spgemm_on_host(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "spgemm");
    return run_on_host(arguments);
  }
  /// The lines of C after its header.
  std::vector<std::string> entries(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", "-", "-q", "--verify"});
    const Result result = spgemm(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> all = lines(result.out);
    header_ = all.empty() ? "" : all.front();
    all.erase(all.begin(), all.begin() + std::min<std::ptrdiff_t>(2, std::ssize(all)));
    return all;
  }

  std::string header_;
};

TEST_F(SpgemmSemiring, CountsTrianglesWithAMask) {
  EXPECT_THAT(entries({path("g.mtx"), "--mask", path("g.mtx"), "--semiring", "plus-pair",
                       "--precision", "i64"}),
              testing::ElementsAre("1 2 1", "1 3 1", "2 1 1", "2 3 2", "2 4 1", "3 1 1", "3 2 2",
                                   "3 4 1", "4 2 1", "4 3 1"));
  EXPECT_EQ(header_, "%%MatrixMarket matrix coordinate integer general");
}

// A*A over min-plus: shortest walks of two edges.
TEST_F(SpgemmSemiring, FindsShortestWalks) {
  EXPECT_THAT(entries({path("g.mtx"), "--semiring", "min-plus", "--mask", path("m.mtx")}),
              testing::ElementsAre("1 1 2", "1 4 2", "4 2 2"));
  EXPECT_EQ(header_, "%%MatrixMarket matrix coordinate real general");
  EXPECT_THAT(entries({path("g.mtx"), "--semiring", "max-plus", "--mask", path("m.mtx")}),
              testing::ElementsAre("1 1 14", "1 4 8", "4 2 2"));
  EXPECT_THAT(entries({path("g.mtx"), "--mask", path("m.mtx")}),
              testing::ElementsAre("1 1 50", "1 4 8", "4 2 1"));
}

TEST_F(SpgemmSemiring, TakesTheComplementOfAMask) {
  const auto all = entries({path("g.mtx"), "--precision", "i32"});
  const auto in = entries({path("g.mtx"), "--precision", "i32", "--mask", path("m.mtx")});
  const auto out =
      entries({path("g.mtx"), "--precision", "i32", "--mask", path("m.mtx"), "--mask-complement"});
  EXPECT_EQ(all.size(), in.size() + out.size());
  EXPECT_THAT(all, testing::IsSupersetOf(in));
  EXPECT_THAT(all, testing::IsSupersetOf(out));
}

// The names lead to the same values on each backend, whose kernels of all these pairs have tests of their
// own. So each semiring and each type is on the backend of this test run in some pairs, in the others
// on the host.
TEST_F(SpgemmSemiring, EverySemiringOfEveryType) {
  std::size_t pair = 0;
  for (const char* precision :
       {"bool", "i32", "i64", "f16", "bf16", "f32", "f64", "complex-f32", "complex"}) {
    for (const char* semiring :
         {"plus-times", "plus-pair", "min-plus", "max-plus", "max-times", "or-and", "any-pair"}) {
      const std::vector<std::string> arguments = {
          path("g.mtx"), "--precision", precision, "--semiring",
          semiring,      "--verify",    "--json",  "-"};
      const Result result = pair++ % 5 == 0 ? spgemm(arguments) : spgemm_on_host(arguments);
      if (result.exit_code == 2) {
        EXPECT_THAT(result.err, HasSubstr(std::string("semiring: found ") + semiring + " of "));
        continue;
      }
      EXPECT_EQ(result.exit_code, 0) << result.err;
      const auto figures = nlohmann::json::parse(result.out)["figures"];
      EXPECT_EQ(figures["value_type"], precision);
      EXPECT_EQ(figures["nnz_c"], 16);
      if (!figures.contains("semiring")) continue;  // a plain product
      EXPECT_EQ(figures["semiring"], semiring);
      EXPECT_EQ(figures["verified_by"], "definition");
    }
  }
}

TEST_F(SpgemmSemiring, KeepsTheLargestEntries) {
  EXPECT_THAT(entries({path("g.mtx"), "--keep-top", "1"}),
              testing::ElementsAre("1 1 50", "2 3 8", "3 3 51", "4 1 8"));
  EXPECT_THAT(entries({path("g.mtx"), "--drop-below", "8"}),
              testing::ElementsAre("1 1 50", "1 4 8", "2 3 8", "3 2 8", "3 3 51", "4 1 8"));
  EXPECT_THAT(
      entries({path("g.mtx"), "--drop-below", "8", "--keep-top", "1", "--precision", "i32"}),
      testing::ElementsAre("1 1 50", "2 3 8", "3 3 51", "4 1 8"));
}

TEST_F(SpgemmSemiring, ReadsAndWritesNpz) {
  ASSERT_EQ(spgemm({path("g.mtx"), "-o", path("g.npz"), "-q"}).exit_code, 0);
  const auto dtype = [&](const char* precision, const char* semiring) {
    const Result result = spgemm({path("g.npz"), "--mask", path("g.npz"), "--semiring", semiring,
                                  "--precision", precision, "-o", path("c.npz"), "--verify"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return matrices::read_npz_header(path("c.npz")).dtype;
  };
  EXPECT_EQ(dtype("bool", "or-and"), "|b1");
  EXPECT_EQ(dtype("i32", "min-plus"), "<i4");
  EXPECT_EQ(dtype("i64", "plus-pair"), "<i8");
  EXPECT_EQ(dtype("bf16", "max-plus"), "<f4");
  EXPECT_EQ(dtype("complex-f32", "plus-times"), "<c8");
  EXPECT_EQ(matrices::read_npz<std::complex<double>>({}, path("c.npz")).nnz(), 16);
}

TEST_F(SpgemmSemiring, ComplexFactorsAndMasks) {
  EXPECT_THAT(entries({path("z.mtx"), path("g.mtx"), "--mask", path("z.mtx")}), testing::IsEmpty());
  EXPECT_THAT(entries({path("z.mtx"), path("g.mtx"), "--precision", "complex-f32"}),
              testing::ElementsAre("1 2 1 2", "1 3 7 14", "2 1 0 -7", "2 2 0 -1", "2 4 0 -1"));
  EXPECT_THAT(entries({path("g.mtx"), "--mask", path("z.mtx"), "--transpose-b"}),
              testing::ElementsAre("1 1 50", "2 3 8"));
}

TEST_F(SpgemmSemiring, SameBytesForAnyNumberOfThreads) {
  for (const char* options : {"--mask", "--semiring", "--keep-top"}) {
    const auto on = [&](const char* threads) {
      std::vector<std::string> arguments{matrix("bcspwr10.mtx"), "-t", threads, "-o", "-", options};
      arguments.push_back(std::string(options) == "--mask"       ? matrix("bcspwr10.mtx")
                          : std::string(options) == "--semiring" ? "max-plus"
                                                                 : "2");
      return spgemm(arguments).out;
    };
    const std::string once = on("1");
    EXPECT_FALSE(once.empty());
    EXPECT_EQ(on("3"), once);
    EXPECT_EQ(on("2"), once);
  }
}

TEST_F(SpgemmSemiring, DryRunReportsTheBoundOfTheMask) {
  const Result result = spgemm({path("g.mtx"), "--mask", path("m.mtx"), "--semiring", "any-pair",
                                "--keep-top", "1", "--dry-run", "--json", path("r")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("M  4 x 4, 3 entries\nC  4 x 4, at most 2 entries"));
  const auto figures = nlohmann::json::parse(read_file(path("r")))["figures"];
  EXPECT_EQ(figures["nnz_c_bound"], 2);
  EXPECT_EQ(figures["nnz_mask"], 3);
  EXPECT_EQ(figures["keep_top"], 1);
  EXPECT_EQ(figures["products"], 26);
}

TEST_F(SpgemmSemiring, RefusesBadInput) {
  write_file(path("small.mtx"), "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 1\n");
  write_file(path("half.mtx"), "%%MatrixMarket matrix coordinate real general\n4 4 1\n1 1 0.5\n");
  write_file(path("huge.mtx"),
             "%%MatrixMarket matrix coordinate integer general\n4 4 1\n1 1 9007199254740993\n");
  const std::string g = path("g.mtx");
  expect_error(spgemm_on_host({g, "--mask", path("small.mtx")}), 1,
               path("small.mtx") + ": found a mask of 3 x 4, expected one of 4 x 4, the size of C");
  expect_error(spgemm_on_host({g, "--semiring", "min_plus"}), 2,
               "semiring: found \"min_plus\", expected one of plus-times, plus-pair, min-plus, "
               "max-plus, max-times, or-and, any-pair");
  expect_error(spgemm_on_host({g, "--semiring", "min-plus", "--precision", "bool"}), 2,
               "semiring: found min-plus of bool values, expected one of plus-times, plus-pair, "
               "or-and, any-pair");
  expect_error(spgemm_on_host({path("z.mtx"), "--semiring", "max-plus"}), 2,
               "semiring: found max-plus of complex f64 values, expected one of plus-times, "
               "plus-pair, or-and, any-pair");
  expect_error(spgemm_on_host({g, "--keep-top", "0"}), 2,
               "entries of a row to keep: found 0, expected at least 1");
  expect_error(spgemm_on_host({g, "--drop-below", "-1"}), 2,
               "least absolute value of an entry: found -1, expected at least 0");
  expect_error(spgemm_on_host({g, "--mask-complement"}), 2,
               "found --mask-complement without a mask, expected --mask");
  expect_error(spgemm_on_host({g, "--keep-top", "2", "--algorithm", "essc"}), 2,
               "found --algorithm essc with --keep-top, expected --algorithm auto");
  expect_error(spgemm_on_host({g, "--mask", g, "--structure-only"}), 2,
               "found --structure-only with --mask, expected one of both");
  expect_error(spgemm_on_host({"-", "--mask", "-"}), 2,
               "found standard input for several matrices, expected one at most");
  expect_error(spgemm_on_host({path("half.mtx"), "--precision", "i32"}), 1,
               path("half.mtx") + ": found the value 0.5, expected integers below 2^31");
  expect_error(
      spgemm_on_host({path("huge.mtx"), "--precision", "i64"}), 1,
      path("huge.mtx") + ": found the value 9007199254740992, expected integers below 2^53");
  expect_error(spgemm_on_host({g, "--mask", path("missing.mtx")}), 1,
               path("missing.mtx") +
                   ": cannot be opened: No such file or directory, expected a readable file");
}

}  // namespace
}  // namespace sortie::test
