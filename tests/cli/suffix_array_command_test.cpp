// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/files/checksum.hpp"
#include "core/random.hpp"
#include "sortie/devices.hpp"
#include "sortie/fasta.hpp"
#include "sortie/run_report.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/backend.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using SuffixArrayCommand = ProgramTest;

std::vector<std::uint64_t> positions(const std::string& bytes, std::size_t width) {
  std::vector<std::uint64_t> result;
  for (std::size_t begin = 0; begin < bytes.size(); begin += width) {
    std::uint64_t position = 0;
    for (std::size_t i = 0; i < width; ++i) {
      position |= std::uint64_t{static_cast<unsigned char>(bytes[begin + i])} << (8 * i);
    }
    result.push_back(position);
  }
  return result;
}

TEST_F(SuffixArrayCommand, WritesPositionsAndTheirDescription) {
  write_file(path("in.fa"), ">x\nban\nana\n");
  const Result result = run({"suffix-array", path("in.fa"), "-o", path("out.sa"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const std::string bytes = read_file(path("out.sa"));
  EXPECT_THAT(positions(bytes, 4), ElementsAre(5, 3, 1, 0, 4, 2));
  EXPECT_THAT(names(), ElementsAre("in.fa", "out.sa", "out.sa.json"));
  const auto description = nlohmann::json::parse(read_file(path("out.sa.json")));
  EXPECT_EQ(description["format"], "sortie suffix array");
  EXPECT_EQ(description["width_bits"], 32);
  EXPECT_EQ(description["byte_order"], "little");
  EXPECT_EQ(description["positions"], 6);
  EXPECT_EQ(description["case"], "upper");
  EXPECT_EQ(description["checksum"], checksum_of(1, bytes));
  EXPECT_EQ(description["records"][0]["name"], "x");
}

TEST_F(SuffixArrayCommand, WritesPositionsAsText) {
  write_file(path("in.fa"), ">x\nBANANA\n");
  const Result result = run({"suffix-array", path("in.fa"), "-o", "-", "--text"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "5\n3\n1\n0\n4\n2\n");
  EXPECT_THAT(result.err, HasSubstr("1 record, 6 letters (dna-iupac)"));
}

TEST_F(SuffixArrayCommand, WritesTheWidthAskedFor) {
  write_file(path("in.fa"), ">x\nBANANA\n");
  const Result narrow = run({"suffix-array", path("in.fa"), "-o", "-", "--width", "32"});
  const Result wide = run({"suffix-array", path("in.fa"), "-o", "-", "--width", "64"});
  EXPECT_EQ(narrow.out.size(), 24u);
  EXPECT_EQ(wide.out.size(), 48u);
  EXPECT_EQ(positions(wide.out, 8), positions(narrow.out, 4));
  const Result middle = run({"suffix-array", path("in.fa"), "-o", path("sa"), "--width", "40"});
  EXPECT_EQ(middle.exit_code, 0) << middle.err;
  EXPECT_EQ(positions(read_file(path("sa")), 5), positions(narrow.out, 4));
  EXPECT_EQ(nlohmann::json::parse(read_file(path("sa.json")))["width_bits"], 40);
}

// The text is A C | G T T | (empty) with separators at 2 and 6: separators first, by position.
TEST_F(SuffixArrayCommand, SeparatesRecords) {
  write_file(path("in.fa"), ">first\nac\n>second\ngtt\n>third\n");
  const Result result = run({"suffix-array", path("in.fa"), "-o", path("sa"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(positions(read_file(path("sa")), 4), ElementsAre(2, 6, 0, 1, 3, 5, 4));
  const auto records = nlohmann::json::parse(read_file(path("sa.json")))["records"];
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1]["name"], "second");
  EXPECT_EQ(records[1]["offset"], 3);
  EXPECT_EQ(records[1]["length"], 3);
  EXPECT_EQ(records[2]["offset"], 7);
  EXPECT_EQ(records[2]["length"], 0);
}

TEST_F(SuffixArrayCommand, RaisesLowerCaseUnlessToldToKeepIt) {
  write_file(path("in.fa"), ">x\naAb\n");
  const Result upper = run({"suffix-array", path("in.fa"), "-o", "-", "--text"});
  const Result kept = run({"suffix-array", path("in.fa"), "-o", "-", "--text", "--case", "keep"});
  EXPECT_EQ(upper.out, "0\n1\n2\n");
  EXPECT_EQ(kept.out, "1\n0\n2\n");
}

TEST_F(SuffixArrayCommand, ReadsStandardInputAndGzipByContent) {
  const std::string file = sequence("lambda_phage.fa.gz");
  const Result named = run({"suffix-array", file, "-o", "-"});
  const Result piped = run({"suffix-array", "-", "-o", "-"}, {.in = file});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(named.out.size(), 4u * 48502);
  EXPECT_EQ(piped.out, named.out);
}

TEST_F(SuffixArrayCommand, EveryAlgorithmWritesTheSame) {
  for (const char* name : {"lambda_phage.fa.gz", "mirbase_hairpin_200.fa", "odd_records.fa",
                           "proteins_50.fa", "wrapped.fq"}) {
    const auto run_with = [&](const char* algorithm) {
      return run({"suffix-array", sequence(name), "-o", "-", "--verify", "--algorithm", algorithm,
                  "--backend", "host"});
    };
    const Result expected = run_with("reference");
    EXPECT_EQ(expected.exit_code, 0) << expected.err;
    for (const char* algorithm : {"auto", "prefix-doubling", "induced", "divsufsort"}) {
      const Result result = run_with(algorithm);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(result.out, expected.out) << name << " by " << algorithm;
    }
  }
}

TEST_F(SuffixArrayCommand, TheBackendOfThisRunWritesWhatTheReferenceDoes) {
  const std::string file = sequence("pseudopig_softmask.fa.gz");
  const Result result = run({"suffix-array", file, "-o", "-", "--verify"});
  const Result expected =
      run({"suffix-array", file, "-o", "-", "--algorithm", "reference", "--backend", "host"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, expected.out);
}

TEST_F(SuffixArrayCommand, MakesRangesWhereTheGpuHasNoRoom) {
  if (backend() != Backend::cuda) GTEST_SKIP() << "for CUDA only";
  std::string letters;
  Random random(1);
  for (int i = 0; i < 2000000; ++i) letters += "ACGT"[random.below(4)];
  write_file(path("in.fa"), ">x\n" + letters + "\n>y\n" + letters + "\n");
  const Result whole = run({"suffix-array", path("in.fa"), "-o", path("whole")});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.err, Not(HasSubstr("ranges")));
  const Result bounded = run({"suffix-array", path("in.fa"), "-o", path("sa"), "--lcp", path("lcp"),
                              "--bwt", path("bwt"), "--inverse", path("inverse"), "--verify",
                              "--max-memory", "24M", "--json", path("report.json")});
  EXPECT_EQ(bounded.exit_code, 0) << bounded.err;
  EXPECT_THAT(bounded.err, HasSubstr("ranges because of limited GPU memory"));
  EXPECT_THAT(bounded.err, HasSubstr("on the host because of limited GPU memory"));
  EXPECT_TRUE(read_file(path("sa")) == read_file(path("whole")));
  const auto report = nlohmann::json::parse(read_file(path("report.json")));
  EXPECT_LE(report["peak_device_bytes"], 24 << 20);
  const Result least =
      run({"suffix-array", path("in.fa"), "-o", path("none"), "--max-memory", "4M"});
  EXPECT_EQ(least.exit_code, 1);
  EXPECT_THAT(least.err, HasSubstr("out of memory: the suffix array in ranges needs"));
}

TEST_F(SuffixArrayCommand, WritesTheSameBytesWithAnyNumberOfThreads) {
  const std::string file = sequence("lambda_phage.fa.gz");
  const Result one = run({"suffix-array", file, "-o", "-", "-t", "1"});
  const Result two = run({"suffix-array", file, "-o", "-", "-t", "2"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(two.exit_code, 0) << two.err;
  EXPECT_EQ(one.out, two.out);
}

TEST_F(SuffixArrayCommand, TakesATextWithoutLetters) {
  write_file(path("in.fa"), ">nothing\n");
  const Result result = run({"suffix-array", path("in.fa"), "-o", path("sa"), "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(path("sa")), "");
  EXPECT_EQ(nlohmann::json::parse(read_file(path("sa.json")))["positions"], 0);
}

TEST_F(SuffixArrayCommand, ShowsASummaryAndReportsInJson) {
  const Result result = run({"suffix-array", sequence("lambda_phage.fa.gz"), "--verify", "--json",
                             path("report.json"), "--repeat", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto out = lines(result.out);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0], "1 record, 48502 letters (dna)");
  EXPECT_EQ(out[2], "verified: every suffix is in its place");
  const auto report = nlohmann::json::parse(read_file(path("report.json")));
  EXPECT_EQ(report["figures"]["symbols"], 48502);
  EXPECT_EQ(report["figures"]["verified"], true);
  EXPECT_GT(report["figures"]["build_seconds"], 0);
}

// banana: a, ana, anana, banana, na, nana.
TEST_F(SuffixArrayCommand, WritesTheLcpArrayAndTheTransform) {
  write_file(path("in.fa"), ">x\nBANANA\n");
  const Result result = run({"suffix-array", path("in.fa"), "--lcp", path("out.lcp"), "--bwt",
                             path("out.bwt"), "--verify", "--json", path("report.json")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("the LCP array is right, the transform is right"));
  const std::string lcp = read_file(path("out.lcp"));
  EXPECT_THAT(positions(lcp, 4), ElementsAre(0, 1, 3, 0, 0, 2));
  EXPECT_EQ(read_file(path("out.bwt")), "NNBAAA");
  EXPECT_THAT(names(), ElementsAre("in.fa", "out.bwt", "out.bwt.json", "out.lcp", "out.lcp.json",
                                   "report.json"));
  const auto lcp_description = nlohmann::json::parse(read_file(path("out.lcp.json")));
  EXPECT_EQ(lcp_description["format"], "sortie LCP array");
  EXPECT_EQ(lcp_description["entries"], 6);
  EXPECT_EQ(lcp_description["width_bits"], 32);
  EXPECT_EQ(lcp_description["checksum"], checksum_of(1, lcp));
  const auto bwt_description = nlohmann::json::parse(read_file(path("out.bwt.json")));
  EXPECT_EQ(bwt_description["format"], "sortie Burrows-Wheeler transform");
  EXPECT_EQ(bwt_description["primary"], 3);
  const auto report = nlohmann::json::parse(read_file(path("report.json")));
  EXPECT_EQ(report["figures"]["lcp_checksum"], lcp_description["checksum"]);
  EXPECT_EQ(report["figures"]["bwt_checksum"], bwt_description["checksum"]);
}

TEST_F(SuffixArrayCommand, WritesTheLcpArrayAsTextAndAsWideAsThePositions) {
  write_file(path("in.fa"), ">x\nBANANA\n");
  const Result text =
      run({"suffix-array", path("in.fa"), "-o", path("sa"), "--lcp", "-", "--text"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out, "0\n1\n3\n0\n0\n2\n");
  const Result wide = run({"suffix-array", path("in.fa"), "--lcp", "-", "--width", "64"});
  EXPECT_THAT(positions(wide.out, 8), ElementsAre(0, 1, 3, 0, 0, 2));
}

TEST_F(SuffixArrayCommand, BothBackendsWriteTheSameLcpArrayAndTransform) {
  for (const char* name : {"lambda_phage.fa.gz", "mirbase_hairpin_200.fa", "proteins_50.fa"}) {
    for (const char* option : {"--lcp", "--bwt"}) {
      const Result result = run({"suffix-array", sequence(name), option, "-", "--verify"});
      const Result host =
          run({"suffix-array", sequence(name), option, "-", "--backend", "host", "-t", "1"});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(result.out, host.out) << name;
    }
  }
}

// The text is A C | G T T | (empty): see SeparatesRecords.
TEST_F(SuffixArrayCommand, WritesTheDocumentArray) {
  write_file(path("in.fa"), ">first\nac\n>second\ngtt\n>third\n");
  const Result result = run({"suffix-array", path("in.fa"), "--documents", path("da"), "--verify",
                             "--json", path("report.json")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the document array is right"));
  const std::string bytes = read_file(path("da"));
  EXPECT_THAT(positions(bytes, 4), ElementsAre(0, 1, 0, 0, 1, 1, 1));
  const auto description = nlohmann::json::parse(read_file(path("da.json")));
  EXPECT_EQ(description["format"], "sortie document array");
  EXPECT_EQ(description["entries"], 7);
  EXPECT_EQ(description["width_bits"], 32);
  EXPECT_EQ(description["records"][1]["name"], "second");
  EXPECT_EQ(description["checksum"], checksum_of(1, bytes));
  const auto report = nlohmann::json::parse(read_file(path("report.json")));
  EXPECT_EQ(report["figures"]["documents_checksum"], description["checksum"]);
  const Result text =
      run({"suffix-array", path("in.fa"), "-o", path("sa"), "--text", "--documents", "-"});
  EXPECT_EQ(text.out, "0\n1\n0\n0\n1\n1\n1\n");
}

TEST_F(SuffixArrayCommand, WritesTheInverse) {
  write_file(path("in.fa"), ">x\nBANANA\n");  // 5 3 1 0 4 2
  const Result result = run({"suffix-array", path("in.fa"), "--inverse", path("isa"), "--width",
                             "64", "--verify", "--json", path("report.json")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the inverse is right"));
  const std::string bytes = read_file(path("isa"));
  EXPECT_THAT(positions(bytes, 8), ElementsAre(3, 2, 5, 1, 4, 0));
  const auto description = nlohmann::json::parse(read_file(path("isa.json")));
  EXPECT_EQ(description["format"], "sortie inverse suffix array");
  EXPECT_EQ(description["width_bits"], 64);
  EXPECT_EQ(description["checksum"], checksum_of(1, bytes));
  EXPECT_EQ(nlohmann::json::parse(read_file(path("report.json")))["figures"]["inverse_checksum"],
            description["checksum"]);
  const Result text =
      run({"suffix-array", path("in.fa"), "-o", path("sa"), "--text", "--inverse", "-"});
  EXPECT_EQ(text.out, "3\n2\n5\n1\n4\n0\n");
}

TEST_F(SuffixArrayCommand, AppendsTheReverseComplement) {
  // A C | G T T | G T | A A C
  write_file(path("in.fa"), ">x\nac\n>y\ngtt\n");
  const Result result = run({"suffix-array", path("in.fa"), "-o", path("sa"), "--bwt", path("bwt"),
                             "--reverse-complement", "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto description = nlohmann::json::parse(read_file(path("sa.json")));
  EXPECT_EQ(description["reverse_complement"], true);
  EXPECT_EQ(description["symbols"], 13);
  ASSERT_EQ(description["records"].size(), 4u);
  EXPECT_EQ(description["records"][3]["name"], "y/reverse-complement");
  EXPECT_EQ(description["records"][3]["offset"], 10);
  write_file(path("both.fa"), ">x\nac\n>y\ngtt\n>z\ngt\n>w\naac\n");
  const Result both = run({"suffix-array", path("both.fa"), "-o", "-"});
  EXPECT_EQ(read_file(path("sa")), both.out);
  write_file(path("protein.fa"), ">x\nMFEL\n");
  expect_error(run({"suffix-array", path("protein.fa"), "--reverse-complement"}), 1,
               path("protein.fa") +
                   ": found protein symbols, expected nucleotides, which --ambiguous and "
                   "--reverse-complement require");
}

// The text A N | C R A: kept, with all codes N, and with an end at each.
TEST_F(SuffixArrayCommand, TreatsAmbiguousLettersAsTold) {
  write_file(path("in.fa"), ">x\nAN\n>y\nCRA\n");
  const auto order = [&](const char* ambiguous) {
    const Result result = run({"suffix-array", path("in.fa"), "-o", path("sa"), "--ambiguous",
                               ambiguous, "--lcp", path("lcp"), "--verify"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto description = nlohmann::json::parse(read_file(path("sa.json")));
    EXPECT_EQ(description["ambiguous"], ambiguous);
    EXPECT_EQ(description["alphabet"], "dna-iupac");
    EXPECT_EQ(description["letters"], ambiguous == std::string("separate") ? 3 : 5);
    return positions(read_file(path("sa")), 4);
  };
  EXPECT_THAT(order("keep"), ElementsAre(2, 5, 0, 3, 1, 4));
  EXPECT_THAT(order("unify"), ElementsAre(2, 5, 0, 3, 1, 4));
  EXPECT_THAT(order("separate"), ElementsAre(1, 2, 4, 0, 5, 3));
}

TEST_F(SuffixArrayCommand, OrdersByAFewLettersAndThenByPosition) {
  write_file(path("in.fa"), ">x\nBANANA\n");
  const Result result = run({"suffix-array", path("in.fa"), "-o", path("sa"), "--lcp", path("lcp"),
                             "--bwt", path("bwt"), "--max-context", "2", "--verify"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(positions(read_file(path("sa")), 4), ElementsAre(5, 1, 3, 0, 2, 4));
  EXPECT_THAT(positions(read_file(path("lcp")), 4), ElementsAre(0, 1, 2, 0, 0, 2));
  EXPECT_EQ(read_file(path("bwt")), "NBNAAA");
  EXPECT_EQ(nlohmann::json::parse(read_file(path("sa.json")))["max_context"], 2);
}

TEST_F(SuffixArrayCommand, PlansRanksWithAndWithoutGpus) {
  const auto figure = [&](const char* name) {
    return nlohmann::json::parse(read_file(path("plan.json")))["figures"][name].get<double>();
  };
  std::vector<std::string> plan = {"suffix-array", "gen:dna:64000000", "--dry-run", "--ranks", "4",
                                   "--json",       path("plan.json")};
  EXPECT_EQ(run(plan).exit_code, 0);
  EXPECT_EQ(figure("planned_exchange_bytes"), 24e6);
  EXPECT_GT(figure("rank_memory"), 24e6 + 4 * 16e6);
  plan.insert(plan.end(), {"--gpus", "4"});
  const Result on_gpus = run(plan);
  if (!built_with_cuda()) {
    EXPECT_THAT(on_gpus.err, HasSubstr("expected a build with CUDA"));
    return;
  }
  EXPECT_EQ(on_gpus.exit_code, 0) << on_gpus.err;
  // Three quarters of the packed text, and of the cover's positions, 16 of 181.
  EXPECT_NEAR(figure("planned_exchange_bytes"), 0.75 * (24e6 + 4 * 64e6 * 16 / 181), 1000);
  EXPECT_GT(figure("planned_seconds"), 0);
  EXPECT_THAT(on_gpus.out, HasSubstr("share cover"));
}

TEST_F(SuffixArrayCommand, DividesItsWorkAmongDevices) {
  write_file(path("in.fa"), ">x\n" + std::string(300, 'A') + "\n>y\nGATTACAGATTACA\n");
  const Result on_host =
      run({"suffix-array", path("in.fa"), "--gpus", "2", "--backend", "host", "-o", path("none")});
  EXPECT_EQ(on_host.exit_code, 2);
  EXPECT_THAT(on_host.err, HasSubstr("found --gpus with --backend host, expected cuda or auto"));
  if (backend() != Backend::cuda) return;
  const auto write_all = [&](const std::string& name, std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"suffix-array", path("in.fa"), "-o", path(name + ".sa"), "--lcp",
                    path(name + ".lcp"), "--bwt", path(name + ".bwt"), "--inverse",
                    path(name + ".inverse"), "--documents", path(name + ".documents"), "--verify"});
    const Result result = run(std::move(options));
    EXPECT_EQ(result.exit_code, 0) << result.err;
  };
  write_all("one", {"--backend", "host"});
  write_all("many", {"--gpus", "3", "--json", path("report.json")});
  for (const char* kind : {".sa", ".lcp", ".bwt", ".inverse", ".documents"})
    EXPECT_EQ(read_file(path(std::string("many") + kind)),
              read_file(path(std::string("one") + kind)));
  EXPECT_EQ(nlohmann::json::parse(read_file(path("report.json")))["figures"]["devices"], 3);
  // Written while it arrives.
  EXPECT_EQ(run({"suffix-array", path("in.fa"), "--gpus", "3", "-o", path("alone.sa")}).exit_code,
            0);
  EXPECT_EQ(read_file(path("alone.sa")), read_file(path("one.sa")));
  const Result text = run(
      {"suffix-array", path("in.fa"), "--gpus", "2", "-o", "-", "--text", "--max-context", "5"});
  EXPECT_EQ(text.out,
            run({"suffix-array", path("in.fa"), "-o", "-", "--text", "--max-context", "5"}).out);
}

TEST_F(SuffixArrayCommand, BuildsBySkewOnCuda) {
  const std::string file = sequence("mirbase_hairpin_200.fa");
  const Result result = run({"suffix-array", file, "-o", "-", "--verify", "--algorithm", "dc3"});
  if (backend() == Backend::host) {
    expect_error(result, 1, "suffix array: dc3 runs on CUDA only");
    return;
  }
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, run({"suffix-array", file, "-o", "-"}).out);
}

TEST_F(SuffixArrayCommand, WritesOneResultToStandardOutput) {
  write_file(path("in.fa"), ">x\nBANANA\n");
  const Result result = run({"suffix-array", path("in.fa"), "-o", "-", "--bwt", "-"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("found 2 results for standard output, expected at most one"));
}

TEST_F(SuffixArrayCommand, DescribesNamesThatAreNotUtf8) {
  write_file(path("in.fa"), ">caf\xe9\nACGT\n");
  const Result result = run({"suffix-array", path("in.fa"), "-o", path("sa")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(read_file(path("sa.json")))["records"][0]["name"],
            "caf\xef\xbf\xbd");
}

TEST_F(SuffixArrayCommand, TakesTextsAsTheyAre) {
  write_file(path("a"), "Ba\nna");
  write_file(path("b"), "aB");
  const Result result = run({"suffix-array", path("a"), path("b"), "--input", "text", "-o",
                             path("sa"), "--verify", "--documents", path("documents")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 records, 7 letters (bytes)"));
  EXPECT_THAT(positions(read_file(path("sa")), 4), ElementsAre(5, 2, 7, 0, 4, 1, 6, 3));
  EXPECT_THAT(positions(read_file(path("documents")), 4), ElementsAre(0, 0, 1, 0, 0, 0, 1, 0));
  const auto description = nlohmann::json::parse(read_file(path("sa.json")));
  EXPECT_EQ(description["input_format"], "text");
  EXPECT_EQ(description["case"], "keep");
  EXPECT_EQ(description["records"][1]["name"], path("b"));
}

TEST_F(SuffixArrayCommand, RefusesWhatIsOfSequencesOnlyForTexts) {
  write_file(path("a"), "text");
  const auto refused = [&](std::vector<std::string> options, const std::string& message) {
    options.insert(options.begin(), {"suffix-array", path("a"), "-o", path("sa")});
    expect_error(run_on_host(options), 2, message);
  };
  refused({"--input", "text", "--ambiguous", "unify"},
          "found --ambiguous with --input text, expected it for sequences only");
  refused({"--input", "jsonl", "--reverse-complement"},
          "found --reverse-complement with --input jsonl, expected it for sequences only");
  refused({path("b")},
          "found 2 input files, expected one; --input text and --input jsonl take several");
  if (!SORTIE_HAVE_SIMDJSON) GTEST_SKIP() << "JSONL needs simdjson";
  const Result broken =
      run_on_host({"suffix-array", path("a"), "-o", path("sa"), "--input", "jsonl"});
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_THAT(broken.err, HasSubstr(path("a") + ":1: found broken JSON ("));
  EXPECT_THAT(names(), ElementsAre("a"));
}

}  // namespace
}  // namespace sortie::test
