// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "core/random.hpp"
#include "matrices/matrix_market_text.hpp"
#include "sortie/error.hpp"
#include "tests/matrices/matrix_types.hpp"
#include "tests/support/backend.hpp"

// The result must not depend on how the text is cut up; with one task a chunk, cutting it into many
// chunks is also what many threads would do.

namespace sortie::test {
namespace {

using namespace sortie::matrices;

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::vector<TextPartition>& partitions() {
  static const std::vector<TextPartition> all{{1, 1},   {1, 8},    {7, 3},      {64, 2},
                                              {500, 8}, {4096, 5}, {1 << 20, 8}};
  return all;
}

class Partition : public testing::TestWithParam<const char*> {};

TEST_P(Partition, DoesNotChangeTheMatrix) {
  const std::string text = slurp(fixture(std::string("valid/") + GetParam()));
  const auto whole =
      parse_matrix_market<std::complex<double>>(context(), "text", text, nullptr, {text.size(), 1});
  EXPECT_EQ(whole, parse_matrix_market<std::complex<double>>(context(), "text", text));
  for (const TextPartition& partition : partitions()) {
    EXPECT_EQ(whole, (parse_matrix_market<std::complex<double>>(context(), "text", text, nullptr,
                                                                partition)))
        << partition.chunk_bytes << " bytes a chunk, " << partition.parts << " parts";
  }
}

INSTANTIATE_TEST_SUITE_P(MatrixMarket, Partition,
                         testing::Values("can___24.mtx", "impcol_a.mtx", "young1c.mtx",
                                         "plskz362.mtx", "pts5ldd03.mtx", "duplicates.mtx",
                                         "unsorted_long_row.mtx", "comments_and_blank_lines.mtx",
                                         "no_newline_at_end.mtx", "crlf.mtx", "array_general.mtx",
                                         "array_hermitian.mtx", "0_by_0.mtx", "3by0.mtx"));

// A text of random entries with many duplicates, whose sum depends on the order of adding.
std::string shuffled_entries(std::int64_t rows, std::int64_t cols, int entries) {
  Random random(20);
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(rows) +
                     " " + std::to_string(cols) + " " + std::to_string(entries) + "\n";
  for (int i = 0; i < entries; ++i) {
    text += std::to_string(random.below(static_cast<std::uint64_t>(rows)) + 1) + " " +
            std::to_string(random.below(static_cast<std::uint64_t>(cols)) + 1) + " " +
            std::to_string(random.uniform() * 1e6) + "\n";
    if (i % 97 == 0) text += "% comment\n\n";
  }
  return text;
}

TEST(PartitionOfText, KeepsTheOrderOfSums) {
  for (const auto& [rows, cols] : {std::pair{40, 30}, std::pair{1, 2000}, std::pair{3000, 2}}) {
    const std::string text = shuffled_entries(rows, cols, 6000);
    const auto whole =
        parse_matrix_market<float>(context(), "text", text, nullptr, {text.size(), 1});
    validate(whole);
    EXPECT_LT(whole.nnz(), 6000);
    for (const TextPartition& partition : partitions()) {
      EXPECT_EQ(whole, parse_matrix_market<float>(context(), "text", text, nullptr, partition));
    }
  }
}

std::string message(const std::string& text, const TextPartition& partition) {
  try {
    (void)parse_matrix_market<double>(context(), "text", text, nullptr, partition);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(PartitionOfText, FirstFaultOfTheFileIsReported) {
  const std::string good = shuffled_entries(50, 50, 1000);
  const auto line_start = [&](int line) {
    std::size_t at = 0;
    for (int i = 1; i < line; ++i) at = good.find('\n', at) + 1;
    return at;
  };
  // Line 400 is an entry; a second fault stands behind it, a third far behind.
  std::string text = good;
  for (const int line : {1000, 402, 400}) {
    text.insert(line_start(line), "9 9 bad" + std::to_string(line) + "\n");
  }
  for (const TextPartition& partition : partitions()) {
    EXPECT_EQ(message(text, partition), "text:400: found \"bad400\", expected a real number");
  }
}

TEST(PartitionOfText, ExcessEntryIsReportedBeforeLaterFaults) {
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\n9 9 3\n1 1 1\n% c\n2 2 2\n\n3 3 3\n%\n"
      "4 4 4\n0 0 bad\n";
  for (const TextPartition& partition : partitions()) {
    EXPECT_EQ(message(text, partition),
              "text:9: found more than the 3 entries that the size line announces, expected the "
              "end of the file");
  }
}

TEST(PartitionOfText, EndOfFileIsReportedOnItsLastLine) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n9 9 3\n1 1 1\n2 2 2\n";
  for (const TextPartition& partition : partitions()) {
    const std::string expected =
        "text:4: found the end of the file after 2 of 3 entries, expected 1 more";
    EXPECT_EQ(message(text, partition), expected);
    EXPECT_EQ(message(text.substr(0, text.size() - 1), partition), expected);
  }
}

}  // namespace
}  // namespace sortie::test
