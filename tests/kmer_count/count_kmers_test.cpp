// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/files/whole_file.hpp"
#include "core/random.hpp"
#include "sortie/error.hpp"
#include "sortie/kmer_count.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::kmers {
namespace {

using test::content_of;
using test::context;
using test::TemporaryFolder;
using testing::HasSubstr;

using Counts = std::map<std::string, std::uint64_t>;

std::string reverse_complement(std::string letters) {
  std::reverse(letters.begin(), letters.end());
  for (char& letter : letters) letter = "TGCA"[std::string_view("ACGT").find(letter)];
  return letters;
}

Counts plain_counts(const std::vector<std::string>& records, int k, bool canonical) {
  Counts counts;
  const auto length = static_cast<std::size_t>(k);
  for (std::string record : records) {
    for (char& letter : record) letter = static_cast<char>(std::toupper(letter));
    for (std::size_t at = 0; at + length <= record.size(); ++at) {
      const std::string kmer = record.substr(at, length);
      if (kmer.find_first_not_of("ACGT") == std::string::npos)
        ++counts[canonical ? std::min(kmer, reverse_complement(kmer)) : kmer];
    }
  }
  return counts;
}

std::string table_of(const Counts& counts, CountRange range = {},
                     TableFormat format = TableFormat::text) {
  std::string text;
  for (const auto& [kmer, count] : counts) {
    if (count < range.least || count > range.most) continue;
    switch (format) {
      case TableFormat::jellyfish:
        text += fmt::format(">{}\n{}\n", count, kmer);
        break;
      case TableFormat::jellyfish_column:
        text += fmt::format("{} {}\n", kmer, count);
        break;
      default:
        text += fmt::format("{}\t{}\n", kmer, count);
    }
  }
  return text;
}

std::string random_letters(Random& random, std::uint64_t size) {
  std::string letters;
  while (letters.size() < size) letters += "ACGT"[random.below(4)];
  return letters;
}

/// Records with repeats, runs of a letter, lower case, and letters that are no bases.
std::vector<std::string> random_records(Random& random, std::size_t count) {
  std::vector<std::string> records;
  for (std::size_t i = 0; i < count; ++i) {
    std::string record = random_letters(random, random.below(400));
    if (i > 0 && random.below(2) == 0) record += records[random.below(i)];
    if (random.below(8) == 0) record += std::string(random.below(300), 'A');
    if (!record.empty() && random.below(3) == 0)
      record[random.below(record.size())] = "NURacgt"[random.below(7)];
    records.push_back(record.empty() ? "N" : record);
  }
  return records;
}

std::string fasta_of(const std::vector<std::string>& records, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < records.size(); ++i) {
    text += fmt::format(">record {}\n", i);
    for (std::size_t at = 0; at < records[i].size(); at += width)
      text += records[i].substr(at, width) + "\n";
  }
  return text;
}

std::string fastq_of(const std::vector<std::string>& records) {
  std::string text;
  for (const std::string& record : records)
    text += fmt::format("@{}\n{}\n+\n{}\n", text.size(), record, std::string(record.size(), '@'));
  return text;
}

CountOptions with_k(int k, bool canonical = true) {
  CountOptions options;
  options.k = k;
  options.canonical = canonical;
  return options;
}

KmerFigures count(const std::string& path, const CountOptions& options, const std::string& table,
                  std::uint64_t budget = 0) {
  Context counting = context();
  counting.memory_budget = budget;
  return count_kmers(counting, std::vector{path}, options, table);
}

bool is_refused_on_cuda(int k) {
  return test::backend() == Backend::cuda && k > 32;
}

class CountKmers : public testing::TestWithParam<int> {
 protected:
  TemporaryFolder folder_;
  std::string table_ = folder_.path("table");
};

TEST_P(CountKmers, EqualsAPlainCount) {
  const int k = GetParam();
  if (is_refused_on_cuda(k)) GTEST_SKIP();
  Random random(static_cast<std::uint64_t>(k));
  for (const bool canonical : {true, false}) {
    const std::vector<std::string> records = random_records(random, 120);
    const Counts counts = plain_counts(records, k, canonical);
    CountOptions options = with_k(k, canonical);
    options.checksum = true;
    for (const std::string& path :
         {folder_.write("a.fa", fasta_of(records, 70)),
          folder_.write("b.fq.gz", test::gzip(fastq_of(records))),
          folder_.write("c.fa.gz", test::bgzf(fasta_of(records, 1000)))}) {
      const KmerFigures figures = count(path, options, table_);
      ASSERT_EQ(content_of(table_), table_of(counts)) << path;
      EXPECT_EQ(figures.distinct, counts.size());
      EXPECT_EQ(figures.written, counts.size());
      EXPECT_EQ(figures.table_bytes, std::filesystem::file_size(table_));
      EXPECT_EQ(figures.plan.kmers, figures.kmers);
      EXPECT_NO_THROW(check_kmers(context(), std::vector{path}, options, figures));
    }
  }
}

// Whole records of a piece are packed apart from its ends. Reads of one or two lines, N, lower case,
// CRLF.
TEST_P(CountKmers, PiecesOfReadsGiveTheSameTable) {
  const int k = GetParam();
  if (is_refused_on_cuda(k)) GTEST_SKIP();
  Random random(static_cast<std::uint64_t>(100 + k));
  std::vector<std::string> records;
  for (int i = 0; i < 3000; ++i) records.push_back(random_letters(random, 1 + random.below(150)));
  for (std::size_t i = 0; i < records.size(); i += 7)
    records[i][random.below(records[i].size())] = "NacgtR"[random.below(6)];
  const std::string repeat = random_letters(random, 100);
  for (int i = 0; i < 500; ++i) records[random.below(records.size())] = repeat;
  const std::string text = fastq_of(records);
  std::string returns;
  for (const char c : text) returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
  std::string wrapped;
  for (const std::string& record : records) {
    const std::size_t half = record.size() / 2;
    wrapped += "@r\n" + record.substr(0, half) + "\n" + record.substr(half) + "\n+\n" +
               std::string(half, 'I') + "\n" + std::string(record.size() - half, '@') + "\n";
  }
  const Counts counts = plain_counts(records, k, true);
  Context small = context();
  small.threads = 3;
  if (small.backend != Backend::cuda) small.memory_budget = 16 << 20;
  CountOptions options = with_k(k);
  options.counts = {.least = 2, .most = 400};
  for (const auto& [name, content] : std::map<std::string, std::string>{
           {"a.fq", text}, {"b.fq", returns}, {"c.fq", wrapped}, {"d.fq", text + wrapped}}) {
    const std::string path = folder_.write(name, content);
    const std::uint64_t copies = name == "d.fq" ? 2 : 1;
    Counts expected = counts;
    for (auto& [kmer, count] : expected) count *= copies;
    const KmerFigures figures = count_kmers(small, std::vector{path}, options, table_);
    ASSERT_TRUE(content_of(table_) == table_of(expected, options.counts)) << name;
    EXPECT_EQ(figures.distinct, expected.size());
    EXPECT_EQ(figures.plan.kmers, figures.kmers);
    std::map<std::uint64_t, std::uint64_t> histogram;
    for (const auto& [kmer, count] : expected) ++histogram[count];
    EXPECT_EQ(figures.histogram, CountHistogram(histogram.begin(), histogram.end()));
  }
}

// What is out of range stays on a GPU; large counts are listed there one by one.
TEST_P(CountKmers, FiguresHaveWhatIsOutOfRange) {
  const int k = GetParam();
  if (is_refused_on_cuda(k)) GTEST_SKIP();
  Random random(5);
  const std::vector<std::string> records = {random_letters(random, 20'000),
                                            std::string(30'000, 'a'), std::string(5'000, 'C'),
                                            random_letters(random, 100)};
  const std::string path = folder_.write("a.fa", fasta_of(records, 70));
  const Counts counts = plain_counts(records, k, true);
  std::map<std::uint64_t, std::uint64_t> histogram;
  for (const auto& [kmer, count] : counts) ++histogram[count];
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const CountRange range : {CountRange{1, 1}, CountRange{2, most}, CountRange{1, 5'000},
                                 CountRange{10'000, 20'000}, CountRange{most, most}}) {
    CountOptions options = with_k(k);
    options.counts = range;
    const KmerFigures figures = count(path, options, table_);
    ASSERT_EQ(content_of(table_), table_of(counts, range)) << range.least << " " << range.most;
    EXPECT_EQ(figures.histogram, CountHistogram(histogram.begin(), histogram.end()));
    EXPECT_EQ(figures.distinct, counts.size());
    EXPECT_EQ(figures.kmers, figures.plan.kmers);
    EXPECT_EQ(count(path, options, "").histogram, figures.histogram);
  }
}

// Passes, and divided cells: the poly-A, and a read that is there often.
TEST_P(CountKmers, EveryMemoryGivesTheSameTable) {
  const int k = GetParam();
  if (test::backend() == Backend::cuda) GTEST_SKIP();
  Random random(3);
  std::vector<std::string> records = {random_letters(random, 100'000), std::string(50'000, 'a')};
  const std::string read = random_letters(random, 100);
  for (int i = 0; i < 1000; ++i)
    records.push_back(random.below(2) == 0 ? read : reverse_complement(read));
  records.push_back(random_letters(random, 400'000));
  const std::string path = folder_.write("a.fa", fasta_of(records, 70));
  const KmerFigures all = count(path, with_k(k), table_);
  const std::string table = content_of(table_);
  Context small = context();
  small.threads = 1;
  small.memory_budget = 3 << 20;
  const KmerFigures figures = count_kmers(small, std::vector{path}, with_k(k), table_);
  EXPECT_TRUE(content_of(table_) == table);
  EXPECT_EQ(figures.histogram, all.histogram);
  EXPECT_EQ(all.plan.passes, 1U);
  if (k > 16) {
    EXPECT_GT(figures.plan.passes, 1U);
  }
  EXPECT_LE(figures.plan.memory, small.memory_budget);
  small.memory_budget = 2 << 20;
  test::expect_error([&] { (void)count_kmers(small, std::vector{path}, with_k(k), table_); },
                     ErrorKind::out_of_memory, HasSubstr("counting k-mers needs"));
}

TEST_P(CountKmers, PassesOnAGpuGiveTheSameTable) {
  const int k = GetParam();
  if (test::backend() != Backend::cuda || k < 12 || k > 32) GTEST_SKIP();
  Random random(4);
  const std::vector<std::string> records = {random_letters(random, 300'000),
                                            std::string(50'000, 'a'), random_letters(random, 100),
                                            random_letters(random, 400'000)};
  const std::string path = folder_.write("a.fa", fasta_of(records, 70));
  for (const bool canonical : {true, false}) {
    const KmerFigures all = count(path, with_k(k, canonical), table_);
    const std::string table = content_of(table_);
    // 160 MiB are for chunks of letters and the sort.
    const KmerFigures figures = count(path, with_k(k, canonical), table_, std::uint64_t{165} << 20);
    EXPECT_TRUE(content_of(table_) == table);
    EXPECT_EQ(figures.histogram, all.histogram);
    EXPECT_EQ(all.plan.passes, 1U);
    EXPECT_GT(figures.plan.passes, 2U);
  }
  test::expect_error([&] { (void)count(path, with_k(k), table_, std::uint64_t{100} << 20); },
                     ErrorKind::out_of_memory, HasSubstr("counting k-mers"));
}

INSTANTIATE_TEST_SUITE_P(Lengths, CountKmers,
                         testing::Values(1, 2, 8, 9, 12, 16, 21, 22, 31, 32, 33, 63, 64));

class KmerTables : public CountKmers {};

TEST_F(KmerTables, FormatsAndThresholds) {
  Random random(5);
  const std::vector<std::string> records = random_records(random, 100);
  const std::string path = folder_.write("a.fq", fastq_of(records));
  const Counts counts = plain_counts(records, 5, true);
  CountOptions options = with_k(5);
  options.counts = {3, 40};
  for (const TableFormat format : {TableFormat::text, TableFormat::kmc, TableFormat::jellyfish,
                                   TableFormat::jellyfish_column}) {
    options.format = parse_table_format(name(format));
    EXPECT_EQ(options.format, format);
    const KmerFigures figures = count(path, options, table_);
    EXPECT_EQ(content_of(table_), table_of(counts, options.counts, format));
    EXPECT_EQ(figures.distinct, counts.size());
    EXPECT_LT(figures.written, figures.distinct);
  }
  EXPECT_THROW((void)parse_table_format("bam"), Error);
}

TEST_F(KmerTables, PackedLettersBeyondTheMemoryGoToAFile) {
  if (test::backend() == Backend::cuda) GTEST_SKIP();
  Random random(7);
  const std::string path =
      folder_.write("a.fa", fasta_of({random_letters(random, 4'500'000)}, 100'000));
  const KmerFigures all = count(path, with_k(12), table_);
  EXPECT_EQ(all.plan.spilled_bytes, 0U);
  const std::string table = content_of(table_);
  Context small = context();
  small.threads = 1;
  small.memory_budget = 3 << 20;
  const KmerFigures figures = count_kmers(small, std::vector{path}, with_k(12), table_);
  EXPECT_GT(figures.plan.spilled_bytes, 0U);
  EXPECT_TRUE(content_of(table_) == table);
}

TEST_F(KmerTables, HistogramHasEveryCount) {
  const std::string path = folder_.write("a.fa", fasta_of({std::string(10'000, 'A'), "ACGTT"}, 50));
  const KmerFigures figures = count(path, with_k(3, false), "");
  EXPECT_EQ(figures.histogram, (CountHistogram{{1, 3}, {9998, 1}}));
  EXPECT_EQ(figures.once, 3U);
  EXPECT_EQ(figures.written, 4U);
  EXPECT_EQ(figures.table_bytes, 0U);
}

TEST_F(KmerTables, FilesAreCountedTogether) {
  const std::vector<std::string> paths = {folder_.write("a.fa", ">a\nACG\n>b\nTT\n"),
                                          folder_.write("b.fq", "@c\nCGT\n+\nIII\n")};
  const KmerFigures figures = count_kmers(context(), paths, with_k(3), table_);
  EXPECT_EQ(content_of(table_), "ACG\t2\n");
  EXPECT_EQ(figures.kmers, 2U);
}

TEST_F(KmerTables, WithoutKmersTheTableIsEmpty) {
  const KmerFigures figures = count(folder_.write("a.fa", ">a\nACG\n"), with_k(31), table_);
  EXPECT_EQ(content_of(table_), "");
  EXPECT_TRUE(figures.histogram.empty());
  EXPECT_EQ(figures.plan.passes, 0U);
}

TEST_F(KmerTables, PlanOnlyWritesNothing) {
  CountOptions options = with_k(3);
  std::uint64_t kmers = 0;
  options.announce = [&](const CountPlan& plan) { kmers = plan.kmers; };
  options.plan_only = true;
  (void)count(folder_.write("a.fa", ">a\nACGTACGT\n"), options, table_);
  EXPECT_EQ(kmers, 6U);
  EXPECT_FALSE(std::filesystem::exists(table_));
}

TEST_F(KmerTables, CheckFindsADifference) {
  const std::string path = folder_.write("a.fa", ">a\nACGTACGTAA\n");
  CountOptions options = with_k(4);
  options.checksum = true;
  KmerFigures figures = count(path, options, table_);
  EXPECT_NO_THROW(check_kmers(context(), std::vector{path}, options, figures));
  ++figures.checksum;
  EXPECT_THROW(check_kmers(context(), std::vector{path}, options, figures), Error);
}

TEST_F(KmerTables, BadInputAndOptionsAreRefused) {
  const std::string good = folder_.write("a.fa", ">a\nACGTACGT\n");
  const auto expect_refused = [&](const std::string& path, const CountOptions& options,
                                  ErrorKind kind, const std::string& message) {
    test::expect_error([&] { (void)count(path, options, table_); }, kind, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(table_));
  };
  for (const int k : {-1, 0, 65})
    expect_refused(good, with_k(k), ErrorKind::usage, "expected 1 to 64");
  CountOptions options = with_k(3);
  options.counts = {3, 2};
  expect_refused(good, options, ErrorKind::usage, "counts from 3 to 2");
  options.counts = {0, 2};
  expect_refused(good, options, ErrorKind::usage, "counts from 0 to 2");
  expect_refused(folder_.write("b", "ACGT\n"), with_k(3), ErrorKind::input, "expected a header");
  expect_refused(folder_.write("c.fq", "@a\nACGT\n+\nIII\n"), with_k(3), ErrorKind::input,
                 "3 quality values");
  const std::string packed = test::gzip(">a\n" + std::string(5000, 'A') + "\n");
  expect_refused(folder_.write("d.gz", packed.substr(0, packed.size() - 9)), with_k(3),
                 ErrorKind::input, "d.gz");
  EXPECT_THROW((void)count_kmers(context(), {}, with_k(3), table_), Error);
  // A full disk, and a caller that refuses.
  Random random(1);
  const std::string large = folder_.write("l.fa", fasta_of({random_letters(random, 200'000)}, 70));
  {
    const test::IgnoredSignal ignored(SIGXFSZ);
    const test::FileSizeLimit limit(100'000);
    expect_refused(large, with_k(20), ErrorKind::output, "");
  }
  EXPECT_THROW((void)count_kmers(context(), std::vector{good}, with_k(3), table_,
                                 [](const KmerFigures&) { throw Error(ErrorKind::output, "no"); }),
               Error);
  EXPECT_FALSE(std::filesystem::exists(table_));
}

}  // namespace
}  // namespace sortie::kmers
