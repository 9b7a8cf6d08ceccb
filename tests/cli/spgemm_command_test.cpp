// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <complex>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "matrices/generators.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/npz.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/file_size_limit.hpp"

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

// A^T * A = [1 0 2; 0 12.25 0; 2 0 4].
TEST_F(SpgemmCommand, MultipliesTheTranspose) {
  const Result result =
      run({"spgemm", path("a.mtx"), "--transpose-a", "-o", path("c.mtx"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const matrices::Csr<double> expected{3, 3, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {1, 2, 12.25, 2, 4}};
  EXPECT_EQ(read<double>("c.mtx"), expected);
  // (B^T * A^T)^T = A * B.
  const Result both = run({"spgemm", path("b.mtx"), path("a.mtx"), "--transpose-a", "--transpose-b",
                           "-o", path("c.mtx"), "--verify"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(read<double>("c.mtx"), (matrices::Csr<double>{2, 2, {0, 1, 2}, {1, 0}, {7, 8}}));
  expect_error(run({"spgemm", path("a.mtx"), path("b.mtx"), "--transpose-a"}), 1,
               path("a.mtx") + " transposed, as read (2 x 3) and " + path("b.mtx") +
                   " (3 x 2): found 2 columns and 3 rows, expected equal numbers");
  EXPECT_EQ(run({"spgemm", path("a.mtx"), "--transpose-a", "--gpus", "1"}).exit_code, 2);
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
  ASSERT_NE(result.err, "");
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

// A pipe has its bytes once: a second opening would find it empty, and its writer would be ended.
TEST_F(SpgemmCommand, OpensANamedPipeOnce) {
  const IgnoredSignal ignored(SIGPIPE);
  const std::string file = matrix("jagmesh7.mtx");
  const std::string content = read_file(file);
  const Result expected = run({"spgemm", file, "-o", "-"});
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (int round = 0; round < 5; ++round) {
    std::jthread writer([&] {
      std::ofstream pipe(path("pipe"), std::ios::binary);
      for (std::size_t at = 0; at < content.size(); at += 1000)
        pipe << content.substr(at, 1000) << std::flush;
      EXPECT_TRUE(pipe.good()) << "the program closed the pipe before its end";
    });
    const Result result = run({"spgemm", path("pipe"), "-o", "-"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(result.out == expected.out);
  }
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

/// A Matrix Market text from its first entry on.
std::string entries_of(const std::string& text) {
  std::size_t line = text.find('\n') + 1;
  while (text.at(line) == '%') line = text.find('\n', line) + 1;
  return text.substr(text.find('\n', line) + 1);
}

/// Files and options of a product that has to be done in chunks on the backend of this run.
struct LargeProduct {
  std::string budget;
  std::vector<std::string> algorithms;
};

LargeProduct large_product() {
  if (backend() == Backend::cuda) return {"3M", {"auto", "fused", "essc"}};
  return {"256K", {"auto", "row-wise", "essc"}};
}

// C is larger than the memory given: it goes to its file in chunks of rows, and is the same.
TEST_F(SpgemmCommand, StreamsAProductThatDoesNotFitTheMemoryGiven) {
  matrices::write_matrix_market({}, path("g.mtx"), matrices::erdos_renyi<double>(5000, 5000, 8, 7));
  const LargeProduct large = large_product();
  for (const std::string& algorithm : large.algorithms) {
    SCOPED_TRACE(algorithm);
    const Result whole =
        run({"spgemm", path("g.mtx"), "-o", path("whole.mtx"), "--algorithm", algorithm});
    EXPECT_EQ(whole.exit_code, 0) << whole.err;
    for (const std::vector<std::string>& extra : {std::vector<std::string>{},
                                                  {"--verify"},
                                                  {"--drop-zeros", "--verify"},
                                                  {"--repeat", "2"}}) {
      std::vector<std::string> arguments{
          "spgemm",  path("g.mtx"),  "-o",         path("c.mtx"), "--algorithm",
          algorithm, "--max-memory", large.budget, "--json",      path("r")};
      arguments.insert(arguments.end(), extra.begin(), extra.end());
      const Result result = run(arguments);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      const auto figures = nlohmann::json::parse(read_file(path("r")))["figures"];
      EXPECT_EQ(figures["streamed"], true);
      EXPECT_GT(figures["chunks"], 1);
      EXPECT_FALSE(figures.contains("checksum_c"));
      const bool verified = !extra.empty() && extra.back() == "--verify";
      EXPECT_EQ(figures.contains("verified_by"), verified);
      EXPECT_TRUE(!verified || figures.at("verified_by").is_string());
      EXPECT_EQ(entries_of(read_file(path("c.mtx"))), entries_of(read_file(path("whole.mtx"))));
      EXPECT_EQ(read<double>("c.mtx"), read<double>("whole.mtx"));
      EXPECT_EQ(figures["nnz_c"], read<double>("c.mtx").nnz());
    }
  }
}

TEST_F(SpgemmCommand, StreamsComplexAndRectangularProducts) {
  matrices::write_matrix_market({}, path("a.mtx"),
                                matrices::erdos_renyi<std::complex<double>>(3000, 500, 20, 1));
  matrices::write_matrix_market({}, path("b.mtx"),
                                matrices::erdos_renyi<std::complex<double>>(500, 4000, 20, 2));
  const Result whole = run({"spgemm", path("a.mtx"), path("b.mtx"), "-o", path("whole.mtx")});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  const Result result = run({"spgemm", path("a.mtx"), path("b.mtx"), "-o", path("c.mtx"),
                             "--verify", "--max-memory", large_product().budget});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(" chunks of rows"));
  EXPECT_EQ(entries_of(read_file(path("c.mtx"))), entries_of(read_file(path("whole.mtx"))));
}

// C in the form of SciPy, read again as an operand: by name, as standard input, and compressed.
TEST_F(SpgemmCommand, WritesAndReadsNpz) {
  const std::string file = matrix("plskz362.mtx");
  const Result text = run({"spgemm", file, "-o", path("c.mtx")});
  const Result binary = run({"spgemm", file, "-o", path("c.npz")});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(binary.exit_code, 0) << binary.err;
  EXPECT_EQ(matrices::read_npz<double>({}, path("c.npz")), read<double>("c.mtx"));

  const Result from_text = run({"spgemm", path("c.mtx"), "-o", "-"});
  EXPECT_EQ(from_text.exit_code, 0) << from_text.err;
  const Result from_npz = run({"spgemm", path("c.npz"), "-o", "-", "--json", path("r")});
  EXPECT_EQ(from_npz.exit_code, 0) << from_npz.err;
  EXPECT_EQ(from_npz.out, from_text.out);
  std::vector<std::string> phases;
  const auto report = nlohmann::json::parse(read_file(path("r")));
  for (const auto& phase : report["phases"]) phases.push_back(phase["name"]);
  EXPECT_THAT(phases, testing::IsSupersetOf({"read", "parse", "write"}));
  EXPECT_EQ(run({"spgemm", "-", "-o", "-"}, {.in = path("c.npz")}).out, from_text.out);
  write_file(path("c.npz.gz"), gzip(read_file(path("c.npz"))));
  EXPECT_EQ(run({"spgemm", path("c.npz.gz"), path("c.mtx"), "-o", "-"}).out, from_text.out);
}

TEST_F(SpgemmCommand, WritesNpzOfEveryType) {
  const auto dtype = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"spgemm", "-o", path("c.npz")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Result result = run(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return matrices::read_npz_header(path("c.npz")).dtype;
  };
  EXPECT_EQ(dtype({matrix("plskz362.mtx")}), "<f8");
  EXPECT_EQ(dtype({matrix("plskz362.mtx"), "--precision", "f32"}), "<f4");
  EXPECT_EQ(dtype({matrix("young1c.mtx")}), "<c16");
  EXPECT_EQ(dtype({matrix("young1c.mtx"), "--structure-only"}), "|b1");
  // Complex operands are recognised as such.
  EXPECT_EQ(run({"spgemm", matrix("young1c.mtx"), "-o", path("a.npz")}).exit_code, 0);
  EXPECT_EQ(dtype({path("a.npz")}), "<c16");
}

TEST_F(SpgemmCommand, RefusesADamagedNpz) {
  EXPECT_EQ(run_on_host({"spgemm", matrix("can___24.mtx"), "-o", path("c.npz")}).exit_code, 0);
  const std::string whole = read_file(path("c.npz"));
  write_file(path("cut.npz"), whole.substr(0, whole.size() / 2));
  std::string wrong = whole;
  wrong[200] = static_cast<char>(wrong[200] ^ 1);
  write_file(path("wrong.npz"), wrong);
  const Result cut = run_on_host({"spgemm", path("cut.npz"), "-o", path("d.npz")});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_THAT(cut.err, HasSubstr("cut.npz: found no directory of the zip archive at the end"));
  const Result damaged = run_on_host({"spgemm", path("wrong.npz"), "-o", path("d.npz")});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("wrong.npz: data.npy: found bytes of checksum"));
  EXPECT_THAT(names(), testing::Not(testing::Contains("d.npz")));
}

TEST_F(SpgemmCommand, StreamsToNpz) {
  matrices::write_matrix_market({}, path("g.mtx"), matrices::erdos_renyi<double>(5000, 5000, 8, 7));
  const LargeProduct large = large_product();
  const Result whole = run({"spgemm", path("g.mtx"), "-o", path("whole.npz")});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  const Result result = run({"spgemm", path("g.mtx"), "-o", path("c.npz"), "--max-memory",
                             large.budget, "--verify", "--json", path("r")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto figures = nlohmann::json::parse(read_file(path("r")))["figures"];
  EXPECT_EQ(figures["streamed"], true);
  EXPECT_GT(figures["chunks"], 1);
  EXPECT_EQ(matrices::read_npz<double>({}, path("c.npz")).nnz(), figures["nnz_c"]);
  EXPECT_TRUE(read_file(path("c.npz")) == read_file(path("whole.npz")));
}

// What cannot be gone back in gets C as a whole; so does a C that fits the memory given.
TEST_F(SpgemmCommand, DoesNotStreamToPipesNorWithoutNeed) {
  const std::string file = matrix("plskz362.mtx");
  const Result piped = run({"spgemm", file, "-o", "-", "--max-memory", large_product().budget});
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  const Result fitting = run({"spgemm", file, "-o", path("c.mtx"), "--max-memory", "1G"});
  EXPECT_EQ(fitting.exit_code, 0) << fitting.err;
  EXPECT_EQ(read_file(path("c.mtx")), piped.out);
}

// On CUDA only after chunks have been written does a row turn out not to fit: no file is left.
TEST_F(SpgemmCommand, LeavesNoFileWhereALaterChunkFails) {
  auto a = matrices::erdos_renyi<double>(60'000, 60'000, 3, 1);
  const auto row = matrices::erdos_renyi<double>(1, 60'000, 60'000, 2);
  a.row_ptr.back() = a.row_ptr[59'999] + row.nnz();
  a.col_idx.resize(static_cast<std::size_t>(a.row_ptr[59'999]));
  a.values.resize(a.col_idx.size());
  a.col_idx.insert(a.col_idx.end(), row.col_idx.begin(), row.col_idx.end());
  a.values.insert(a.values.end(), row.values.begin(), row.values.end());
  matrices::write_matrix_market({}, path("a.mtx"), a);
  const Result result = run({"spgemm", path("a.mtx"), "-o", path("c.mtx"), "--algorithm", "essc",
                             "--max-memory", backend() == Backend::cuda ? "5M" : "3M"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("out of memory: the 239997 products of row 60000 of C"));
  EXPECT_THAT(names(), ElementsAre("a.mtx", "b.mtx"));
}

// A * B has 1 + 1 and 1 products.
TEST_F(SpgemmCommand, EstimatesWithoutMultiplying) {
  const Result result =
      run({"spgemm", path("a.mtx"), path("b.mtx"), "--dry-run", "-o", path("c.mtx"), "--json",
           path("r"), "--max-memory", "1M", "--algorithm", "essc"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(names(), ElementsAre("a.mtx", "b.mtx", "r"));
  const auto out = lines(result.out);
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(out[0], "A  2 x 3, 3 entries, 60 B");
  EXPECT_EQ(out[1], "B  3 x 2, 3 entries, 68 B");
  EXPECT_EQ(out[2], "C  2 x 2, at most 3 entries, 60 B");
  EXPECT_EQ(out[3], "3 products, at most 2 in a row (row 1)");
  EXPECT_THAT(out[4], MatchesRegex("work space on (host|cuda) \\(essc\\): at most .* of 1.00 MiB "
                                   "allowed, at least .*"));
  const auto figures = nlohmann::json::parse(read_file(path("r")))["figures"];
  EXPECT_EQ(figures["dry_run"], true);
  EXPECT_EQ(figures["rows_c"], 2);
  EXPECT_EQ(figures["nnz_b"], 3);
  EXPECT_EQ(figures["products"], 3);
  EXPECT_EQ(figures["longest_row"], 1);
  EXPECT_EQ(figures["longest_row_products"], 2);
  EXPECT_EQ(figures["nnz_c_bound"], 3);
  EXPECT_EQ(figures["bytes_a"], 60);
  EXPECT_EQ(figures["bytes_c_bound"], 60);
  EXPECT_EQ(figures["work_space_known"], true);
  EXPECT_EQ(figures["work_space_limit"], 1 << 20);
  EXPECT_EQ(figures["fits"], true);
  EXPECT_FALSE(figures.contains("nnz_c"));
  EXPECT_FALSE(figures.contains("checksum_c"));
}

TEST_F(SpgemmCommand, EstimatesWhatWouldNotFit) {
  const Result result = run({"spgemm", matrix("plskz362.mtx"), "--dry-run", "--algorithm", "essc",
                             "--max-memory", "64", "--json", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the product would not fit"));
  EXPECT_EQ(nlohmann::json::parse(result.out)["figures"]["fits"], false);
}

TEST_F(SpgemmCommand, EstimatesNoWorkSpaceOfAPeer) {
  const Result result = run(
      {"spgemm", matrix("can___24.mtx"), "--dry-run", "--algorithm", "eigen", "--backend", "host"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines(result.out).back(),
            "work space on host (eigen): unknown in advance, this algorithm ignores the limit");
}

// [1 1; 5 0] * [3; -3] = [0; 15].
TEST_F(SpgemmCommand, DropsZeros) {
  write_file(path("row.mtx"),
             "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 1\n2 1 5\n");
  write_file(path("col.mtx"),
             "%%MatrixMarket matrix coordinate real general\n2 1 2\n1 1 3\n2 1 -3\n");
  const Result kept = run({"spgemm", path("row.mtx"), path("col.mtx"), "-o", path("c.mtx")});
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_EQ(read<double>("c.mtx"), (matrices::Csr<double>{2, 1, {0, 1, 2}, {0, 0}, {0, 15}}));
  const Result dropped = run({"spgemm", path("row.mtx"), path("col.mtx"), "-o", path("c.mtx"),
                              "--drop-zeros", "--verify", "--json", path("r")});
  EXPECT_EQ(dropped.exit_code, 0) << dropped.err;
  EXPECT_EQ(read<double>("c.mtx"), (matrices::Csr<double>{2, 1, {0, 0, 1}, {0}, {15}}));
  const auto figures = nlohmann::json::parse(read_file(path("r")))["figures"];
  EXPECT_EQ(figures["zeros_dropped"], 1);
  EXPECT_EQ(figures["nnz_c"], 1);
  EXPECT_EQ(figures["verified_by"], "eigen");
}

TEST_F(SpgemmCommand, WritesTheStructureAlone) {
  const Result result = run({"spgemm", path("a.mtx"), path("b.mtx"), "--structure-only", "--verify",
                             "-o", path("c.mtx"), "--json", path("r")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(path("c.mtx")),
            "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n");
  const auto figures = nlohmann::json::parse(read_file(path("r")))["figures"];
  EXPECT_EQ(figures["value_type"], "pattern");
  EXPECT_EQ(figures["nnz_c"], 2);
  EXPECT_EQ(figures["products"], 3);
  EXPECT_EQ(figures["verified_by"], "eigen");
}

TEST_F(SpgemmCommand, WritesStructuresOfFilesOfEveryField) {
  for (const char* name : {"young1c.mtx", "plskz362.mtx", "jagmesh7.mtx", "hermitian.mtx"}) {
    const Result structure = run({"spgemm", matrix(name), "--structure-only", "--verify",
                                  "--transpose-b", "-o", path("c.mtx")});
    const Result whole = run({"spgemm", matrix(name), "--transpose-b", "-o", path("whole.mtx")});
    EXPECT_EQ(structure.exit_code, 0) << structure.err;
    EXPECT_EQ(whole.exit_code, 0) << whole.err;
    const auto expected = matrices::read_matrix_market<std::complex<double>>({}, path("whole.mtx"));
    const auto found = matrices::read_matrix_market<std::complex<double>>({}, path("c.mtx"));
    EXPECT_EQ(found.row_ptr, expected.row_ptr) << name;
    EXPECT_EQ(found.col_idx, expected.col_idx) << name;
    EXPECT_EQ(matrices::read_matrix_market_header(path("c.mtx")).field, matrices::Field::pattern);
  }
}

TEST_F(SpgemmCommand, DividesItsWorkAmongDevices) {
  const std::vector<std::string> files = {"spgemm", path("a.mtx"), path("b.mtx")};
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), files.begin(), files.end());
    return run(std::move(options));
  };
  const Result on_host = with({"--gpus", "2", "--backend", "host"});
  EXPECT_EQ(on_host.exit_code, 2);
  EXPECT_THAT(on_host.err, HasSubstr("found --gpus with --backend host, expected cuda or auto"));
  EXPECT_EQ(with({"--gpus", "0"}).exit_code, 2);
  const Result result = with({"--gpus", "3", "-o", path("c.mtx"), "--verify"});
  if (backend() != Backend::cuda) return;
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("3 products in "));
  const matrices::Csr<double> expected{2, 2, {0, 1, 2}, {1, 0}, {8, 7}};
  EXPECT_EQ(read<double>("c.mtx"), expected);
  const Result npz = with({"--gpus", "2", "-o", path("c.npz")});
  EXPECT_EQ(npz.exit_code, 2);
  EXPECT_THAT(npz.err, HasSubstr("found an output NAME.npz on ranks"));
}

TEST_F(SpgemmCommand, StructureHasNoValuesToChooseOrDrop) {
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{"--drop-zeros"}, {"--precision", "f32"}, {"--dry-run"}}) {
    std::vector<std::string> arguments{"spgemm", path("a.mtx"), path("b.mtx"), "--structure-only"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    EXPECT_EQ(run(arguments).exit_code, 2) << other.front();
  }
}

// A = [2 -1 0; -1 2 -1; 0 -1 2], P = [1 0; 2 0; 0 3], P^T * A * P = [6 -6; -6 18].
class GalerkinCommand : public SpgemmCommand {
 protected:
  void SetUp() override {
    SpgemmCommand::SetUp();
    write_file(path("A.mtx"),
               "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 "
               "-1\n3 3 2\n");
    write_file(path("P.mtx"),
               "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n2 1 2\n3 2 3\n");
  }
  matrices::Csr<double> expected{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {6, -6, -6, 18}};
};

TEST_F(GalerkinCommand, ComputesTheCoarseMatrix) {
  const Result result = run({"spgemm", "--galerkin", path("P.mtx"), path("A.mtx"), "-o",
                             path("C.mtx"), "--verify", "--json", path("c.json")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read<double>("C.mtx"), expected);
  EXPECT_THAT(result.err, HasSubstr("verified: equal to two products by eigen"));
  const auto figures = nlohmann::json::parse(read_file(path("c.json")))["figures"];
  EXPECT_EQ(figures["nnz_c"], 4);
  EXPECT_EQ(figures["rows_p"], 3);
  EXPECT_EQ(figures["algorithm"], "galerkin");
}

TEST_F(GalerkinCommand, ReadsAndWritesNpz) {
  matrices::write_npz({}, path("A.npz"), read<double>("A.mtx"));
  const Result result =
      run({"spgemm", "--galerkin", path("P.mtx"), path("A.npz"), "-o", path("C.npz"), "-q"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ((matrices::read_npz<double, std::int32_t>({}, path("C.npz"))), expected);
}

TEST_F(GalerkinCommand, VerifiesEveryPrecisionWithAnyThreadsAndMemory) {
  const auto a = matrices::stencil<double, std::int32_t>(27, 9, 8, 7, 1);
  for (const std::int64_t entries : {1, 3}) {
    matrices::write_matrix_market({}, path("a.mtx"), a);
    matrices::write_matrix_market({}, path("p.mtx"),
                                  matrices::erdos_renyi<double>(a.rows, 30, entries, 1));
    std::string first;
    for (const char* threads : {"1", "2"}) {
      for (const char* memory : {"64M", "32M"}) {
        const Result result = run({"spgemm", "--galerkin", path("p.mtx"), path("a.mtx"), "-o", "-",
                                   "--verify", "-t", threads, "--max-memory", memory});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        if (first.empty()) first = result.out;
        EXPECT_TRUE(result.out == first);
      }
    }
    for (const char* precision : {"f32", "f64", "complex"}) {
      const Result result = run({"spgemm", "--galerkin", path("p.mtx"), path("a.mtx"), "--verify",
                                 "--precision", precision, "--drop-zeros"});
      EXPECT_EQ(result.exit_code, 0) << result.err;
    }
  }
}

TEST_F(GalerkinCommand, ShowsSizesInADryRun) {
  const Result result = run({"spgemm", "--galerkin", path("P.mtx"), path("A.mtx"), "--dry-run"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto out = lines(result.out);
  ASSERT_EQ(out.size(), 5u);
  EXPECT_EQ(out[1], "P  3 x 2, 3 entries");
  EXPECT_THAT(out[2], HasSubstr("C  2 x 2, at most 4 entries"));
  EXPECT_EQ(out[3], "7 products of P^T * A, 7 with P at most");
  EXPECT_THAT(out[4], HasSubstr("work space on "));
  // P^T alone takes 60 bytes.
  const Result limited = run(
      {"spgemm", "--galerkin", path("P.mtx"), path("A.mtx"), "--dry-run", "--max-memory", "50"});
  EXPECT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_THAT(lines(limited.out).back(), HasSubstr("the product would not fit"));
}

TEST_F(GalerkinCommand, RejectsWhatDoesNotFit) {
  expect_error(run_on_host({"spgemm", "--galerkin", path("A.mtx"), path("a.mtx")}), 1,
               path("a.mtx") + " (2 x 3) and --galerkin " + path("A.mtx") +
                   " (3 x 3): expected a square matrix with as many rows as the prolongation");
  EXPECT_EQ(
      run_on_host({"spgemm", "--galerkin", path("P.mtx"), path("A.mtx"), path("A.mtx")}).exit_code,
      2);
  EXPECT_EQ(run_on_host({"spgemm", "--galerkin", path("P.mtx"), path("A.mtx"), "--transpose-b"})
                .exit_code,
            2);
  EXPECT_EQ(run_on_host({"spgemm", "--galerkin", path("P.mtx"), path("A.mtx"), "--structure-only"})
                .exit_code,
            2);
  expect_error(
      run_on_host({"spgemm", "--galerkin", path("P.mtx"), path("A.mtx"), "--algorithm", "essc"}), 2,
      "found --galerkin with --algorithm \"essc\", expected auto");
  expect_error(run_on_host({"spgemm", "--galerkin", "-", "-"}), 2,
               "found standard input for A and P, expected at least one file");
  EXPECT_EQ(run_on_host({"spgemm", "--galerkin", path("missing.mtx"), path("A.mtx")}).exit_code, 1);
}

}  // namespace
}  // namespace sortie::test
