// SPDX-License-Identifier: Apache-2.0

// The files of indexes, beside those that bwa 0.7.17, bwa-mem2 2.3 and STAR 2.7.10b write, of which
// the checksums are here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

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
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct ExpectedFile {
  std::string name;  ///< after the prefix
  std::uint64_t fnv1a;
};

struct ExpectedIndex {
  std::string genome;
  std::uint32_t index_bases;
  std::uint32_t bin_bits;
  std::vector<ExpectedFile> files;
};

const std::vector<ExpectedIndex>& expected_indexes() {
  static const std::vector<ExpectedIndex> indexes = {
      {"edge_cases",
       5,
       8,
       {{".amb", 0x1655fb85381ef65a},
        {".ann", 0x7325567f0d467985},
        {".pac", 0x558413b814a7056f},
        {".bwt", 0x4e3734bc3fa01673},
        {".sa", 0x7ed5b65bae39cf60},
        {".0123", 0x3590915bd00b4df7},
        {".bwt.2bit.64", 0xbecc7cef8bb62a5f},
        {"/chrName.txt", 0x2b76f675caf8a545},
        {"/chrStart.txt", 0x54639ee41e49b058},
        {"/chrLength.txt", 0xe09df5e6547a62f0},
        {"/chrNameLength.txt", 0x901d4017b9d18d97},
        {"/Genome", 0x0671785a1806ce51},
        {"/SA", 0x02cb1a91ec60f15d},
        {"/SAindex", 0xcb4539ce56e1c857}}},
      {"scaffolds",
       4,
       4,
       {{".amb", 0xc23c504af1ba7ea5},
        {".ann", 0x99b98fcd048810e1},
        {".pac", 0x3f5d22c93376804b},
        {".bwt", 0xb6f2f5d4e0cdc4b3},
        {".sa", 0x16b7a0a5d55f2f6f},
        {".0123", 0x41586f9259c333bf},
        {".bwt.2bit.64", 0xeb0ad7465dfbe978},
        {"/chrName.txt", 0x9eb020434c66ae95},
        {"/chrStart.txt", 0x396a2af05147e8e4},
        {"/chrLength.txt", 0xb497bd29f45d97f6},
        {"/chrNameLength.txt", 0x2ba30e696430d986},
        {"/Genome", 0x0fba01bfb189221e},
        {"/SA", 0x7d303151b3ecce70},
        {"/SAindex", 0xcdfd419cf7e8573e}}},
      {"ecoli",
       9,
       18,
       {{".amb", 0x1fcba72092ef595e},
        {".ann", 0x6e36a3e46ba534a3},
        {".pac", 0x2ce71590c9627c21},
        {".bwt", 0xd10ab6edbec4f51d},
        {".sa", 0x4ac91293dd143eff},
        {".0123", 0xea03c00f1448dd86},
        {".bwt.2bit.64", 0x84b10bf6d516c5f8},
        {"/chrName.txt", 0x946b006f09e9b5fa},
        {"/chrStart.txt", 0x2f1bba4fd3df0ac9},
        {"/chrLength.txt", 0xfb336e885236e9e3},
        {"/chrNameLength.txt", 0x6a2fe4a863b188e1},
        {"/Genome", 0xa6c135c4dab98332},
        {"/SA", 0xb3f52fb1c9f9e86e},
        {"/SAindex", 0x29d9ab44727a9778}}},
  };
  return indexes;
}

const std::vector<std::string> all_formats = {"bwa", "bwa-mem2", "star"};

/// 5000 short records.
std::string scaffolds() {
  std::uint64_t state = 31;
  const auto next = [&] {
    state = state * 6364136223846793005 + 1442695040888963407;
    return state >> 33;
  };
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += fmt::format(">scaffold_{}\n", i);
    for (std::uint64_t length = next() % 60; length != 0; --length) text += "ACGT"[next() % 4];
    text += '\n';
  }
  return text;
}

class GenomeIndex : public testing::Test {
 protected:
  [[nodiscard]] std::string fasta(const std::string& genome) const {
    if (genome == "ecoli") return SORTIE_SOURCE_DIR "/sequences/sample/ecoli_k12_mg1655.fa.gz";
    if (genome == "edge_cases") return SORTIE_SOURCE_DIR "/tests/genome_index/edge_cases.fa";
    return folder_.write("scaffolds.fa", scaffolds());
  }
  [[nodiscard]] GenomeIndexOptions options(std::vector<std::string> formats = all_formats) const {
    GenomeIndexOptions options;
    options.formats = std::move(formats);
    options.prefix = folder_.path("index");
    return options;
  }
  [[nodiscard]] GenomeIndexOptions options_for(const ExpectedIndex& expected) const {
    GenomeIndexOptions all = options();
    all.star_index_bases = expected.index_bases;
    all.star_bin_bits = expected.bin_bits;
    return all;
  }
  /// Hash of an index file.
  [[nodiscard]] std::uint64_t hash(const std::string& name) const {
    const ByteBuffer bytes = read_all(folder_.path("index" + name));
    return extend_fnv1a(fnv1a_seed, bytes.data.get(), bytes.size);
  }
  void expect_files(const ExpectedIndex& expected) const {
    for (const ExpectedFile& file : expected.files)
      EXPECT_EQ(hash(file.name), file.fnv1a) << expected.genome << ' ' << file.name;
  }
  /// Neither files nor the folder of an index, nor temporary ones.
  void expect_nothing_left(std::size_t entries) const { EXPECT_EQ(folder_.entries(), entries); }
  void expect_refused(const std::string& content, const std::string& format,
                      const std::string& message) const {
    const std::string path = folder_.write("refused.fa", content);
    expect_error([&] { (void)write_genome_index(context(), path, options({format})); },
                 ErrorKind::input, HasSubstr(message));
    expect_nothing_left(1);
  }

  TemporaryFolder folder_;
};

TEST_F(GenomeIndex, FilesAreThoseOfTheTools) {
  for (const ExpectedIndex& expected : expected_indexes()) {
    if (expected.genome == "ecoli") continue;
    const std::string path = fasta(expected.genome);
    const GenomeIndexPlan plan = plan_genome_index(context(), path, options_for(expected));
    const GenomeIndexPlan written = write_genome_index(context(), path, options_for(expected));
    expect_files(expected);
    // The plan has the sizes of all files, those that are written as well.
    ASSERT_THAT(plan.files, SizeIs(written.files.size()));
    for (const IndexFileSize& file : written.files) {
      const auto planned = std::ranges::find(plan.files, file.path, &IndexFileSize::path);
      ASSERT_NE(planned, plan.files.end()) << file.path;
      EXPECT_EQ(planned->bytes, file.bytes) << file.path;
      EXPECT_EQ(file.bytes, std::filesystem::file_size(file.path));
    }
    EXPECT_NO_THROW((void)check_genome_index(context(), path, options_for(expected)));
  }
}

TEST_F(GenomeIndex, WritesManyBlocksOfRows) {
  const ExpectedIndex& expected = expected_indexes().back();
  (void)write_genome_index(context(), fasta(expected.genome), options_for(expected));
  expect_files(expected);
}

TEST_F(GenomeIndex, ChecksNameTheFirstByteThatDiffers) {
  const std::string path = folder_.write("g.fa", ">a\nACGTTGCATTACAGATTACA\n>b\nCCATGNNT\n");
  GenomeIndexOptions all = options();
  all.star_index_bases = 2;
  all.star_bin_bits = 4;
  (void)write_genome_index(context(), path, all);
  const auto check = [&] { (void)check_genome_index(context(), path, all); };
  EXPECT_NO_THROW(check());
  const auto replace = [&](const std::string& name, const std::string& content) {
    return folder_.write("index" + name, content);
  };
  for (const std::string name : {".amb", ".ann", ".pac", ".bwt", ".sa", ".0123", ".bwt.2bit.64",
                                 "/chrName.txt", "/Genome", "/SA", "/SAindex"}) {
    const std::string content = content_of(folder_.path("index" + name));
    std::string changed = content;
    const std::size_t at = content.size() / 2;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const std::string file = replace(name, changed);
    expect_error(check, ErrorKind::check, HasSubstr(fmt::format("{}, byte {}: found", file, at)));
    (void)replace(name, content + "x");
    expect_error(check, ErrorKind::check,
                 HasSubstr(fmt::format("{}: found {} bytes", file, content.size() + 1)));
    (void)replace(name, content.substr(0, content.size() - 1));
    expect_error(check, ErrorKind::check,
                 HasSubstr(fmt::format("{}: found {} bytes", file, content.size() - 1)));
    std::filesystem::remove(file);
    expect_error(check, ErrorKind::check, HasSubstr(file + ": found no such file"));
    (void)replace(name, content);
  }
  // Of STAR's parameters, comments and the path of the FASTA may differ.
  const std::string parameters = content_of(folder_.path("index/genomeParameters.txt"));
  (void)replace("/genomeParameters.txt", "# other\n" + parameters + "genomeFastaFiles\tother \n");
  EXPECT_NO_THROW(check());
  (void)replace("/genomeParameters.txt", parameters + "more\t1\n");
  expect_error(check, ErrorKind::check, HasSubstr("genomeParameters.txt: found \"more"));
}

TEST_F(GenomeIndex, RefusesWhatToolsCannotIndex) {
  for (const std::string& format : all_formats) {
    expect_refused("", format, "refused.fa: found an empty file");
    expect_refused("@a\nACGT\n+\nIIII\n", format, "refused.fa:1: found \"@\"");
    expect_refused(">a\n>b\n\n", format, "found no letters");
    expect_refused(
        ">a x\nAC\n>b\nA\n>a\nC\n", format,
        "refused.fa:5: found a second record \"a\", expected distinct names (the first is "
        "in line 1)");
    const std::string gzip = content_of(fasta("ecoli")).substr(0, 100000);
    expect_refused(gzip, format, "refused.fa: ");
  }
  expect_refused(">a\nACGT\n+\nACG\n", "bwa", "refused.fa:3: found a sequence line that begins");
  expect_refused(">a\nNNNN\n", "star", "found no A, C, G or T");
  expect_refused(">a\nAC\tGT\n", "star", "refused.fa:2: found byte 0x09 before a letter");
  // The first row has an N within 14 letters.
  expect_refused(">a\nNCGCGCGCGCGCGCGCGCGCGCG\n>b\nACN\n", "star", "STAR fails");
}

TEST_F(GenomeIndex, ExistingFilesStayIfAFormatFails) {
  const std::string path = folder_.write("g.fa", ">a\nNCGCGCGCGCGCGCGCGCGCGCG\n>b\nACN\n");
  (void)folder_.write("index.bwt", "kept");
  expect_error([&] { (void)write_genome_index(context(), path, options()); }, ErrorKind::input,
               HasSubstr("STAR fails"));
  EXPECT_EQ(content_of(folder_.path("index.bwt")), "kept");
  expect_nothing_left(2);
}

TEST_F(GenomeIndex, RefusesWrongOptions) {
  const std::string path = folder_.write("g.fa", ">a\nACGT\n");
  const auto expect_usage = [&](const GenomeIndexOptions& wrong, const std::string& message) {
    expect_error([&] { (void)write_genome_index(context(), path, wrong); }, ErrorKind::usage,
                 HasSubstr(message));
  };
  expect_usage(options(std::vector<std::string>{}), "found no format");
  expect_usage(options({"bwa3"}), "found format \"bwa3\", expected bowtie2, bwa");
  expect_usage(options({"bwa", "bwa"}), "found format \"bwa\" twice");
  GenomeIndexOptions folder = options();
  folder.prefix = folder_.path("");
  expect_usage(folder, "found prefix");
}

TEST_F(GenomeIndex, WarnsOfLettersThatAreReplaced) {
  const std::string path = folder_.write("g.fa", ">a\nACUGT*\n");
  EXPECT_THAT(plan_genome_index(context(), path, options({"bwa"})).warnings,
              ElementsAre(HasSubstr("bwa replaces 2 bytes")));
}

}  // namespace
}  // namespace sortie::test
