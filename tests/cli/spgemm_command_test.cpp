#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "sortie/matrices/matrix_market.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class SpgemmCommand : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_file(path("a.mtx"),
               "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 3 2\n2 2 3.5\n");
    write_file(path("b.mtx"),
               "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 2 10\n2 1 2\n3 2 -1\n");
  }

  template <class Value>
  matrices::Csr<Value> read(const std::string& name) {
    return matrices::read_matrix_market<Value>({}, path(name));
  }
};

// A = [1 0 2; 0 3.5 0], B = [0 10; 2 0; 0 -1], A * B = [0 8; 7 0].
TEST_F(SpgemmCommand, MultipliesTwoFiles) {
  const Result result = run({"spgemm", path("a.mtx"), path("b.mtx"), "-o", path("c.mtx")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const matrices::Csr<double> expected{2, 2, {0, 1, 2}, {1, 0}, {8, 7}};
  EXPECT_EQ(read<double>("c.mtx"), expected);
}

// A * A^T = [5 0; 0 12.25]; the entry (1, 2) has no products.
TEST_F(SpgemmCommand, MultipliesByTheTranspose) {
  const Result result =
      run({"spgemm", path("a.mtx"), "--transpose-b", "-o", path("c.mtx"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const matrices::Csr<double> expected{2, 2, {0, 1, 2}, {0, 1}, {5, 12.25}};
  EXPECT_EQ(read<double>("c.mtx"), expected);
}

TEST_F(SpgemmCommand, SquaresOneFileAndShowsASummary) {
  const Result result = run({"spgemm", matrix("can___24.mtx"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto out = lines(result.out);
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0], "A  24 x 24, 160 entries");
  EXPECT_EQ(out[1].substr(0, 11), "C  24 x 24,");
  EXPECT_THAT(out[2], HasSubstr(" products in "));
  EXPECT_EQ(out[3], "verified: equal to the product by eigen");
}

TEST_F(SpgemmCommand, EndsWithALineAboutTheRun) {
  const Result result = run({"spgemm", matrix("can___24.mtx")});
  EXPECT_THAT(lines(result.err).back(),
              MatchesRegex("sortie .* \\(.*\\): spgemm .*can___24.mtx; [0-9.]+ s wall, "
                           "[0-9.]+ s CPU, .* peak memory.*"));
}

TEST_F(SpgemmCommand, IsSilentWhenAsked) {
  const Result result = run({"spgemm", matrix("can___24.mtx"), "-q", "-o", path("c.mtx")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(names(), ElementsAre("a.mtx", "b.mtx", "c.mtx"));
}

TEST_F(SpgemmCommand, ShowsPhasesWhenVerbose) {
  const Result result = run({"spgemm", matrix("can___24.mtx"), "-v"});
  EXPECT_THAT(result.err, HasSubstr("  read "));
  EXPECT_THAT(result.err, HasSubstr("  parse "));
}

TEST_F(SpgemmCommand, ReadsStandardInputAndWritesStandardOutput) {
  const Result file = run({"spgemm", matrix("plskz362.mtx"), "-o", path("c.mtx")});
  const Result piped = run({"spgemm", "-", "-o", "-"}, {.in = matrix("plskz362.mtx")});
  EXPECT_EQ(file.exit_code, 0);
  EXPECT_EQ(piped.exit_code, 0);
  EXPECT_EQ(piped.out, read_file(path("c.mtx")));
  EXPECT_THAT(piped.err, HasSubstr("products in"));
}

TEST_F(SpgemmCommand, ReadsGzipByContent) {
  const Result plain = run({"spgemm", matrix("can___24.mtx"), "-o", "-"});
  std::filesystem::copy_file(matrix("can___24.mtx.gz"), path("no_suffix"));
  const Result zipped = run({"spgemm", path("no_suffix"), "-o", "-"});
  const Result piped = run({"spgemm", "-", "-o", "-"}, {.in = matrix("can___24.mtx.gz")});
  EXPECT_EQ(plain.exit_code, 0);
  EXPECT_EQ(zipped.out, plain.out);
  EXPECT_EQ(piped.out, plain.out);
}

TEST_F(SpgemmCommand, WritesTheSameBytesWithAnyNumberOfThreads) {
  const std::string file = matrix("plskz362.mtx");
  const Result one = run({"spgemm", file, "-o", "-", "-t", "1"});
  const Result two = run({"spgemm", file, "-o", "-", "-t", "2"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(two.exit_code, 0) << two.err;
  EXPECT_GT(one.out.size(), 1000u);
  EXPECT_EQ(one.out, two.out);
}

// All entries are 1, so that every order of summation gives the same integers.
TEST_F(SpgemmCommand, EveryHostAlgorithmWritesTheSame) {
  const std::string file = matrix("jagmesh7.mtx");
  const Result expected =
      run({"spgemm", file, "-o", "-", "--algorithm", "reference", "--backend", "host"});
  EXPECT_EQ(expected.exit_code, 0) << expected.err;
  for (const char* algorithm : {"auto", "essc", "row-wise", "eigen"}) {
    const Result result =
        run({"spgemm", file, "-o", "-", "--algorithm", algorithm, "--backend", "host"});
    EXPECT_EQ(result.out, expected.out) << algorithm;
  }
}

TEST_F(SpgemmCommand, TakesComplexFilesAsTheyAre) {
  const Result result =
      run({"spgemm", matrix("young1c.mtx"), "-o", path("c.mtx"), "--verify", "--json", path("r")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  matrices::MatrixMarketHeader header = matrices::read_matrix_market_header(path("c.mtx"));
  EXPECT_EQ(header.field, matrices::Field::complex);
  EXPECT_EQ(header.entries, 10357);
  EXPECT_EQ(nlohmann::json::parse(read_file(path("r")))["figures"]["value_type"], "complex");
}

TEST_F(SpgemmCommand, TakesThePrecisionAskedFor) {
  for (const char* precision : {"f32", "f64", "complex"}) {
    const Result result = run(
        {"spgemm", matrix("plskz362.mtx"), "--precision", precision, "--verify", "--json", "-"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(nlohmann::json::parse(result.out)["figures"]["value_type"], precision);
  }
}

TEST_F(SpgemmCommand, TakesMatricesWithoutRowsOrEntries) {
  for (const char* name : {"0_by_0.mtx", "3by0.mtx", "5_by_3_no_entries.mtx"}) {
    const Result result =
        run({"spgemm", matrix(name), "--transpose-b", "-o", path("c.mtx"), "--verify"});
    EXPECT_EQ(result.exit_code, 0) << name << ": " << result.err;
    EXPECT_EQ(matrices::read_matrix_market_header(path("c.mtx")).entries, 0);
  }
}

TEST_F(SpgemmCommand, ReportsInJson) {
  const Result result = run({"spgemm", matrix("can___24.mtx"), "--json", path("report.json"),
                             "--verify", "--repeat", "3", "-q"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(read_file(path("report.json")));
  EXPECT_EQ(report["program"], "sortie");
  EXPECT_EQ(report["command"][0], "spgemm");
  const auto& figures = report["figures"];
  EXPECT_EQ(figures["rows_a"], 24);
  EXPECT_EQ(figures["nnz_a"], 160);
  EXPECT_EQ(figures["verified_by"], "eigen");
  EXPECT_GT(figures["products"], 160);
  EXPECT_GT(figures["multiply_seconds"], 0);
  EXPECT_EQ(figures["checksum_c"].get<std::string>().size(), 16u);
  std::vector<std::string> phases;
  for (const auto& phase : report["phases"]) phases.push_back(phase["name"]);
  EXPECT_THAT(phases, testing::IsSupersetOf({"read", "parse", "verify"}));
}

TEST_F(SpgemmCommand, KeepsToTheMemoryBudgetWithTheSameResult) {
  const std::string file = matrix("plskz362.mtx");
  const Result free = run({"spgemm", file, "-o", "-", "--algorithm", "essc"});
  const Result tight =
      run({"spgemm", file, "-o", "-", "--algorithm", "essc", "--max-memory", "256K"});
  EXPECT_EQ(free.exit_code, 0) << free.err;
  EXPECT_EQ(tight.exit_code, 0) << tight.err;
  EXPECT_EQ(tight.out, free.out);
}

}  // namespace
}  // namespace sortie::test
