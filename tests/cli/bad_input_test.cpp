// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "tests/cli/program.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string bad_matrices = SORTIE_TEST_DATA "/matrices/invalid/";
const std::string bad_sequences = SORTIE_TEST_DATA "/sequences/invalid/";

std::vector<std::string> files_in(const std::string& folder, const std::set<std::string>& without) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (without.count(entry.path().filename()) == 0) files.push_back(entry.path());
  }
  return files;
}

class BadInput : public ProgramTest {
 protected:
  // One line that names the file, exit 1, and neither output nor anything else left behind.
  void expect_refused(const Result& result, const std::string& file) const {
    EXPECT_EQ(result.exit_code, 1) << file;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("sortie: " + file + ":"));
    EXPECT_EQ(lines(result.err).size(), 1u) << result.err;
    EXPECT_THAT(names(), IsEmpty()) << file;
  }

  // The same reader serves each backend: one file is refused while the backend of this test run
  // starts, the others on the host.
  template <class Arguments>
  void expect_all_refused(const std::vector<std::string>& files,
                          const Arguments& arguments_of) const {
    for (const std::string& file : files) {
      const std::vector<std::string> arguments = arguments_of(file);
      expect_refused(file == files.front() ? run(arguments) : run_on_host(arguments), file);
    }
  }
};

TEST_F(BadInput, EveryBrokenMatrixIsRefused) {
  // With 64-bit indices, which the program chooses by the sizes, these two are no longer wrong.
  const std::set<std::string> only_wide = {"rows_beyond_32_bits.mtx", "columns_beyond_32_bits.mtx"};
  const auto files = files_in(bad_matrices, only_wide);
  EXPECT_GT(files.size(), 40u);
  // Whatever the size line says, A and its transpose conform.
  expect_all_refused(files, [&](const std::string& file) {
    return std::vector<std::string>{"spgemm", file, "--transpose-b", "-o", path("c.mtx")};
  });
}

TEST_F(BadInput, EveryBrokenSequenceIsRefused) {
  // Wrong only for a chosen alphabet, which the tests below choose.
  const auto files = files_in(bad_sequences, {"not_dna.fa"});
  EXPECT_GT(files.size(), 15u);
  expect_all_refused(files, [&](const std::string& file) {
    return std::vector<std::string>{"suffix-array", file, "-o", path("out.sa")};
  });
}

TEST_F(BadInput, MessagesSayFileLineFoundAndExpected) {
  expect_error(run_on_host({"spgemm", bad_matrices + "mangle1.mtx"}), 1,
               bad_matrices + "mangle1.mtx:1: found \"junk\", expected \"matrix\"");
  expect_error(
      run_on_host({"spgemm", bad_matrices + "row_index_0.mtx"}), 1,
      bad_matrices + "row_index_0.mtx:4: found row index 0, expected an index from 1 to 3");
  expect_error(
      run_on_host({"suffix-array", bad_sequences + "not_dna.fa", "--alphabet", "dna"}), 1,
      bad_sequences +
          "not_dna.fa:3: found symbol \"J\", expected a symbol of the alphabet dna (ACGT)");
}

TEST_F(BadInput, StandardInputIsNamed) {
  expect_error(run_on_host({"spgemm", "-"}, {.in = bad_matrices + "value_not_a_number.mtx"}), 1,
               "<stdin>:4: found \"abc\", expected a real number");
  expect_error(run_on_host({"suffix-array", "-"}, {.in = "/dev/null"}), 1,
               "<stdin>: found an empty file, expected a FASTA or FASTQ record");
}

TEST_F(BadInput, ATruncatedGzipIsAnErrorAlsoOnStandardInput) {
  const Result matrix = run({"spgemm", "-", "-o", "-"}, {.in = bad_matrices + "truncated.mtx.gz"});
  EXPECT_EQ(matrix.exit_code, 1);
  EXPECT_EQ(matrix.out, "");
  EXPECT_THAT(matrix.err, StartsWith("sortie: <stdin>: found gzip stream cut off"));
  const Result text =
      run({"suffix-array", "-", "-o", "-"}, {.in = bad_sequences + "truncated.fa.gz"});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_EQ(text.out, "");
  EXPECT_THAT(text.err, StartsWith("sortie: <stdin>: found gzip stream cut off"));
}

TEST_F(BadInput, AMissingFileIsNamed) {
  for (const char* command : {"spgemm", "suffix-array"}) {
    const Result result = run_on_host({command, path("absent"), "-o", path("out")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, StartsWith("sortie: " + path("absent") + ": cannot be opened"));
    EXPECT_THAT(names(), IsEmpty());
  }
}

TEST_F(BadInput, ShapesThatDoNotConformAreNamedWithTheirFiles) {
  const std::string a = matrix("can___24.mtx");
  const std::string b = matrix("lp_share1b.mtx");
  expect_error(run({"spgemm", a, b, "-o", path("c.mtx")}), 1,
               a + " (24 x 24) and " + b +
                   " (117 x 253): found 24 columns and 117 rows, expected equal numbers");
  expect_error(run_on_host({"spgemm", b}), 1,
               b + " (117 x 253) and " + b +
                   " (117 x 253): found 253 columns and 117 rows, expected equal numbers");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(BadInput, ComplexEntriesNeedComplexPrecision) {
  const Result result = run_on_host({"spgemm", matrix("young1c.mtx"), "--precision", "f64"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, StartsWith("sortie: " + matrix("young1c.mtx") + ":1: found"));
}

TEST_F(BadInput, SizesBeyondTheMachineAreAnErrorThatNamesMemory) {
  write_file(path("huge.mtx"),
             "%%MatrixMarket matrix coordinate real general\n"
             "4000000000000 4000000000000 1\n1 1 1\n");
  const Result result = run({"spgemm", path("huge.mtx"), "-o", path("c.mtx")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lines(result.err).size(), 1u);
  EXPECT_THAT(result.err, HasSubstr("memory"));
  EXPECT_THAT(names(), ElementsAre("huge.mtx"));
}

}  // namespace
}  // namespace sortie::test
