// SPDX-License-Identifier: Apache-2.0

// STAR's index with the junctions of a GTF: beside checksums of the files of STAR 2.7.10b, beside
// STAR itself where it is installed, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/byte_source.hpp"
#include "core/files/checksum.hpp"
#include "sortie/error.hpp"
#include "sortie/genome_index.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using namespace genomes;
using testing::ElementsAre;
using testing::HasSubstr;

/// All files of an index with a GTF but genomeParameters.txt.
const std::vector<std::string>& index_files() {
  static const std::vector<std::string> names = {"Genome",           "SA",
                                                 "SAindex",          "chrLength.txt",
                                                 "chrName.txt",      "chrNameLength.txt",
                                                 "chrStart.txt",     "exonGeTrInfo.tab",
                                                 "exonInfo.tab",     "geneInfo.tab",
                                                 "sjdbInfo.txt",     "sjdbList.fromGTF.out.tab",
                                                 "sjdbList.out.tab", "transcriptInfo.tab"};
  return names;
}

/// A generated genome with its annotation.
class Annotated {
 public:
  explicit Annotated(std::uint64_t seed) : state_(seed * 7919 + 31) {
    line_end_ = next(2) == 0 ? "\n" : "\r\n";
    const std::uint64_t count = 1 + next(4);
    for (std::uint64_t i = 0; i < count; ++i) add_record(i);
    gtf_ = "#!comment" + line_end_ + line_end_ + "# a\tb\texon" + line_end_;
    const std::uint64_t transcripts = 10 + next(40);
    for (std::uint64_t i = 0; i < transcripts; ++i) add_transcript(i);
    add_exon("unknown", 1, 20, '+', "gene_id \"g0\"; transcript_id \"u\";");
    add_exon("record0", 2, 1'000'000, '+', "gene_id \"g0\"; transcript_id \"beyond\";");
    add_exon("record0", 3, 30, '.', "note \"without identifiers\"");
    // Exons in two records.
    if (count > 1 && seed % 2 == 0) {
      add_exon("record0", 5, 40, '-', "transcript_id \"two\"; gene_id \"g0\"");
      add_exon("record1", 5, 40, '-', "transcript_id \"two\"; gene_id \"g0\"");
    }
  }

  [[nodiscard]] const std::string& fasta() const { return fasta_; }
  [[nodiscard]] const std::string& gtf() const { return gtf_; }
  std::uint64_t next(std::uint64_t below) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % below;
  }

 private:
  void add_record(std::uint64_t number) {
    constexpr std::string_view letters = "ACGTACGTACGTACGTAAGTAGGTacgtN";
    // Few letters make long repeats, and prefixes that no suffix has.
    const std::uint64_t kinds = next(3) == 0 ? 2 : letters.size();
    std::string sequence;
    for (std::uint64_t left = 300 + next(3000); left != 0; --left)
      sequence += letters[next(8) == 0 ? next(letters.size()) : next(kinds)];
    fasta_ += fmt::format(">record{} of {}\n{}\n", number, kinds, sequence);
    for (char& letter : sequence) letter = static_cast<char>(letter & ~0x20);
    sequences_.push_back(sequence);
  }

  /// Where `word` is near `from`, or `from`.
  [[nodiscard]] static std::uint64_t near(const std::string& sequence, std::string_view word,
                                          std::uint64_t from) {
    const std::size_t found = std::string_view(sequence).substr(0, from + 200).find(word, from);
    return found == std::string::npos ? from : found;
  }

  void add_exon(const std::string& record, std::uint64_t begin, std::uint64_t last, char strand,
                const std::string& attributes) {
    gtf_ += fmt::format("{}\tmade\texon\t{}\t{}\t.\t{}\t.\t{}{}", record, begin, last, strand,
                        attributes, line_end_);
  }

  void add_transcript(std::uint64_t number) {
    const std::uint64_t record = next(sequences_.size());
    const std::string& sequence = sequences_[record];
    const char strand = "+-+-."[next(5)];
    std::uint64_t begin = next(sequence.size() / 2);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> exons;
    for (std::uint64_t left = 1 + next(12); left != 0; --left) {
      std::uint64_t end = begin + 1 + next(60);
      if (next(3) != 0) end = near(sequence, strand == '-' ? "CT" : "GT", end);
      end = std::min<std::uint64_t>(end, sequence.size());
      exons.emplace_back(begin + 1, end);
      begin = end + (next(5) == 0 ? next(3) : 3 + next(100));  // also exons that touch
      if (next(3) != 0) begin = near(sequence, strand == '-' ? "AC" : "AG", begin) + 2;
      if (begin >= sequence.size()) break;
    }
    if (next(2) == 0) std::ranges::reverse(exons);
    for (std::uint64_t copy = 0; copy < 1 + next(2); ++copy) {  // junctions of several transcripts
      for (std::size_t i = 0; i < exons.size(); ++i)
        add_exon(fmt::format("record{}", record), exons[i].first, exons[i].second,
                 copy == 0 ? strand : '-',
                 fmt::format("gene_id \"g{}\"; transcript_id \"t{}.{}\"; gene_{} \"x\"",
                             number / (1 + copy), number, copy, number % 2 == 0 ? "name" : "type"));
    }
  }

  std::uint64_t state_;
  std::string line_end_;
  std::vector<std::string> sequences_;  ///< in upper case
  std::string fasta_;
  std::string gtf_;
};

class StarAnnotation : public testing::Test {
 protected:
  [[nodiscard]] GenomeIndexOptions options(const std::string& gtf) const {
    GenomeIndexOptions options;
    options.formats = {"star"};
    options.prefix = folder_.path("index");
    options.star_index_bases = 4;
    options.star_bin_bits = 8;
    options.star_annotation.gtf = folder_.write("genes.gtf", gtf);
    options.star_annotation.overhang = 10;
    return options;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return content_of(folder_.path("index/" + name));
  }
  GenomeIndexPlan write(const std::string& fasta, const GenomeIndexOptions& options) const {
    return write_genome_index(context(), folder_.write("g.fa", fasta), options);
  }

  TemporaryFolder folder_;
};

/// Two genes on 90 letters: introns GT..AG, and one without a motif that can be shifted
/// to the left by three.
constexpr std::string_view example_fasta =
    ">a\nACGTTGCATTACAGATTACAGTAAGTCCCCTTTTCAGGGATCCATTGCATCATGGCCATTGGAATTCAATCCGGAATGCATTGCAATGCA"
    "\n>b\nTTTT\n";

std::string line_of(int begin, int last, char strand, std::string_view attributes) {
  return fmt::format("a\tx\texon\t{}\t{}\t.\t{}\t.\t{}\n", begin, last, strand, attributes);
}

std::string example_gtf() {
  return line_of(11, 20, '+', "gene_id \"A\"; transcript_id \"A1\"; gene_name \"first\";") +
         line_of(38, 45, '+', "gene_id \"A\"; transcript_id \"A1\"; gene_name \"first\";") +
         line_of(46, 50, '+', "gene_id \"A\"; transcript_id \"A1\";") +
         line_of(11, 20, '+', "gene_id \"B\"; transcript_id \"B1\"; gene_biotype \"other\";") +
         line_of(38, 44, '+', "gene_id \"B\"; transcript_id \"B1\";") +
         line_of(48, 50, '-', "gene_id \"B\"; transcript_id \"B2\";") +
         line_of(60, 62, '-', "gene_id \"B\"; transcript_id \"B2\";") +
         line_of(2, 5, '.', "none 1");
}

TEST_F(StarAnnotation, TablesDescribeExonsAndJunctions) {
  const GenomeIndexPlan plan = write(std::string(example_fasta), options(example_gtf()));
  EXPECT_EQ(file("geneInfo.tab"),
            "3\nA\tfirst\tMissingGeneType\nB\tB\tother\n"
            "MissingGeneID\tMissingGeneID\tMissingGeneType\n");
  EXPECT_EQ(file("exonGeTrInfo.tab"),
            "8\n1\t4\t0\t2\t3\n10\t19\t1\t0\t0\n10\t19\t1\t1\t1\n37\t43\t1\t1\t1\n37\t44\t1\t0\t0\n"
            "45\t49\t1\t0\t0\n47\t49\t2\t1\t2\n59\t61\t2\t1\t2\n");
  EXPECT_EQ(file("transcriptInfo.tab"),
            "4\ntr_a_2_5_7\t1\t4\t4\t0\t1\t0\t2\nB1\t10\t43\t4\t1\t2\t1\t1\n"
            "A1\t10\t49\t43\t1\t3\t3\t0\nB2\t47\t61\t49\t2\t2\t6\t1\n");
  EXPECT_EQ(
      file("exonInfo.tab"),
      "8\n0\t3\t0\n0\t9\t0\n27\t33\t10\n0\t9\t0\n27\t34\t10\n35\t39\t18\n0\t2\t0\n12\t14\t3\n");
  EXPECT_EQ(file("sjdbList.fromGTF.out.tab"), "a\t21\t37\t+\t1,2\na\t51\t59\t-\t2\n");
  // The first intron is GT..AG. The second one has no motif: its begin is shifted to the left.
  EXPECT_EQ(file("sjdbInfo.txt"), "2\t10\n20\t36\t1\t0\t1\t1\n47\t55\t0\t3\t0\t2\n");
  EXPECT_EQ(file("sjdbList.out.tab"), "a\t21\t37\t+\na\t51\t59\t-\n");
  EXPECT_THAT(file("genomeParameters.txt"), HasSubstr("sjdbOverhang\t10\n"));
  EXPECT_THAT(file("genomeParameters.txt"),
              HasSubstr("sjdbGTFfile\t" + folder_.path("genes.gtf") + "\n"));
  // Two junctions of 21 bytes behind the genome: ten letters before and behind the intron.
  const std::string genome = file("Genome");
  const std::string letters = "ACAGATTACAGGATCCATTG";
  std::string codes;
  for (const char letter : letters) codes += static_cast<char>(std::string("ACGT").find(letter));
  ASSERT_EQ(genome.size(), 512 + 2 * 21);
  EXPECT_EQ(genome.substr(512, 21), codes + '\5');
  EXPECT_THAT(plan.warnings, testing::Contains(HasSubstr("exons without transcript_id")));
}

TEST_F(StarAnnotation, FilesAreThoseOfStar) {
  struct Expected {
    std::uint64_t seed;
    std::uint32_t overhang;
    std::uint32_t index_bases;
    std::uint32_t bin_bits;
    std::vector<std::uint64_t> fnv1a;  ///< of index_files()
  };
  const std::vector<Expected> all = {
      {1,
       10,
       4,
       8,
       {0x9773d7e3c5eb1aee, 0xed461dabdd5e99b3, 0x7bf68f29cf44ff3c, 0x75518b5928fe91e6,
        0x5429a2dc34bc26bd, 0xce4cfd519473ecea, 0x4ee505caeae32406, 0x7429f71a9e0f260e,
        0x08a6ed346534403c, 0x9d3a67ddb9903c0e, 0x9bbf790cf31066b8, 0x4fde5f1195fe95bf,
        0x286c07b81a5c8895, 0x2f8dab2947c591d4}},
      {2,
       25,
       6,
       12,
       {0x073459dd70b7cea9, 0x298fc2b3bd5fb869, 0x8a74f206a8196870, 0xb54a998e0ef6f73e,
        0x670c996e77ce43bd, 0x77d4f5ef8431b66f, 0x6a6f6815833d999f, 0xd40959c3027f66af,
        0xba2861765c781c79, 0xbd5ebc66591d06c9, 0x0cfc198f6d7c1902, 0x3b96ae2037108e56,
        0x41ee3e75bda4d454, 0x10f64630062625ff}},
      {3,
       3,
       2,
       6,
       {0x4221d2dbf7a9cb9b, 0x6d664e6d6fe04fbd, 0x84ba449a92cd80df, 0xc0ca27b5b3dbe39f,
        0x730616e25cc2b410, 0x001864059f324250, 0x335bf7a0ac8a87e8, 0xe98b12bbbaedd54c,
        0xb53d3fd4644dfbc3, 0xf32d0885ad59cc86, 0x66b2331c3652f1f2, 0x3a993c5cc7ef252e,
        0x0cabad5cb33e9536, 0x7637f5a1bbe6301b}},
  };
  for (const Expected& expected : all) {
    const Annotated annotated(expected.seed);
    GenomeIndexOptions index = options(annotated.gtf());
    index.star_annotation.overhang = expected.overhang;
    index.star_index_bases = expected.index_bases;
    index.star_bin_bits = expected.bin_bits;
    (void)write(annotated.fasta(), index);
    for (std::size_t i = 0; i < expected.fnv1a.size(); ++i) {
      const std::string content = file(index_files()[i]);
      EXPECT_EQ(extend_fnv1a(fnv1a_seed, content.data(), content.size()), expected.fnv1a[i])
          << expected.seed << ' ' << index_files()[i];
    }
    const GenomeIndexPlan plan = plan_genome_index(context(), folder_.path("g.fa"), index);
    ASSERT_EQ(plan.files.size(), index_files().size() + 1);
    for (const IndexFileSize& planned : plan.files)
      EXPECT_EQ(planned.bytes, std::filesystem::file_size(planned.path)) << planned.path;
    EXPECT_NO_THROW((void)check_genome_index(context(), folder_.path("g.fa"), index));
  }
}

TEST_F(StarAnnotation, FilesAreThoseOfStarWhereItIsInstalled) {
  if (std::system("STAR --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "STAR is not installed";
  for (std::uint64_t seed = 100; seed < 106; ++seed) {
    Annotated annotated(seed);
    GenomeIndexOptions index = options(annotated.gtf());
    index.star_annotation.overhang = static_cast<std::uint32_t>(1 + annotated.next(40));
    index.star_index_bases = static_cast<std::uint32_t>(1 + annotated.next(7));
    index.star_bin_bits = static_cast<std::uint32_t>(12 + annotated.next(3));
    (void)write(annotated.fasta(), index);
    const std::string command = fmt::format(
        "STAR --runMode genomeGenerate --genomeDir {0}/star --genomeFastaFiles {0}/g.fa "
        "--sjdbGTFfile {0}/genes.gtf --sjdbOverhang {1} --genomeSAindexNbases {2} "
        "--genomeChrBinNbits {3} --outFileNamePrefix {0}/ > {0}/log 2>&1",
        folder_.path(""), index.star_annotation.overhang, index.star_index_bases,
        index.star_bin_bits);
    ASSERT_EQ(std::system(command.c_str()), 0) << content_of(folder_.path("log"));
    for (const std::string& name : index_files())
      EXPECT_TRUE(content_of(folder_.path("star/" + name)) == file(name)) << seed << ' ' << name;
    // The parameters, too, but for comments.
    GenomeIndexOptions of_star = index;
    of_star.prefix = folder_.path("star");
    EXPECT_NO_THROW((void)check_genome_index(context(), folder_.path("g.fa"), of_star)) << seed;
  }
}

TEST_F(StarAnnotation, ReadsOtherTagsPrefixesAndCompression) {
  const std::string gff =
      "1\tx\tCDS\t11\t20\t.\t+\t.\tID=c1;Parent=A1;locus=A\n1\tx\tCDS\t38\t45\t.\t+\t.\tID=c2;"
      "Parent="
      "A1;locus=A\n1\tx\texon\t1\t2\t.\t+\t.\tParent=other;locus=A\n";
  GenomeIndexOptions index = options("");
  index.star_annotation.gtf = folder_.write("genes.gff.gz", gzip(gff));
  index.star_annotation.exon_feature = "CDS";
  index.star_annotation.transcript_tag = "Parent";
  index.star_annotation.gene_tag = "locus";
  index.star_annotation.record_prefix = "chr";
  std::string fasta(example_fasta);
  fasta.replace(0, 2, ">chr1");
  const GenomeIndexPlan plan = write(fasta, index);
  EXPECT_THAT(plan.warnings, ElementsAre(HasSubstr("letters in SAindex")));
  EXPECT_EQ(file("transcriptInfo.tab"), "1\nA1\t10\t44\t44\t1\t2\t0\t0\n");
  EXPECT_EQ(file("sjdbList.out.tab"), "chr1\t21\t37\t+\n");
  EXPECT_THAT(
      file("genomeParameters.txt"),
      HasSubstr("sjdbGTFchrPrefix\tchr\nsjdbGTFfeatureExon\tCDS\n"
                "sjdbGTFtagExonParentTranscript\tParent\nsjdbGTFtagExonParentGene\tlocus\n"));
}

TEST_F(StarAnnotation, WithoutJunctionsTheGenomeIsTheSame) {
  GenomeIndexOptions index = options(line_of(11, 20, '+', "gene_id \"A\"; transcript_id \"A1\""));
  (void)write(std::string(example_fasta), index);
  EXPECT_EQ(file("sjdbInfo.txt"), "0\t10\n");
  EXPECT_EQ(file("sjdbList.out.tab"), "");
  const std::string genome = file("Genome");
  const std::string sa = file("SA");
  const std::string prefixes = file("SAindex");
  index.star_annotation.gtf.clear();
  (void)write(std::string(example_fasta), index);
  EXPECT_EQ(file("Genome"), genome);
  EXPECT_EQ(file("SA"), sa);
  EXPECT_EQ(file("SAindex"), prefixes);
  // The tables of the index before, with which STAR would count genes, are gone.
  for (const std::string name : {"sjdbInfo.txt", "transcriptInfo.tab", "geneInfo.tab"})
    EXPECT_FALSE(std::filesystem::exists(folder_.path("index/" + name))) << name;
}

TEST_F(StarAnnotation, ChecksTables) {
  const GenomeIndexOptions index = options(example_gtf());
  (void)write(std::string(example_fasta), index);
  for (const std::string& name : index_files()) {
    const std::string content = file(name);
    std::string changed = content;
    changed[content.size() / 2] ^= 1;
    (void)folder_.write("index/" + name, changed);
    expect_error([&] { (void)check_genome_index(context(), folder_.path("g.fa"), index); },
                 ErrorKind::check,
                 HasSubstr(name + ", byte " + fmt::to_string(content.size() / 2)));
    (void)folder_.write("index/" + name, content);
  }
}

TEST_F(StarAnnotation, RefusesWhatStarWouldIndexWrongly) {
  const auto expect_refused = [&](const std::string& gtf, const std::string& message) {
    expect_error([&] { (void)write(std::string(example_fasta), options(gtf)); }, ErrorKind::input,
                 HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(folder_.path("index")));
  };
  expect_refused("", "genes.gtf: found no line with \"exon\" in column 3");
  expect_refused("a\tx\tgene\t1\t2\t.\t+\t.\tgene_id \"A\"\n", "found no line with \"exon\"");
  expect_refused("# c\nc\tx\texon\t1\t2\t.\t+\t.\tgene_id \"A\"\n",
                 "genes.gtf:2: found no exon in a record of the FASTA");
  expect_refused("a\tx\texon\t1\t95\t.\t+\t.\tgene_id \"A\"\n", "found no exon in a record");
  const std::string good = line_of(1, 2, '+', "gene_id \"A\"");
  expect_refused(good + line_of(0, 2, '+', ""), "genes.gtf:2: found begin \"0\" and end \"2\"");
  expect_refused(good + line_of(3, 2, '+', ""), "genes.gtf:2: found begin \"3\" and end \"2\"");
  expect_refused(good + "a\tx\texon\tx\t2\t.\t+\t.\t\n", "genes.gtf:2: found begin \"x\"");
  expect_refused(good + "a\tx\texon\t1\t-2\t.\t+\t.\t\n", "and end \"-2\" of an exon");
  expect_refused(good + "a\tx\texon\t1\n", "genes.gtf:2: found begin \"1\" and end \"\"");
  expect_refused(good + "a\tx\texon\t1\t2\t.\t+\n", "genes.gtf:2: found an exon of fewer than 8");
}

TEST_F(StarAnnotation, RefusesWrongOptions) {
  const GenomeIndexOptions good = options(example_gtf());
  const auto expect_usage = [&](const GenomeIndexOptions& wrong, const std::string& message) {
    expect_error([&] { (void)write(std::string(example_fasta), wrong); }, ErrorKind::usage,
                 HasSubstr(message));
  };
  GenomeIndexOptions wrong = good;
  wrong.formats = {"bwa"};
  expect_usage(wrong, "found a GTF without format star");
  wrong = good;
  wrong.star_annotation.gtf = "-";
  expect_usage(wrong, "found standard input as GTF");
  for (const std::uint32_t overhang : {0U, 5000U}) {
    wrong = good;
    wrong.star_annotation.overhang = overhang;
    expect_usage(wrong, fmt::format("found an overhang of {}, expected 1 to 4999", overhang));
  }
  wrong = good;
  wrong.star_annotation.gene_tag = "gene id";
  expect_usage(wrong, "found the attribute \"gene id\", expected a word");
}

TEST_F(StarAnnotation, WarnsOfWhatStarLeavesOut) {
  const std::string gtf = example_gtf() + "c\tx\texon\t1\t2\t.\t+\t.\tgene_id \"A\"\n" +
                          line_of(1, 95, '+', "gene_id \"A\"; transcript_id \"A1\"") +
                          "b\tx\texon\t1\t2\t.\t+\t.\ttranscript_id \"A1\"; gene_id \"A\"\n";
  (void)folder_.write("g.fa", example_fasta);
  EXPECT_THAT(
      plan_genome_index(context(), folder_.path("g.fa"), options(gtf)).warnings,
      ElementsAre(
          HasSubstr("genes.gtf:9: exons of records that the FASTA lacks are left out, as STAR "
                    "does (1 in all)"),
          HasSubstr("genes.gtf:10: exons that end behind their record"),
          HasSubstr("genes.gtf:8: exons without transcript_id become transcripts"),
          HasSubstr("genes.gtf:8: exons without gene_id belong to gene MissingGeneID"),
          HasSubstr("genes.gtf: transcripts with exons in several records"),
          HasSubstr("STAR may fail with 4 letters in SAindex")));
}

}  // namespace
}  // namespace sortie::test
