// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/random.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "sortie/run_report.hpp"
#include "tests/support/backend.hpp"

namespace sortie::sequences {
namespace {

using testing::ElementsAre;

const std::string valid = SORTIE_TEST_DATA "/sequences/valid/";

std::string symbols_of(const Text& text, std::size_t record) {
  const Record& r = text.records.at(record);
  return {text.symbols.begin() + static_cast<std::ptrdiff_t>(r.offset),
          text.symbols.begin() + static_cast<std::ptrdiff_t>(r.offset + r.length)};
}

std::vector<std::string> all_symbols(const Text& text) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < text.records.size(); ++i) parts.push_back(symbols_of(text, i));
  return parts;
}

std::vector<std::string> names_of(const Text& text) {
  std::vector<std::string> names;
  for (const Record& record : text.records) names.push_back(record.name);
  return names;
}

void expect_joined(const Text& text) {
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < text.records.size(); ++i) {
    if (i != 0) {
      ASSERT_EQ(text.symbols.at(offset), Text::separator);
      ++offset;
    }
    ASSERT_EQ(text.records[i].offset, offset);
    offset += text.records[i].length;
  }
  EXPECT_EQ(text.symbols.size(), offset);
  EXPECT_EQ(histogram(text)[Text::separator], 0u);
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : path_(std::filesystem::path(testing::TempDir()) / ("sortie_sequences_" + name)) {}
  TemporaryFile(const std::string& name, const std::string& content) : TemporaryFile(name) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

struct RealFile {
  std::string file;
  std::size_t records;
  std::uint64_t letters;
  Alphabet alphabet;
};

class RealFiles : public testing::TestWithParam<RealFile> {};

TEST_P(RealFiles, HaveTheKnownSizes) {
  const RealFile& expected = GetParam();
  const Text text = read_fasta(test::context(), expected.file);
  EXPECT_EQ(text.records.size(), expected.records);
  EXPECT_EQ(text.letters(), expected.letters);
  EXPECT_EQ(detect_alphabet(text), expected.alphabet);
  expect_joined(text);
}

INSTANTIATE_TEST_SUITE_P(
    All, RealFiles,
    testing::Values(RealFile{SORTIE_SOURCE_DIR "/sequences/sample/ecoli_k12_mg1655.fa.gz", 1,
                             4639675, Alphabet::dna},
                    RealFile{valid + "lambda_phage.fa.gz", 1, 48502, Alphabet::dna},
                    RealFile{valid + "pseudopig_softmask.fa.gz", 3, 68787, Alphabet::dna},
                    RealFile{valid + "mirbase_hairpin_200.fa", 200, 18420, Alphabet::rna},
                    RealFile{valid + "proteins_50.fa", 50, 27376, Alphabet::protein}));

TEST(ReadFasta, TakesBgzfAndManyMembersLikeOneStream) {
  const Text plain = read_fasta(test::context(), valid + "lambda_phage.fa.gz");
  for (const char* file : {"lambda_phage.bgzf.fa.gz", "lambda_phage.two_members.fa.gz"}) {
    EXPECT_EQ(read_fasta(test::context(), valid + file).symbols, plain.symbols) << file;
  }
  EXPECT_EQ(plain.records[0].name,
            "gi|9626243|ref|NC_001416.1| Enterobacteria phage lambda, complete genome");
  EXPECT_EQ(symbols_of(plain, 0).substr(0, 10), "GGGCGGCGAC");
  EXPECT_EQ(symbols_of(plain, 0).substr(48492), "ACAGGTTACG");
}

TEST(ReadFasta, TakesCrlf) {
  const Text text = read_fasta(test::context(), valid + "crlf.fa");
  EXPECT_THAT(names_of(text), ElementsAre("first", "second"));
  EXPECT_THAT(all_symbols(text), ElementsAre("ACGTACGT", "TTT"));
}

TEST(ReadFasta, TakesEmptyNamesRecordsAndLines) {
  const Text text = read_fasta(test::context(), valid + "odd_records.fa");
  EXPECT_THAT(names_of(text), ElementsAre("", "no symbols", "", "blank lines", "no end of line"));
  EXPECT_THAT(all_symbols(text), ElementsAre("ACGT", "", "", "ACGT", "NN"));
  expect_joined(text);
}

TEST(ReadFasta, TakesFastqOfFourLines) {
  const Text text = read_fasta(test::context(), valid + "four_lines.fq");
  EXPECT_THAT(names_of(text), ElementsAre("read1 x", "read2"));
  EXPECT_THAT(all_symbols(text), ElementsAre("ACGT", "GGN"));
}

TEST(ReadFasta, TakesWrappedFastqWithQualitiesThatLookLikeHeaders) {
  const Text text = read_fasta(test::context(), valid + "wrapped.fq");
  EXPECT_THAT(names_of(text), ElementsAre("wrapped", "empty", "last"));
  EXPECT_THAT(all_symbols(text), ElementsAre("ACGTACGTAC", "", "T"));
  expect_joined(text);
}

TEST(ReadFasta, RaisesSoftMaskedLettersUnlessAskedToKeepThem) {
  const std::string file = valid + "pseudopig_softmask.fa.gz";
  const Text upper = read_fasta(test::context(), file);
  const Text kept = read_fasta(test::context(), file, {.letter_case = Case::keep});
  const auto upper_counts = histogram(upper);
  const auto kept_counts = histogram(kept);
  for (const char letter : {'a', 'c', 'g', 't'}) {
    const auto low = static_cast<std::size_t>(letter);
    const auto high = low - 'a' + 'A';
    EXPECT_GT(kept_counts[low], 0u);
    EXPECT_EQ(upper_counts[low], 0u);
    EXPECT_EQ(upper_counts[high], kept_counts[low] + kept_counts[high]);
  }
}

TEST(ReadFasta, HoldsTheChosenAlphabet) {
  const TemporaryFile file("iupac.fa", ">x\nACGTN\n");
  EXPECT_NO_THROW(
      (void)read_fasta(test::context(), file.path(), {.alphabet = Alphabet::dna_iupac}));
  EXPECT_THROW((void)read_fasta(test::context(), file.path(), {.alphabet = Alphabet::dna}), Error);
  EXPECT_THROW((void)read_fasta(test::context(), file.path(), {.alphabet = Alphabet::rna_iupac}),
               Error);
}

TEST(ReadFasta, TakesControlBytesOnlyAsBytes) {
  const TemporaryFile file("bytes.fa", ">x\nA\x01\xff\n");
  const Text text = read_fasta(test::context(), file.path(), {.alphabet = Alphabet::bytes});
  EXPECT_EQ(symbols_of(text, 0), "A\x01\xff");
  EXPECT_THROW((void)read_fasta(test::context(), file.path()), Error);
}

// Lines of every kind fall on every place relative to the blocks that the reader takes.
TEST(ReadFasta, DoesNotDependOnWhereBlocksEnd) {
  Random random(7);
  std::string content;
  std::vector<std::string> names;
  std::vector<std::string> parts;
  while (content.size() < 3'000'000) {
    names.push_back("record " + std::to_string(names.size()) + std::string(random.below(100), 'x'));
    parts.emplace_back();
    content += ">" + names.back() + "\r\n";
    for (std::uint64_t line = random.below(20); line > 0; --line) {
      const std::string letters(random.below(200), "ACGT"[random.below(4)]);
      parts.back() += letters;
      content += letters + (random.below(2) == 0 ? "\r\n" : "\n");
    }
  }
  const TemporaryFile file("blocks.fa", content);
  const Text text = read_fasta(test::context(), file.path());
  EXPECT_EQ(names_of(text), names);
  EXPECT_EQ(all_symbols(text), parts);
}

TEST(ReadFasta, TakesOneLineOfManyBlocks) {
  const std::string letters(1'500'001, 'C');
  for (const char* end : {"", "\n", "\r\n", "\r"}) {
    const TemporaryFile file("long_line.fa", ">x\n" + letters + end);
    EXPECT_EQ(all_symbols(read_fasta(test::context(), file.path())), std::vector{letters});
  }
}

TEST(ReadFasta, ReportsThePhaseAndProgress) {
  RunReport report;
  Context context = test::context();
  context.report = &report;
  std::uint64_t last = 0;
  context.progress = [&](std::string_view, std::uint64_t done, std::uint64_t) { last = done; };
  (void)read_fasta(context, valid + "lambda_phage.fa.gz");
  ASSERT_EQ(report.phases().size(), 1u);
  EXPECT_EQ(report.phases()[0].name, "read");
  EXPECT_EQ(report.phases()[0].bytes, 49270u);
  EXPECT_EQ(last, 49270u);
}

TEST(WriteFasta, IsReadBackTheSame) {
  for (const char* name : {"odd_records.fa", "pseudopig_softmask.fa.gz", "proteins_50.fa"}) {
    const ReadOptions keep{.letter_case = Case::keep};
    const Text text = read_fasta(test::context(), valid + name, keep);
    for (const std::size_t width : {0, 1, 60}) {
      const TemporaryFile file("written.fa");
      write_fasta(file.path(), text, width);
      const Text again = read_fasta(test::context(), file.path(), keep);
      EXPECT_EQ(again.symbols, text.symbols);
      EXPECT_EQ(names_of(again), names_of(text));
    }
  }
}

TEST(WriteFasta, RefusesAFolderThatIsNotThere) {
  EXPECT_THROW(write_fasta("/nowhere/at/all.fa", Text{}), Error);
}

}  // namespace
}  // namespace sortie::sequences
