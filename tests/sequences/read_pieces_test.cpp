// SPDX-License-Identifier: Apache-2.0

// The text, and the error, do not depend on where pieces end, on the number of threads, and on
// whether the symbols are packed.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/random.hpp"
#include "sequences/fasta_text.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/read_faults.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::sequences {
namespace {

using test::TemporaryFolder;

constexpr std::size_t whole_file = std::size_t{1} << 20;

Context on_threads(int threads) {
  Context context = test::context();
  context.threads = threads;
  return context;
}

std::string describe(const Text& text) {
  std::string description(text.symbols.begin(), text.symbols.end());
  for (const Record& record : text.records)
    description +=
        fmt::format("\n{} {} {}", sortie::quoted(record.name), record.offset, record.length);
  return description;
}

/// A description of the text, or the message of the error.
/// \param block_symbols  of symbols that are packed; 0: they are not
std::string outcome(const std::string& path, int threads, std::size_t piece_bytes,
                    const ReadOptions& options = {}, std::uint64_t block_symbols = 0) {
  try {
    const Context context = on_threads(threads);
    if (block_symbols == 0) return describe(read_fasta(context, path, options, piece_bytes));
    SymbolBlocks blocks(block_symbols);
    Text text;
    text.records = read_fasta_blocks(context, path, options, blocks, piece_bytes);
    text.symbols.resize(blocks.size());
    blocks.unpack(0, text.symbols);
    return describe(text);
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

/// The symbols of read_symbol_pieces() on one thread, or the message of the error.
std::string symbols_of_pieces(const std::string& path, std::size_t piece_bytes,
                              const ReadOptions& options, std::uint64_t overlap) {
  std::string symbols;
  SymbolPieces pieces;
  pieces.overlap = overlap;
  pieces.start = [&] { symbols.clear(); };
  pieces.take = [&](int, std::span<std::uint8_t> piece) {
    const std::size_t known = std::min<std::size_t>(overlap, symbols.size());
    EXPECT_EQ(symbols.substr(symbols.size() - known),
              std::string(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(known)));
    symbols.append(piece.begin() + static_cast<std::ptrdiff_t>(known), piece.end());
  };
  try {
    (void)read_symbol_pieces(on_threads(1), path, options, pieces, piece_bytes);
    return symbols;
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

/// Adds the ranges of `length` symbols that have no separator.
void add_ranges(std::string_view symbols, std::size_t length, std::vector<std::string>& ranges) {
  for (std::size_t at = 0; at + length <= symbols.size(); ++at) {
    const std::string_view range = symbols.substr(at, length);
    if (range.find('\0') == std::string_view::npos) ranges.emplace_back(range);
  }
}

/// The sorted ranges of overlap + 1 symbols of pieces that may be apart, or the message of the error.
std::vector<std::string> ranges_of_pieces(const std::string& path, int threads,
                                          std::size_t piece_bytes, const ReadOptions& options,
                                          std::uint64_t overlap) {
  std::vector<std::vector<std::string>> found(static_cast<std::size_t>(threads));
  SymbolPieces pieces;
  pieces.overlap = overlap;
  pieces.may_be_apart = true;
  pieces.start = [&] {
    for (std::vector<std::string>& mine : found) mine.clear();
  };
  pieces.take = [&](int worker, std::span<std::uint8_t> piece) {
    add_ranges({reinterpret_cast<const char*>(piece.data()), piece.size()}, overlap + 1,
               found[static_cast<std::size_t>(worker)]);
  };
  std::vector<std::string> ranges;
  try {
    (void)read_symbol_pieces(on_threads(threads), path, options, pieces, piece_bytes);
    for (const std::vector<std::string>& mine : found)
      ranges.insert(ranges.end(), mine.begin(), mine.end());
    std::ranges::sort(ranges);
  } catch (const Error& error) {
    ranges = {std::string("error: ") + error.what()};
  }
  return ranges;
}

/// Expects that the sequential parser, which takes the whole file at once, is right.
void expect_same(const std::string& path, const std::string& content,
                 const ReadOptions& options = {}) {
  const std::string expected = outcome(path, 1, whole_file, options);
  const auto check = [&](int threads, std::size_t piece) {
    for (const std::uint64_t block : {0, 8, 104}) {
      ASSERT_EQ(outcome(path, threads, piece, options, block), expected)
          << threads << " threads, pieces of " << piece << ", blocks of " << block << ":\n"
          << testing::PrintToString(content);
    }
    for (const std::uint64_t overlap : {0, 3}) {
      const std::string symbols = symbols_of_pieces(path, piece, options, overlap);
      std::string whole = expected;
      if (!symbols.starts_with("error: ")) {
        whole.resize(whole.find('\n'));
        // The last header may have no line end.
        whole.resize(std::max(symbols.size(), whole.find_last_not_of('\0') + 1));
      }
      ASSERT_EQ(symbols, whole) << "pieces of " << piece << ":\n"
                                << testing::PrintToString(content);
      std::vector<std::string> ranges = {expected};
      if (!expected.starts_with("error: ")) {
        ranges.clear();
        add_ranges(expected.substr(0, expected.find('\n')), overlap + 1, ranges);
        std::ranges::sort(ranges);
      }
      ASSERT_EQ(ranges_of_pieces(path, threads, piece, options, overlap), ranges)
          << threads << " threads, pieces of " << piece << ":\n"
          << testing::PrintToString(content);
    }
  };
  const std::size_t third = content.size() / 3 + 1;
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{40}, third, content.size() + 1})
    check(1, piece);
  check(3, third);
  check(3, 7);
}

std::string line_of(Random& random, std::string_view letters, std::size_t length) {
  std::string line(length, '\0');
  for (char& letter : line) letter = letters[random.below(letters.size())];
  return line;
}

std::string line_end(Random& random) {
  return random.below(3) == 0 ? "\r\n" : "\n";
}

std::string random_fasta(Random& random) {
  std::string file;
  if (random.below(4) == 0) file += line_end(random) + (random.below(2) == 0 ? "  ignored\n" : "");
  for (std::uint64_t record = 1 + random.below(5); record > 0; --record) {
    file += ">" + line_of(random, "ab cd>\t", random.below(30)) + line_end(random);
    for (std::uint64_t line = random.below(6); line > 0; --line)
      file += line_of(random, random.below(4) == 0 ? "acgtN \t" : "ACGT", random.below(70)) +
              line_end(random);
  }
  return file;
}

std::string random_fastq(Random& random) {
  std::string file;
  const bool wrapped = random.below(4) == 0;
  for (std::uint64_t record = 1 + random.below(8); record > 0; --record) {
    const std::size_t length = random.below(30) + (random.below(4) == 0 ? 0 : 1);
    const std::string sequence = line_of(random, "ACGTN", length);
    const std::string quality = line_of(random, "!@+>I~", length);
    file += "@" + line_of(random, "ab @+", random.below(20)) + line_end(random);
    const std::size_t cut = wrapped ? random.below(length + 1) : 0;
    if (cut != 0) file += sequence.substr(0, cut) + line_end(random);
    file += sequence.substr(cut) + line_end(random);
    file += "+" + (random.below(2) == 0 ? std::string("repeated") : "") + line_end(random);
    if (cut != 0) file += quality.substr(0, cut) + line_end(random);
    file += quality.substr(cut) + line_end(random);
  }
  return file;
}

/// Changes, removes or inserts a few bytes, or cuts the file.
void damage(std::string& file, Random& random) {
  using namespace std::string_view_literals;
  constexpr auto bytes = "\0\x01\n\r>@+ \tAJ\x7f\xff~!"sv;
  for (std::uint64_t count = 1 + random.below(2); count > 0 && !file.empty(); --count) {
    const std::size_t at = random.below(file.size());
    const char byte = bytes[random.below(bytes.size())];
    switch (random.below(4)) {
      case 0:
        file[at] = byte;
        break;
      case 1:
        file.erase(at, 1 + random.below(5));
        break;
      case 2:
        file.insert(at, 1, byte);
        break;
      default:
        file.resize(at);
        break;
    }
  }
}

class Pieces : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static std::string random_file(Random& random) {
    return GetParam() ? random_fastq(random) : random_fasta(random);
  }
};

TEST_P(Pieces, OfValidFilesGiveTheSameText) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const std::string content = random_file(random);
    expect_same(folder.write(fmt::format("file_{}", seed), content), content);
  }
}

TEST_P(Pieces, OfDamagedFilesGiveTheSameError) {
  const TemporaryFolder folder;
  int errors = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(1000 + seed);
    std::string content = random_file(random);
    damage(content, random);
    const std::string path = folder.write(fmt::format("file_{}", seed), content);
    if (outcome(path, 1, whole_file).starts_with("error")) ++errors;
    expect_same(path, content);
  }
  EXPECT_GT(errors, 30);
}

INSTANTIATE_TEST_SUITE_P(FastaAndFastq, Pieces, testing::Bool());

TEST(PiecesOfFasta, HoldEveryAlphabetAndCase) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const std::string content = random_fasta(random);
    const std::string path = folder.write(fmt::format("file_{}", seed), content);
    for (const Alphabet alphabet : {Alphabet::dna, Alphabet::dna_iupac, Alphabet::bytes}) {
      expect_same(path, content, {.letter_case = Case::keep, .alphabet = alphabet});
      expect_same(path, content, {.alphabet = alphabet});
    }
  }
}

TEST(PiecesOfFasta, MayBeFullOfEmptyLinesOrOneLine) {
  const TemporaryFolder folder;
  for (const std::string& content :
       {std::string(100, '\n'), std::string(100, '\n') + ">x\nACGT", std::string(30, ' '),
        ">" + std::string(100, 'n') + "\n" + std::string(200, 'a'),
        std::string(">x\n") + std::string(99, '\r'), std::string(">x\r"), std::string(">\r\n\r\n"),
        std::string(">a\nAC\r"), std::string(60, ' ') + "\n>x\nACGT\n>"})
    expect_same(folder.write("file", content), content);
}

TEST(PiecesOfFasta, ReportTheFirstFaultOfSeveral) {
  const TemporaryFolder folder;
  std::string content = ">x\n";
  for (int line = 0; line < 3000; ++line) content += std::string(60, 'A') + "\n";
  // Lines 1001, 1002 and 2501.
  for (const std::size_t line : {999, 1000, 2499}) content[3 + 61 * line + 7] = '\x02';
  const std::string path = folder.write("file", content);
  for (const int threads : {1, 2, 5}) {
    for (const std::size_t piece : {100, 1000, 50'000}) {
      EXPECT_EQ(outcome(path, threads, piece),
                "error: " + path +
                    ":1001: found control byte 0x02, expected letters and line ends LF or CRLF");
    }
  }
}

/// A text of two records, of several pieces of the usual size.
std::string large_fasta() {
  Random random(5);
  std::string file = ">first record\n";
  for (int line = 0; line < 15'000; ++line) file += line_of(random, "ACGT", 70) + "\n";
  file += ">second record\n" + line_of(random, "ACGTacgt", 200'000) + "\n";
  return file;
}

std::string large_fastq() {
  Random random(6);
  std::string file;
  for (int record = 0; record < 4000; ++record) {
    const std::size_t length = 100 + random.below(51);
    file += fmt::format("@read{}\n", record) + line_of(random, "ACGTN", length) + "\n+\n" +
            line_of(random, "!@+>I~", length) + "\n";
  }
  return file;
}

TEST(ReadFasta, GivesTheSameTextFromEveryKindOfFile) {
  const TemporaryFolder folder;
  for (const std::string& content : {large_fasta(), large_fastq()}) {
    const std::string plain = folder.write("plain", content);
    const std::string expected = outcome(plain, 1, whole_file);
    const std::vector<std::string> files = {
        plain, folder.write("gz", test::gzip(content)),
        folder.write("members",
                     test::gzip(content.substr(0, 499'999)) + test::gzip(content.substr(499'999))),
        folder.write("bgzf", test::bgzf(content))};
    for (const std::string& file : files) {
      for (const int threads : {1, 2, 8}) {
        for (const std::uint64_t block : {std::uint64_t{0}, SymbolBlocks::usual_block})
          EXPECT_TRUE(outcome(file, threads, 100'000, {}, block) == expected)
              << file << ", " << threads << " threads";
      }
    }
    const std::string pipe = folder.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& file : files) {
      for (const int threads : {1, 3}) {
        std::thread writer(
            [&] { std::ofstream(pipe, std::ios::binary) << test::content_of(file); });
        const Text text = read_fasta(on_threads(threads), pipe);
        writer.join();
        EXPECT_TRUE(describe(text) == expected) << file << " by a pipe, " << threads << " threads";
      }
    }
    ASSERT_EQ(::unlink(pipe.c_str()), 0);
  }
}

// In parts of a compressed file that are parsed at the same time.
TEST(ReadFasta, ReportsTheFirstFaultOfACompressedFile) {
  const TemporaryFolder folder;
  std::string content = large_fasta();
  const std::string valid = test::bgzf(content);
  // Line 10001 of the text, and a block far behind it.
  content[14 + 71 * 9999] = '\x02';
  std::string packed = test::bgzf(content);
  packed[packed.size() / 4 * 3] = static_cast<char>(packed[packed.size() / 4 * 3] ^ 0x55);
  std::string damaged = valid;
  damaged[valid.size() / 4 * 3] = static_cast<char>(valid[valid.size() / 4 * 3] ^ 0x55);
  for (const int threads : {1, 2, 5}) {
    const std::string both = folder.write("both", packed);
    EXPECT_EQ(outcome(both, threads, 100'000),
              "error: " + both +
                  ":10001: found control byte 0x02, expected letters and line ends LF or CRLF");
    const std::string one = folder.write("one", damaged);
    EXPECT_EQ(outcome(one, threads, 100'000), outcome(one, 1, 1000));
    EXPECT_THAT(outcome(one, threads, 100'000),
                testing::StartsWith("error: " + one + ": found damaged gzip stream at byte "));
  }
}

TEST(ReadFasta, ReportsAReadThatFailsAnywhere) {
  const TemporaryFolder folder;
  const std::string content = large_fasta();
  const std::string path = folder.write("plain", content);
  for (const std::uint64_t at : {std::uint64_t{5}, content.size() / 2, content.size() - 1}) {
    const test::InjectedReadFaults faults({.error_at = at});
    for (const int threads : {1, 2, 5})
      EXPECT_EQ(outcome(path, threads, 100'000),
                "error: " + path + ": cannot be read: Input/output error, expected a readable file")
          << at;
    EXPECT_EQ(faults.injected(), 3U);
  }
}

TEST(ReadFasta, PassesOverSignalsAndShortReads) {
  const TemporaryFolder folder;
  const std::string content = large_fasta();
  const std::string path = folder.write("plain", content);
  const std::string expected = outcome(path, 1, whole_file);
  const test::InjectedReadFaults faults({.most_bytes = 10'000, .interrupted = true});
  for (const int threads : {1, 3}) EXPECT_TRUE(outcome(path, threads, 100'000) == expected);
  EXPECT_GT(faults.injected(), 400U);
}

TEST(ReadFasta, OfAFileThatShrinksEndsThere) {
  const TemporaryFolder folder;
  const std::string content = large_fasta();
  const std::string path = folder.write("plain", content);
  const std::string shorter = folder.write("shorter", content.substr(0, 500'000));
  const std::string expected = outcome(shorter, 1, whole_file);
  const test::InjectedReadFaults faults({.size = 500'000});
  for (const int threads : {1, 3}) EXPECT_TRUE(outcome(path, threads, 100'000) == expected);
}

}  // namespace
}  // namespace sortie::sequences
