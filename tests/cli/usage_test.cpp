// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sortie/version.hpp"
#include "tests/cli/program.hpp"

namespace sortie::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Usage = ProgramTest;

TEST_F(Usage, HelpAndVersionGoToStandardOutputEverywhere) {
  const std::vector<std::vector<std::string>> places = {{},
                                                        {"spgemm"},
                                                        {"suffix-array"},
                                                        {"query"},
                                                        {"sort"},
                                                        {"dedup"},
                                                        {"index"},
                                                        {"inverted-index"},
                                                        {"kmers"},
                                                        {"matches"},
                                                        {"search"},
                                                        {"info"},
                                                        {"completion"},
                                                        {"bench"},
                                                        {"bench", "segsort"},
                                                        {"bench", "device-sort"},
                                                        {"bench", "links"},
                                                        {"bench", "query"},
                                                        {"bench", "tune"}};
  for (auto place : places) {
    for (const char* flag : {"-h", "--help", "-V", "--version"}) {
      std::vector<std::string> arguments = place;
      arguments.emplace_back(flag);
      const Result result = run(arguments);
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_EQ(result.err, "");
      const std::string version = "sortie " + std::string(sortie::version()) + " (";
      const bool asks_version = std::string(flag) == "-V" || std::string(flag) == "--version";
      EXPECT_THAT(result.out, HasSubstr(asks_version ? version : "Usage: "));
    }
  }
}

TEST_F(Usage, WithoutArgumentsTheHelpGoesToStandardError) {
  const Result result = run({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, run({"--help"}).out);
}

struct WrongUsage {
  std::vector<std::string> arguments;
  std::string message;
};

class WrongUsages : public testing::TestWithParam<WrongUsage> {};

TEST_P(WrongUsages, AreOneLineAndExitTwo) {
  expect_error(run(GetParam().arguments), 2, GetParam().message);
}

const std::string small = SORTIE_TEST_DATA "/matrices/valid/can___24.mtx";
const std::string genome = SORTIE_TEST_DATA "/sequences/valid/crlf.fa";

INSTANTIATE_TEST_SUITE_P(
    All, WrongUsages,
    testing::Values(
        WrongUsage{{"bench"}, "A subcommand is required"}, WrongUsage{{"spgemm"}, "A is required"},
        WrongUsage{{"suffix-array"}, "INPUT is required"},
        WrongUsage{{"matches"}, "REFERENCE is required"},
        WrongUsage{{"matches", genome}, "QUERY is required"},
        WrongUsage{{"matches", "-", "-"},
                   "found standard input twice, expected at most one file from it"},
        WrongUsage{{"matches", genome, genome, "--min-length", "0"},
                   "--min-length: Value 0 not in range 1 to 4294967296"},
        WrongUsage{{"matches", genome, genome, "--kind", "all"},
                   "--kind: all not in {maximal,unique-in-reference,unique}"},
        WrongUsage{{"matches", genome, genome, "--both-strands", "--reverse-only"},
                   "--both-strands excludes --reverse-only"},
        WrongUsage{{"matches", genome, genome, "--format", "paf", "--letters"},
                   "found --format paf with --forward-positions, --query-lengths, "
                   "--reference-names or --letters, expected --format mummer"},
        WrongUsage{{"sort"}, "IN is required"}, WrongUsage{{"sort", small}, "--type is required"},
        WrongUsage{
            {"sort", small, "--type", "u128"},
            "key type: found \"u128\", expected one of u8, i8, u16, i16, u32, i32, f32, u64, "
            "i64, f64, f16, bf16"},
        WrongUsage{{"sort", small, "--type", "u32", "--values", "u16"},
                   "values: found u16, expected a type of 4 or 8 bytes"},
        WrongUsage{{"sort", small, "--type", "u32", "--algorithm", "magic"},
                   "sort algorithm: found \"magic\", expected auto, radix, merge, rmg, tanasic, "
                   "het, bitonic or rmg-repair"},
        WrongUsage{{"sort", small, "--type", "u32", "--gpus", "0"},
                   "--gpus: Value 0 not in range 1 to 1024"},
        WrongUsage{{"sort", small, "--type", "u32", "--transport", "mail"},
                   "transport: found \"mail\", expected auto, peer or staged"},
        WrongUsage{{"sort", small, "--type", "u32", "-o", "-", "--json", "-"},
                   "found two results for standard output, expected at most one"},
        WrongUsage{{"sort", "gen:magic:5", "--type", "u32"},
                   "found \"gen:magic:5\", expected gen:KIND:N[:SEED[:PARAMETER]] with KIND "
                   "uniform, normal, zipf, sorted, reverse, nearly or entropy"},
        WrongUsage{{"sort", "gen:uniform", "--type", "u32"},
                   "found \"gen:uniform\", expected gen:KIND:N[:SEED[:PARAMETER]] with KIND "
                   "uniform, normal, zipf, sorted, reverse, nearly or entropy"},
        WrongUsage{{"sort", "gen:zipf:5:1:-2", "--type", "u32"},
                   "generator: found parameter -2, expected one from 0 to 16"},
        WrongUsage{{"multiply", "a.mtx"},
                   "found \"multiply\", expected a subcommand (sortie --help lists them)"},
        WrongUsage{{"spgemm", small, "--bogus"},
                   "The following argument was not expected: --bogus"},
        WrongUsage{{"spgemm", small, "--algorithm", "magic"},
                   "algorithm: found \"magic\", expected one of auto, essc, fused, row-wise, "
                   "pattern, reference, eigen, esc, cusparse, cusparse-alg1, cusparse-alg2, "
                   "cusparse-alg3, "
                   "cusparse-reuse, cusp, kokkos-kernels, graphblas"},
        WrongUsage{
            {"spgemm", small, "--precision", "f8"},
            "--precision: f8 not in {auto,bool,i32,i64,f16,bf16,f32,f64,complex-f32,complex}"},
        WrongUsage{{"spgemm", "--backend", "tpu", small}, "--backend: tpu not in {auto,cuda,host}"},
        WrongUsage{{"spgemm", small, "-t", "0"}, "--threads: Value 0 not in range 1 to 4096"},
        WrongUsage{{"spgemm", small, "--repeat", "x"},
                   "--repeat: Value x not in range 1 to 1000000"},
        WrongUsage{{"spgemm", small, "--max-memory", "4X"},
                   "found \"4X\", expected a size such as 1000, 512M, 1.5G"},
        WrongUsage{{"spgemm", "-", "-"},
                   "found standard input for A and B, expected at least one file"},
        WrongUsage{{"spgemm", small, "-q", "-v"}, "--quiet excludes --verbose"},
        WrongUsage{{"spgemm", small, "-o", "-", "--json", "-"},
                   "found two results for standard output, expected at most one"},
        WrongUsage{{"suffix-array", genome, "--text"}, "--text requires --output"},
        WrongUsage{{"suffix-array", genome, "--width", "16"}, "--width: 16 not in {auto,32,40,64}"},
        WrongUsage{{"suffix-array", genome, "--alphabet", "klingon"},
                   "--alphabet: klingon not in {auto,dna,dna-iupac,rna,rna-iupac,protein,bytes}"},
        WrongUsage{{"suffix-array", genome, "--algorithm", "magic"},
                   "suffix array algorithm: found \"magic\", expected auto, prefix-doubling, dc3, "
                   "divsufsort, induced, pdss or reference"},
        WrongUsage{{"suffix-array", genome, "--ambiguous", "drop"},
                   "--ambiguous: drop not in {keep,unify,separate}"},
        WrongUsage{{"suffix-array", genome, "--max-context", "0"},
                   "--max-context: Value 0 not in range 1 to 1099511627776"},
        WrongUsage{{"completion"}, "SHELL is required"},
        WrongUsage{{"completion", "fish"}, "SHELL: fish not in {bash,zsh}"},
        WrongUsage{{"query", genome}, "ARRAY is required"},
        WrongUsage{{"query", genome, "x.sa"},
                   "found no patterns, expected --pattern or --patterns"},
        WrongUsage{{"query", genome, "-", "-p", "A"},
                   "found standard input for the suffix array, expected a file ARRAY with a "
                   "description ARRAY.json"},
        WrongUsage{{"query", genome, "x.sa", "-p", "A", "--count", "--max-hits", "3"},
                   "--count excludes --max-hits"},
        WrongUsage{{"bench", "query", "gen:dna:100", "--length", "101"},
                   "gen:dna:100: found no record of 101 letters, expected one to draw patterns "
                   "from"},
        WrongUsage{{"bench", "search"},
                   "found \"search\", expected a subcommand (sortie --help lists them)"},
        WrongUsage{{"bench", "sort", "--classics", "--items", "1000"},
                   "--classics: found 1000 items, expected at least 1024"},
        WrongUsage{{"bench", "sort", "--classics", "--values", "f64"},
                   "--classics: found values of 8 bytes, expected none or u32"},
        WrongUsage{{"bench", "sort", "--classics", "--type", "u64"}, "--type excludes --classics"},
        WrongUsage{{"bench", "segsort", "--key", "u128"},
                   "--key: u128 not in {u8,i8,u16,i16,u32,i32,f32,u64,i64,f64,f16,bf16}"},
        WrongUsage{{"bench", "segsort", "--policy", "magic"},
                   "--policy: magic not in {tuned,ics17}"},
        WrongUsage{{"bench", "segsort", "--grid", "--case", "length 1"}, "--case excludes --grid"},
        WrongUsage{{"bench", "segsort", "--grid", "--launch-cost"},
                   "--grid excludes --launch-cost"},
        WrongUsage{{"bench", "segsort", "--grid-part", "1/2"}, "--grid-part requires --grid"},
        WrongUsage{{"bench", "segsort", "--grid", "--grid-part", "3/2"},
                   "--grid-part: found \"3/2\", expected I/N with 1 <= I <= N <= 640"},
        WrongUsage{{"bench", "segsort", "--grid", "--policy", "tuned", "--policy", "ics17"},
                   "--grid: found two policies, expected one"},
        WrongUsage{{"bench", "tune", "--items", "4X"},
                   "found \"4X\", expected a size such as 1000, 512M, 1.5G"},
        WrongUsage{{"bench", "tune", "--case", "length 1"},
                   "The following arguments were not expected: length 1 --case"},
        WrongUsage{{"bench", "tune", "-o", "-", "--json", "-"},
                   "found two results for standard output, expected at most one"},
        WrongUsage{{"bench", "spgemm", "gen:magic:5"},
                   "found \"gen:magic:5\", expected gen:er, gen:rmat, gen:banded, gen:stencil5, "
                   "gen:stencil7, gen:stencil9, gen:stencil27, gen:powerlaw or gen:web"},
        WrongUsage{{"bench", "spgemm", "gen:er:5"},
                   "found \"gen:er:5\", expected gen:er:ROWS:ROW_NNZ"},
        WrongUsage{{"bench", "suffix-array", "gen:dna:5x"},
                   "gen:dna:5x: found \"5x\", expected a count such as 4096 or 10M"}));

TEST_F(Usage, AnUnknownCaseIsToldTheKnownOnes) {
  for (const char* name : {"length 0", "length 3x", "power law a=1 max 0", "power law a= max 3"}) {
    EXPECT_EQ(run_on_host({"bench", "segsort", "--case", name}).exit_code, 2) << name;
  }
  const Result result = run_on_host({"bench", "segsort", "--case", "width 3"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(
      result.err,
      StartsWith("sortie: case: found \"width 3\", expected \"length N\", \"power law a=X max "
                 "N\" or one of: length 1;"));
}

TEST_F(Usage, ACudaDeviceThatIsNotThereIsUnavailable) {
  const Result result = run({"spgemm", small, "--backend", "cuda", "--device", "4000"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lines(result.err).size(), 1u);
  EXPECT_THAT(result.err, StartsWith("sortie: "));
  EXPECT_THAT(result.err, HasSubstr("CUDA"));
}

TEST_F(Usage, InfoNamesVersionBackendsAndLibraries) {
  const Result result = run({"info"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const char* part :
       {"backends", "host", "essc", "prefix-doubling", "radix, merge", "Kokkos", "zlib"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
}

TEST_F(Usage, WithoutSortieBenchOnlyItsAlgorithmsAndBenchmarksAreUnknown) {
  const Streams alone{.program = path("sortie")};
  std::filesystem::copy_file(program_path(), alone.program);
  EXPECT_EQ(run({"spgemm", small, "--algorithm", "essc"}, alone).exit_code, 0);
  expect_error(run({"bench", "spgemm", small}, alone), 1,
               "sortie bench: found no sortie-bench beside the program, expected it to be built "
               "(cmake --build build)");
  expect_error(run({"suffix-array", genome, "--algorithm=dc3"}, alone), 2,
               "suffix array algorithm: found \"dc3\", expected auto, prefix-doubling, "
               "divsufsort, induced or reference");
  EXPECT_EQ(run({"info"}, alone).exit_code, 0);
  EXPECT_THAT(run({"--help"}, alone).out, HasSubstr("bench"));
}

TEST_F(Usage, InfoWritesJson) {
  const Result to_stdout = run({"info", "--json"});
  EXPECT_EQ(to_stdout.exit_code, 0);
  const auto info = nlohmann::json::parse(to_stdout.out);
  EXPECT_EQ(info["version"], std::string(version()));
  EXPECT_FALSE(info["backends"]["host"]["spgemm"].empty());
  EXPECT_TRUE(info["devices"].is_array());

  EXPECT_EQ(run({"info", "--json", path("info.json")}).exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(path("info.json")))["program"], "sortie");
}

}  // namespace
}  // namespace sortie::test
