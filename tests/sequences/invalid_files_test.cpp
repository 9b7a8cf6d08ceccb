// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::sequences {
namespace {

const std::string invalid = SORTIE_TEST_DATA "/sequences/invalid/";

struct InvalidFile {
  std::string file;
  std::string message;  ///< after the name of the file
  Alphabet alphabet = Alphabet::automatic;
};

void PrintTo(const InvalidFile& invalid_file, std::ostream* out) {
  *out << invalid_file.file;
}

class InvalidFiles : public testing::TestWithParam<InvalidFile> {};

TEST_P(InvalidFiles, AreRefusedWithFileAndLine) {
  const InvalidFile& expected = GetParam();
  const std::string path = invalid + expected.file;
  try {
    (void)read_fasta(test::context(), path, {.alphabet = expected.alphabet});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(std::string(error.what()), path + expected.message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, InvalidFiles,
    testing::Values(
        InvalidFile{"empty.fa", ": found an empty file, expected a FASTA or FASTQ record"},
        InvalidFile{"only_empty_lines.fa",
                    ": found nothing but empty lines, expected a FASTA or FASTQ record"},
        InvalidFile{"no_header.fa",
                    ":1: found symbol \"A\" at the start of the first line, expected a header that "
                    "begins with '>' (FASTA) or '@' (FASTQ)"},
        InvalidFile{"no_header_blank_lines.fa",
                    ":3: found symbol \"A\" at the start of the first line, expected a header that "
                    "begins with '>' (FASTA) or '@' (FASTQ)"},
        InvalidFile{"not_dna.fa",
                    ":3: found symbol \"J\", expected a symbol of the alphabet dna (ACGT)",
                    Alphabet::dna},
        InvalidFile{"control_byte.fa",
                    ":3: found control byte 0x01, expected letters and line ends LF or CRLF"},
        InvalidFile{"nul_byte.fa",
                    ":4: found control byte 0x00, expected letters and line ends LF or CRLF",
                    Alphabet::bytes},
        InvalidFile{"binary_header.fa",
                    ":3: found control byte 0x02 in a header, expected text and a line end LF or "
                    "CRLF"},
        InvalidFile{"old_mac_line_ends.fa",
                    ":1: found a carriage return inside a line in a header, expected text and a "
                    "line end LF or CRLF"},
        InvalidFile{"stray_carriage_return.fa",
                    ":2: found a carriage return inside a line, expected letters and line ends LF "
                    "or CRLF"},
        InvalidFile{"quality_short.fq",
                    ":4: found 2 quality values, expected 4, one for each symbol of record \"r1\""},
        InvalidFile{"quality_long.fq",
                    ":8: found 3 quality values, expected 2, one for each symbol of record \"r2\""},
        InvalidFile{"quality_bad_byte.fq",
                    ":4: found control byte 0x05 in a quality line, expected characters from '!' "
                    "to '~'"},
        InvalidFile{"quality_missing.fq",
                    ":7: found the end of the file, expected 4 more quality values for record "
                    "\"r2\""},
        InvalidFile{"quality_cut_off.fq",
                    ":6: found the end of the file, expected 2 more quality values for record "
                    "\"r1\""},
        InvalidFile{"plus_missing.fq",
                    ":3: found a header line, expected a line that begins with '+' after the "
                    "sequence"},
        InvalidFile{"sequence_cut_off.fq",
                    ":2: found the end of the file, expected a '+' line and quality values for "
                    "record \"r1\""},
        InvalidFile{"fasta_in_fastq.fq",
                    ":5: found symbol \">\" at the start of a line, expected a header that begins "
                    "with '@'"}));

TEST(DamagedGzip, IsNeverAShortResult) {
  for (const char* name : {"truncated.fa.gz", "damaged.fa.gz"}) {
    const std::string path = invalid + name;
    try {
      (void)read_fasta(test::context(), path);
      FAIL() << "no error for " << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_THAT(error.what(), testing::StartsWith(path + ":"));
      EXPECT_THAT(error.what(), testing::HasSubstr("gzip"));
    }
  }
}

TEST(MissingFile, IsNamed) {
  try {
    (void)read_fasta(test::context(), "/nowhere/genome.fa");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), testing::StartsWith("/nowhere/genome.fa"));
  }
}

TEST(MemoryBudget, LimitsTheText) {
  const std::string path = SORTIE_TEST_DATA "/sequences/valid/lambda_phage.fa.gz";
  Context context = test::context();
  context.memory_budget = 40000;  // of 48502 bases
  test::expect_error([&] { (void)read_fasta(context, path); }, ErrorKind::out_of_memory,
                     testing::StartsWith(path + ": out of memory: the text needs "));
  context.memory_budget = 400000;
  EXPECT_EQ(read_fasta(context, path).symbols.size(), 48502U);
}

}  // namespace
}  // namespace sortie::sequences
