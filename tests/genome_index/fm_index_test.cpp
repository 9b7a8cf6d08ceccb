// SPDX-License-Identifier: Apache-2.0

// Indexes for bowtie2 and HISAT2. Checksums are those of the files of bowtie2-build 2.5.0 and
// hisat2-build 2.2.1.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "apps/genome_index/window_sort.hpp"
#include "core/files/byte_source.hpp"
#include "core/files/checksum.hpp"
#include "core/files/whole_file.hpp"
#include "sortie/error.hpp"
#include "sortie/genome_index.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using namespace genomes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A pseudo-random generator whose numbers do not depend on the standard library.
class Numbers {
 public:
  std::uint64_t operator()() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return state_ >> 33;
  }

 private:
  std::uint64_t state_ = 31;
};

std::string bases(Numbers& next, std::uint64_t length) {
  std::string text;
  for (; length != 0; --length) text += "ACGT"[next() % 4];
  return text;
}

/// Records of one and several windows of HISAT2, of which some have no base.
std::string windows() {
  Numbers next;
  std::string text;
  for (const int length : {56320, 56321, 57344, 57345})
    text += fmt::format(">w{}\n{}\n", length, bases(next, static_cast<std::uint64_t>(length)));
  // Each call in a statement of its own: the order within an expression is unspecified.
  const std::string before = bases(next, 30000);
  const std::string after = bases(next, 70000);
  text += ">gaps\n" + before + std::string(200000, 'N') + after + "\n";
  text += ">end_in_gap\n" + std::string(57344, 'n') + bases(next, 20) + std::string(60000, 'N');
  text += "\n>repeat\n";
  for (int i = 0; i < 400; ++i) text += "ACGTTGCATTACAGATTACAGGCATTTTT";
  return text + '\n';
}

/// Records whose begins and ends these tools see otherwise than by lines.
std::string bytes_of_headers() {
  return ">a >b\nACGTTGCA>c\nTTAGN>d\n\n>e\n\r\n>f\n "
         "\n>\nACGNNNAC\n>g\rACCAGT\n>h\nUU*\n>i\n>j\nGGA\nTN";
}

struct FmCase {
  std::string name;
  std::string content;  ///< empty: a file of the sources
  std::string path;
  bool large = false;
  std::vector<std::pair<std::string, std::uint64_t>> files;
};

std::vector<FmCase> fm_cases() {
  const std::string source = SORTIE_SOURCE_DIR;
  return {
      {"edge_cases",
       "",
       source + "/tests/genome_index/edge_cases.fa",
       false,
       {{".1.bt2", 0x22e2d07ce521f1ad},
        {".2.bt2", 0xf388f932673645f5},
        {".3.bt2", 0xa579ff3f10a53a62},
        {".4.bt2", 0x7d194531e7540ad4},
        {".rev.1.bt2", 0x9098007d52023cf0},
        {".rev.2.bt2", 0x5a46c56c7982c0ab},
        {".1.ht2", 0x7f189914c4d43e5a},
        {".2.ht2", 0xf388f932673645f5},
        {".3.ht2", 0x8c62f62b94f30c55},
        {".4.ht2", 0x7d194531e7540ad4},
        {".5.ht2", 0xeac2880f881c7977},
        {".6.ht2", 0xb43cc5fbd998c9a5},
        {".7.ht2", 0x5f242d39c2422be4},
        {".8.ht2", 0x89cd31291d2aefa4}}},
      {"headers",
       bytes_of_headers(),
       "",
       false,
       {{".1.bt2", 0x086baf9b3c329a12},
        {".2.bt2", 0x387f7db0f9c38533},
        {".3.bt2", 0xb5fb0f53b3752787},
        {".4.bt2", 0xb0ecc817e6c27868},
        {".rev.1.bt2", 0xb9d0c026d5e36fdd},
        {".rev.2.bt2", 0xf6351c271a26f041},
        {".1.ht2", 0x248c2a879addf782},
        {".2.ht2", 0x387f7db0f9c38533},
        {".3.ht2", 0xf840370ca7384579},
        {".4.ht2", 0xb0ecc817e6c27868},
        {".5.ht2", 0x7bf24680cf42633b},
        {".6.ht2", 0x3c39d41f7e442c5c},
        {".7.ht2", 0x5f242d39c2422be4},
        {".8.ht2", 0x89cd31291d2aefa4}}},
      {"headers, large",
       bytes_of_headers(),
       "",
       true,
       {{".1.bt2l", 0xc0712f535278c09b},
        {".2.bt2l", 0x2d220fdbea218b33},
        {".3.bt2l", 0x90aecc9134aa18c7},
        {".4.bt2l", 0xb0ecc817e6c27868},
        {".rev.1.bt2l", 0x900b9cd2c2ee0a18},
        {".rev.2.bt2l", 0x5f86aeb73599f121},
        {".1.ht2l", 0xa434708d72c8b18b},
        {".2.ht2l", 0x2d220fdbea218b33},
        {".3.ht2l", 0xbffbc25f6569b719},
        {".4.ht2l", 0xb0ecc817e6c27868},
        {".5.ht2l", 0xfd50b022e480a3ab},
        {".6.ht2l", 0x3c39d41f7e442c5c},
        {".7.ht2l", 0x0c593f1b0d139064},
        {".8.ht2l", 0x5f242d39c2422be4}}},
      {"windows",
       windows(),
       "",
       false,
       {{".1.bt2", 0x1543a91556f46604},
        {".2.bt2", 0x13492fda04b7e4c8},
        {".3.bt2", 0x3ef47ba45744ac44},
        {".4.bt2", 0xe96c773fc0f15422},
        {".rev.1.bt2", 0xed240d50f33472ae},
        {".rev.2.bt2", 0x7e033c1b5f262526},
        {".1.ht2", 0x03c429eff6d291d2},
        {".2.ht2", 0x13492fda04b7e4c8},
        {".3.ht2", 0x3ef47ba45744ac44},
        {".4.ht2", 0xe96c773fc0f15422},
        {".5.ht2", 0xe3e2ba4febd0a8fd},
        {".6.ht2", 0x58a9f41da4eb6b0f},
        {".7.ht2", 0x5f242d39c2422be4},
        {".8.ht2", 0x89cd31291d2aefa4}}},
      {"one base",
       ">x\nA\n",
       "",
       false,
       {{".1.bt2", 0x7ac4ca8383f7b57e},
        {".2.bt2", 0x89cd31291d2aefa4},
        {".3.bt2", 0x82658157343a4d3f},
        {".4.bt2", 0xaf63bd4c8601b7df},
        {".rev.1.bt2", 0x872e6f3eef6cd0c2},
        {".rev.2.bt2", 0x89cd31291d2aefa4},
        {".1.ht2", 0xe8ab17f3f44a3274},
        {".2.ht2", 0x89cd31291d2aefa4},
        {".3.ht2", 0x82658157343a4d3f},
        {".4.ht2", 0xaf63bd4c8601b7df},
        {".5.ht2", 0xd4ba43d7b225c25b},
        {".6.ht2", 0xfb4e98c73babab04},
        {".7.ht2", 0x5f242d39c2422be4},
        {".8.ht2", 0x89cd31291d2aefa4}}},
      {"ecoli",
       "",
       source + "/sequences/sample/ecoli_k12_mg1655.fa.gz",
       false,
       {{".1.bt2", 0x13a2190c145d967e},
        {".2.bt2", 0x591b4b90b67165ba},
        {".3.bt2", 0x0499afa95f8cda84},
        {".4.bt2", 0xe4779fb8375e56e0},
        {".rev.1.bt2", 0x6ea5233f1b86c425},
        {".rev.2.bt2", 0xe479c4dc6fe0c3e5},
        {".1.ht2", 0x5de91fc295e2cab8},
        {".2.ht2", 0x591b4b90b67165ba},
        {".3.ht2", 0x0499afa95f8cda84},
        {".4.ht2", 0xe4779fb8375e56e0},
        {".5.ht2", 0x5fdef0e2c453ccdf},
        {".6.ht2", 0xd012ce55e70c74f7},
        {".7.ht2", 0x5f242d39c2422be4},
        {".8.ht2", 0x89cd31291d2aefa4}}},
  };
}

class FmIndex : public testing::Test {
 protected:
  [[nodiscard]] GenomeIndexOptions options(std::vector<std::string> formats) const {
    GenomeIndexOptions options;
    options.formats = std::move(formats);
    options.prefix = folder_.path("index");
    return options;
  }
  [[nodiscard]] std::uint64_t hash(const std::string& name) const {
    const ByteBuffer bytes = read_all(folder_.path("index" + name));
    return extend_fnv1a(fnv1a_seed, bytes.data.get(), bytes.size);
  }

  TemporaryFolder folder_;
};

TEST_F(FmIndex, FilesAreThoseOfTheTools) {
  for (const FmCase& of : fm_cases()) {
    const std::string path = of.content.empty() ? of.path : folder_.write("genome.fa", of.content);
    GenomeIndexOptions both = options({"bowtie2", "hisat2"});
    both.large = of.large;
    const GenomeIndexPlan plan = plan_genome_index(context(), path, both);
    const GenomeIndexPlan written = write_genome_index(context(), path, both);
    for (const auto& [name, fnv1a] : of.files) EXPECT_EQ(hash(name), fnv1a) << of.name << name;
    EXPECT_EQ(written.files.size(), 14U);
    for (const IndexFileSize& file : written.files) {
      const auto planned = std::ranges::find(plan.files, file.path, &IndexFileSize::path);
      ASSERT_NE(planned, plan.files.end()) << file.path;
      EXPECT_EQ(planned->bytes, file.bytes) << of.name << ' ' << file.path;
    }
  }
}

TEST_F(FmIndex, FilesOfAFormatAloneAndInRangesAreTheSame) {
  const std::string path = folder_.write("genome.fa", windows());
  (void)write_genome_index(context(), path, options({"bowtie2", "hisat2"}));
  for (const std::string format : {"bowtie2", "hisat2"}) {
    Context limited = context();
    // Less than a whole suffix array takes.
    limited.memory_budget = std::uint64_t{14} << 20;
    EXPECT_NO_THROW((void)check_genome_index(limited, path, options({format})));
  }
}

TEST_F(FmIndex, ChecksNameTheFirstByteThatDiffers) {
  const std::string path = folder_.write("genome.fa", bytes_of_headers());
  const GenomeIndexOptions both = options({"bowtie2", "hisat2"});
  const GenomeIndexPlan plan = write_genome_index(context(), path, both);
  for (const std::size_t i : {0, 4, 7, 10}) {
    const IndexFileSize& file = plan.files[i];
    const std::string name = std::filesystem::path(file.path).filename();
    const std::string content = content_of(file.path);
    std::string changed = content;
    changed[changed.size() / 2] ^= 1;
    (void)folder_.write(name, changed);
    expect_error([&] { (void)check_genome_index(context(), path, both); }, ErrorKind::check,
                 HasSubstr(fmt::format("{}, byte {}: found", file.path, changed.size() / 2)));
    (void)folder_.write(name, content);
  }
  EXPECT_NO_THROW((void)check_genome_index(context(), path, both));
}

TEST_F(FmIndex, WritesTheVersionOfHisat) {
  const std::string path = folder_.write("genome.fa", ">x\nACGTTGCA\n");
  GenomeIndexOptions hisat = options({"hisat2"});
  hisat.hisat2_version = "2.1.0";
  (void)write_genome_index(context(), path, hisat);
  EXPECT_EQ(content_of(folder_.path("index.1.ht2")).substr(4, 4), std::string("\0\0\1\2", 4));
  for (const std::string wrong : {"", "2", "2.2", "2.2.", "2.2.1.", "2.2.1x", "2.256.1", "a.b.c"}) {
    hisat.hisat2_version = wrong;
    expect_error([&] { (void)write_genome_index(context(), path, hisat); }, ErrorKind::usage,
                 HasSubstr("expected three numbers such as 2.2.1"));
  }
}

TEST_F(FmIndex, RefusesWhatTheToolsDoNotIndex) {
  const auto expect_refused = [&](const std::string& content, const std::string& message) {
    const std::string path = folder_.write("genome.fa", content);
    for (const std::string format : {"bowtie2", "hisat2"})
      expect_error([&] { (void)write_genome_index(context(), path, options({format})); },
                   ErrorKind::input, HasSubstr(message));
    EXPECT_EQ(folder_.entries(), 1U);
  };
  expect_refused(">a\nNNNN\n", "genome.fa: found no A, C, G or T");
  expect_refused(">a\nAC\nG#T\n", "genome.fa:3: found '#' in a sequence");
}

TEST_F(FmIndex, WarnsOfBytesThatAreLeftOut) {
  const std::string path = folder_.write("genome.fa", ">a\nAC UGT*N\n>b\nACGT\n");
  EXPECT_THAT(plan_genome_index(context(), path, options({"bowtie2"})).warnings,
              ElementsAre(HasSubstr("leave out 2 bytes")));
  const std::string clean = folder_.write("clean.fa", ">a\nAC-RGTN\n");
  EXPECT_THAT(plan_genome_index(context(), clean, options({"hisat2"})).warnings, IsEmpty());
}

TEST(WindowSorter, OrderIsThatOfAllComparisons) {
  Numbers next;
  std::vector<std::vector<std::uint8_t>> texts = {
      {}, {2}, std::vector<std::uint8_t>(3000, 0), std::vector<std::uint8_t>(3000, 3)};
  for (int i = 0; i < 200; ++i) {
    // Random letters, and copies of what is there already.
    std::vector<std::uint8_t> text;
    const std::uint64_t letters = 1 + next() % 4;
    for (std::uint64_t size = 1 + next() % 600; text.size() < size;) {
      const std::uint64_t copied = next() % 4 == 0 ? next() % 200 : 0;
      const std::uint64_t from = text.empty() ? 0 : next() % text.size();
      if (copied == 0 || text.empty())
        text.push_back(static_cast<std::uint8_t>(next() % letters));
      else
        for (std::uint64_t j = 0; j < copied; ++j) text.push_back(text[from + j]);
    }
    texts.push_back(text);
  }
  WindowSorter sorter;
  for (std::vector<std::uint8_t>& text : texts) {
    std::vector<std::uint16_t> expected(text.size() + 1);
    std::iota(expected.begin(), expected.end(), std::uint16_t{0});
    const std::span<const std::uint16_t> order = sorter.sort(text);
    const std::vector<std::uint16_t> found(order.begin(), order.end());
    text.push_back(4);
    std::ranges::sort(expected, [&](std::uint16_t a, std::uint16_t b) {
      return std::lexicographical_compare(text.begin() + a, text.end(), text.begin() + b,
                                          text.end());
    });
    ASSERT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace sortie::test
