// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/compressed.hpp"

namespace sortie::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class GenomeIndexCommand : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_file(path("g.fa"), ">a first\nACGTTGCATTACAGATTACA\n>b\nCCATGNNT\n");
  }
  [[nodiscard]] Result index(const std::string& format,
                             const std::vector<std::string>& arguments = {}) const {
    return run(arguments_of(format, arguments));
  }
  [[nodiscard]] std::vector<std::string> arguments_of(
      const std::string& format, const std::vector<std::string>& arguments = {}) const {
    std::vector<std::string> all = {"index", path("g.fa"), "--format", format, "-p", path("i")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
};

TEST_F(GenomeIndexCommand, WritesAndChecksIndexes) {
  const Result result = index("bwa,bwa-mem2,star", {"--sa-index-bases", "2", "--chr-bin-bits", "4",
                                                    "--json", path("report")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("28 letters in 2 records, 15 files of "));
  EXPECT_THAT(names(), ElementsAre("g.fa", "i", "i.0123", "i.amb", "i.ann", "i.bwt",
                                   "i.bwt.2bit.64", "i.pac", "i.sa", "report"));
  EXPECT_EQ(read_file(path("i.ann")), "28 2 11\n0 a first\n0 20 0\n0 b (null)\n20 8 1\n");
  EXPECT_EQ(read_file(path("i.amb")), "28 2 1\n25 2 N\n");
  EXPECT_EQ(read_file(path("i/chrStart.txt")), "0\n32\n48\n");
  const auto report = nlohmann::json::parse(read_file(path("report")));
  EXPECT_EQ(report.at("figures").at("records"), 2);
  EXPECT_EQ(report.at("figures").at("bytes of " + path("i.pac")), 9);

  const Result checked = index("bwa-mem2,bwa", {"--check"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("verified"));
  std::string sa = read_file(path("i.sa"));
  sa[60] = 'x';
  write_file(path("i.sa"), sa);
  const Result wrong = index("bwa", {"--check"});
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_THAT(wrong.err, HasSubstr(path("i.sa") + ", byte 60: found 0x78"));
  EXPECT_EQ(index("bwa-mem2", {"--check"}).exit_code, 0);
}

TEST_F(GenomeIndexCommand, WritesLargeIndexesForAVersion) {
  const Result result = index("bowtie2,hisat2", {"--large", "--for-version", "2.1.0"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(names(),
              ElementsAre("g.fa", "i.1.bt2l", "i.1.ht2l", "i.2.bt2l", "i.2.ht2l", "i.3.bt2l",
                          "i.3.ht2l", "i.4.bt2l", "i.4.ht2l", "i.5.ht2l", "i.6.ht2l", "i.7.ht2l",
                          "i.8.ht2l", "i.rev.1.bt2l", "i.rev.2.bt2l"));
  EXPECT_EQ(read_file(path("i.1.ht2l")).substr(4, 4), std::string("\0\0\1\2", 4));
  EXPECT_EQ(index("hisat2", {"--large", "--check"}).exit_code, 3);
}

TEST_F(GenomeIndexCommand, InsertsJunctions) {
  write_file(path("g.gtf"),
             "a\tx\texon\t3\t6\t.\t+\t.\tgene_id \"g\"; transcript_id \"t\";\n"
             "a\tx\texon\t11\t14\t.\t+\t.\tgene_id \"g\"; transcript_id \"t\";\n"
             "c\tx\texon\t11\t14\t.\t+\t.\tgene_id \"g\"; transcript_id \"u\";\n");
  const std::vector<std::string> options = {
      "--sa-index-bases", "2", "--chr-bin-bits", "4", "--gtf", path("g.gtf"),
      "--sjdb-overhang",  "3"};
  const auto with = [&](const std::string& option) {
    std::vector<std::string> all = options;
    all.push_back(option);
    return index("star", all);
  };
  const Result planned = with("--dry-run");
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("15 files of "));
  EXPECT_THAT(planned.out, HasSubstr("\n55 " + path("i/Genome") + "\n"));
  EXPECT_THAT(names(), ElementsAre("g.fa", "g.gtf"));
  const Result result = index("star", options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("warning: " + path("g.gtf") + ":3: exons of records that"));
  EXPECT_EQ(read_file(path("i/sjdbList.out.tab")), "a\t7\t10\t+\n");
  EXPECT_EQ(read_file(path("i/transcriptInfo.tab")), "1\nt\t2\t13\t13\t1\t2\t0\t0\n");
  EXPECT_EQ(std::filesystem::file_size(path("i/Genome")), 55);
  EXPECT_EQ(with("--check").exit_code, 0);
  EXPECT_EQ(index("star", {"--sa-index-bases", "2", "--chr-bin-bits", "4", "--check"}).exit_code,
            3);
}

TEST_F(GenomeIndexCommand, AKilledProcessLeavesNoIndex) {
  const std::string gtf = path("pipe");
  ASSERT_EQ(::mkfifo(gtf.c_str(), 0600), 0);
  // It has read the FASTA, and waits for more of the GTF.
  EXPECT_EQ(
      run_until_signal({"index", path("g.fa"), "--format", "star", "-p", path("i"), "--gtf", gtf},
                       gtf, std::string(std::size_t{1} << 20, '#'), SIGKILL),
      128 + SIGKILL);
  EXPECT_THAT(names(), ElementsAre("g.fa", "pipe"));
}

TEST_F(GenomeIndexCommand, DryRunsShowSizesAndWriteNothing) {
  const Result result = index("bwa", {"--dry-run"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("28 letters in 2 records, 5 files of "));
  EXPECT_THAT(result.out, HasSubstr("\n9 " + path("i.pac") + "\n"));
  EXPECT_THAT(names(), ElementsAre("g.fa"));
}

TEST_F(GenomeIndexCommand, ReadsCompressedFilesAndPipes) {
  EXPECT_EQ(index("bwa").exit_code, 0);
  const std::string expected = read_file(path("i.bwt"));
  write_file(path("g.fa.gz"), gzip(read_file(path("g.fa"))));
  EXPECT_EQ(run({"index", path("g.fa.gz"), "--format", "bwa"}).exit_code, 0);
  EXPECT_EQ(read_file(path("g.fa.gz.bwt")), expected);
  EXPECT_EQ(run({"index", "-", "--format", "bwa", "-p", path("p")}, {.in = path("g.fa")}).exit_code,
            0);
  EXPECT_EQ(read_file(path("p.bwt")), expected);
}

TEST_F(GenomeIndexCommand, RefusesInOneLine) {
  const auto expect_line = [&](const Result& result, int exit_code, const std::string& message) {
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_THAT(result.err, StartsWith("sortie: " + message));
    EXPECT_THAT(lines(result.err), SizeIs(1));
  };
  expect_line(run_on_host(arguments_of("bwa3")), 2,
              "index: found format \"bwa3\", expected bowtie2, bwa");
  expect_line(run_on_host(arguments_of("star", {"--gtf", path("g.gtf")})), 1, path("g.gtf"));
  expect_line(run_on_host(arguments_of("bwa", {"--gtf", path("g.gtf")})), 2,
              "index: found a GTF without format star");
  expect_line(run_on_host(arguments_of("star", {"--sjdb-overhang", "20"})), 2,
              "--sjdb-overhang requires --gtf");
  expect_line(run_on_host({"index", "-", "--format", "bwa"}), 2,
              "found standard input without --prefix");
  expect_line(run_on_host({"index", path("g.fa"), "--format", "star"}), 1,
              path("g.fa") + ": found a file, expected the folder of the index");
  expect_line(run_on_host({"index", path("missing.fa"), "--format", "bwa"}), 1, path("missing.fa"));
  write_file(path("g.fa"), "ACGT\n");
  expect_line(run_on_host(arguments_of("bwa")), 1, path("g.fa") + ":1: found \"A\", expected '>'");
  EXPECT_THAT(names(), ElementsAre("g.fa"));
}

}  // namespace
}  // namespace sortie::test
