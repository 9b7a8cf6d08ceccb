// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "matrices/matrix_market_text.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "tests/matrices/matrix_types.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using namespace sortie::matrices;

struct InvalidFile {
  const char* name;
  const char* message;  // behind the file's name
};

constexpr InvalidFile invalid_files[] = {
    {"above_diagonal_hermitian.mtx",
     ":3: found entry (1, 3) above the diagonal, expected entries on or below the diagonal "
     "(hermitian)"},
    {"above_diagonal_skew_symmetric.mtx",
     ":3: found entry (2, 3) above the diagonal, expected entries below the diagonal "
     "(skew-symmetric)"},
    {"above_diagonal_symmetric.mtx",
     ":4: found entry (1, 2) above the diagonal, expected entries on or below the diagonal "
     "(symmetric)"},
    {"array_size_line_of_three.mtx", ":2: found \"1 1 1\", expected the size line (rows, columns)"},
    {"array_too_few_values.mtx",
     ":5: found the end of the file after 3 of 4 entries, expected 1 more"},
    {"array_too_large.mtx",
     ":2: found 4000000000000 rows and 4000000000000 columns, expected an array of fewer than 2^63 "
     "entries"},
    {"array_too_many_values.mtx",
     ":6: found more than the 3 entries that the size line announces, expected the end of the "
     "file"},
    {"array_two_values_in_a_line.mtx", ":3: found \"2\", expected the end of the line"},
    {"array_value_not_a_number.mtx", ":4: found \"-\", expected a real number"},
    {"banner_cut_short.mtx",
     ":1: found the end of the line, expected \"real\", \"integer\", \"pattern\" or \"complex\""},
    {"banner_long.mtx", ":1: found \"sorted\", expected the end of the line"},
    {"banner_not_first.mtx", ":1: found \"%\", expected the banner \"%%MatrixMarket matrix ...\""},
    {"banner_one_percent.mtx",
     ":1: found \"%MatrixMarket\", expected the banner \"%%MatrixMarket matrix ...\""},
    {"banner_only.mtx", ":1: found the end of the file, expected the size line (rows, columns)"},
    {"column_index_0.mtx", ":3: found column index 0, expected an index from 1 to 3"},
    {"column_index_beyond.mtx", ":3: found column index 4, expected an index from 1 to 3"},
    {"column_index_word.mtx", ":3: found \"x\", expected a column index from 1 to 3"},
    {"columns_beyond_32_bits.mtx",
     ":2: found 2147483648 columns, expected at most 2147483647 (32-bit indices)"},
    {"comment_behind_value.mtx", ":3: found \"%\", expected the end of the line"},
    {"complex_without_imaginary_part.mtx",
     ":3: found the end of the line, expected an imaginary part"},
    {"control_bytes.mtx", ":3: found \"\\x01\\x02\", expected a real number"},
    {"empty_file.mtx", ": found an empty file, expected a Matrix Market file"},
    {"entries_in_empty_matrix.mtx",
     ":2: found 2 entries, expected 0 entries in a matrix of 0 rows and 3 columns"},
    {"garbage_behind_entries.mtx",
     ":5: found more than the 1 entries that the size line announces, expected the end of the "
     "file"},
    {"long_size_line.mtx",
     ":2: found \"3 3 1 1\", expected the size line (rows, columns, entries)"},
    {"long_word.mtx",
     ":3: found \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\", expected a real number"},
    {"mangle1.mtx", ":1: found \"junk\", expected \"matrix\""},
    {"mangle2.mtx", ":1: found \"junk\", expected \"array\" or \"coordinate\""},
    {"mangle3.mtx",
     ":1: found \"junk\", expected \"real\", \"integer\", \"pattern\" or \"complex\""},
    {"mangle4.mtx",
     ":1: found \"junk\", expected \"general\", \"symmetric\", \"skew-symmetric\" or "
     "\"hermitian\""},
    {"missing_column_index.mtx",
     ":3: found the end of the line, expected a column index from 1 to 3"},
    {"missing_size_line.mtx",
     ":3: found the end of the file, expected the size line (rows, columns, entries)"},
    {"missing_value.mtx", ":3: found the end of the line, expected a real number"},
    {"negative_size.mtx",
     ":2: found \"-3\", expected a number of columns from 0 to 9223372036854775807"},
    {"no_banner.mtx", ":1: found \"3\", expected the banner \"%%MatrixMarket matrix ...\""},
    {"no_entries_at_all.mtx",
     ":2: found the end of the file after 0 of 4 entries, expected 4 more"},
    {"on_diagonal_skew_symmetric.mtx",
     ":4: found entry (2, 2) on the diagonal, expected entries below the diagonal "
     "(skew-symmetric)"},
    {"only_newlines.mtx",
     ":1: found a blank line, expected the banner \"%%MatrixMarket matrix ...\""},
    {"pattern_array.mtx",
     ":1: found \"pattern\" with \"array\", expected \"real\", \"integer\" or \"complex\""},
    {"pattern_skew_symmetric.mtx",
     ":1: found \"skew-symmetric\" with \"pattern\", expected \"general\" or \"symmetric\""},
    {"real_hermitian.mtx", ":1: found \"hermitian\" with \"real\", expected \"complex\""},
    {"row_index_0.mtx", ":4: found row index 0, expected an index from 1 to 3"},
    {"row_index_beyond.mtx", ":3: found row index 4, expected an index from 1 to 3"},
    {"row_index_beyond_64_bits.mtx",
     ":3: found row index 18446744073709551617, expected an index from 1 to 3"},
    {"row_index_negative.mtx", ":3: found row index -1, expected an index from 1 to 3"},
    {"row_index_real.mtx", ":3: found \"1.0\", expected a row index from 1 to 3"},
    {"rows_beyond_32_bits.mtx",
     ":2: found 3000000000 rows, expected at most 2147483647 (32-bit indices)"},
    {"short_size_line.mtx", ":3: found \"3 3\", expected the size line (rows, columns, entries)"},
    {"size_beyond_64_bits.mtx",
     ":2: found \"99999999999999999999\", expected a number of columns from 0 to "
     "9223372036854775807"},
    {"size_not_a_number.mtx",
     ":2: found \"1.5\", expected a number of entries from 0 to 9223372036854775807"},
    {"symmetric_not_square.mtx",
     ":2: found 3 rows and 4 columns, expected as many rows as columns (symmetric)"},
    {"too_few_entries.mtx", ":5: found the end of the file after 3 of 4 entries, expected 1 more"},
    {"too_few_entries_no_newline.mtx",
     ":4: found the end of the file after 2 of 4 entries, expected 2 more"},
    {"too_many_entries.mtx",
     ":6: found more than the 2 entries that the size line announces, expected the end of the "
     "file"},
    {"truncated.mtx.gz",
     ": found gzip stream cut off after 5000 bytes, expected its end with checksum and length"},
    {"value_half_a_number.mtx", ":3: found \"1.5x\", expected a real number"},
    {"value_in_pattern_file.mtx", ":3: found \"1\", expected the end of the line"},
    {"value_not_a_number.mtx", ":4: found \"abc\", expected a real number"},
    {"value_real_in_integer_file.mtx", ":3: found \"1.5\", expected an integer"},
    {"value_too_large.mtx",
     ":3: found \"1e999\", expected a real number of magnitude up to 1.7976931348623157e+308"},
    {"value_two_signs.mtx", ":3: found \"+-1\", expected a real number"},
};

template <class Value, class Idx = std::int32_t>
std::string message(const std::string& path) {
  try {
    (void)read_matrix_market<Value, Idx>(context(), path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

class InvalidFiles : public testing::TestWithParam<InvalidFile> {};

TEST_P(InvalidFiles, AreRefusedWithAnExactMessage) {
  const std::string path = fixture(std::string("invalid/") + GetParam().name);
  // Complex entries are the type that can take every file.
  EXPECT_EQ(message<std::complex<double>>(path), path + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(MatrixMarket, InvalidFiles, testing::ValuesIn(invalid_files),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(InvalidFiles, AllFixturesAreInTheTable) {
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(fixture("invalid"))) {
    files.insert(file.path().filename());
  }
  std::set<std::string> names;
  for (const InvalidFile& file : invalid_files) names.insert(file.name);
  EXPECT_EQ(files, names);
}

TEST(InvalidFiles, HeadersAreRefusedWithTheSameMessageByTheHeaderReader) {
  for (const char* name : {"mangle1.mtx", "short_size_line.mtx", "empty_file.mtx",
                           "banner_only.mtx", "missing_size_line.mtx", "real_hermitian.mtx"}) {
    const std::string path = fixture(std::string("invalid/") + name);
    try {
      (void)read_matrix_market_header(path);
      ADD_FAILURE() << name << ": no error";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), message<std::complex<double>>(path));
    }
  }
}

TEST(InvalidFiles, ComplexEntriesDoNotFitRealOnes) {
  const std::string path = fixture("valid/young1c.mtx");
  const std::string expected =
      path + ":1: found \"complex\", expected \"real\", \"integer\" or \"pattern\"";
  EXPECT_EQ(message<double>(path), expected);
  EXPECT_EQ((message<float, std::int64_t>(path)), expected);
}

TEST(InvalidFiles, WideIndicesTakeWhatNarrowOnesDoNot) {
  const auto matrix = read_matrix_market<double, std::int64_t>(
      context(), fixture("invalid/columns_beyond_32_bits.mtx"));
  EXPECT_EQ(matrix.cols, 2147483648);
}

TEST(InvalidFiles, RangeOfNumbersIsThatOfTheType) {
  const std::string path = fixture("valid/duplicates.mtx");
  EXPECT_EQ(message<float>(path), "no error");
  const std::string large = fixture("invalid/value_too_large.mtx");
  EXPECT_EQ(message<float>(large),
            large + ":3: found \"1e999\", expected a real number of magnitude up to 3.4028235e+38");
}

TEST(InvalidFiles, MissingFile) {
  EXPECT_THAT(message<double>(fixture("valid/not_there.mtx")),
              testing::StartsWith(fixture("valid/not_there.mtx") + ": "));
}

TEST(InvalidFiles, SizesBeyondMemoryAreRefusedBeforeTheyAreTaken) {
  for (const char* rows : {"1000000000000000", "9223372036854775807"}) {
    const std::string text =
        std::string("%%MatrixMarket matrix coordinate real general\n") + rows + " 1 0\n";
    try {
      (void)parse_matrix_market<double, std::int64_t>(context(), "text", text);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
      EXPECT_THAT(error.what(),
                  testing::StartsWith("text: out of memory: building the rows needs"));
    }
  }
}

// The text, the entries and the rows are in memory at the same time, and all count.
TEST(InvalidFiles, MemoryBudgetCountsTheTextTheEntriesAndTheRows) {
  const std::string path = fixture("valid/can___24.mtx");
  const std::uint64_t text = std::filesystem::file_size(path);
  const std::uint64_t entries = 92 * 2 * sizeof(std::int32_t);  // a pattern has no numbers
  const auto message_within = [&](std::uint64_t bytes) {
    Context limited = context();
    limited.memory_budget = bytes;
    return error_message(ErrorKind::out_of_memory,
                         [&] { (void)read_matrix_market<double>(limited, path); });
  };
  const auto begins = [&](const char* what) {
    return testing::StartsWith(path + ": out of memory: " + what + " needs ");
  };
  EXPECT_THAT(message_within(text), begins("reading the file"));
  EXPECT_THAT(message_within(text + 1), begins("reading the entries"));
  EXPECT_THAT(message_within(text + entries), begins("building the rows"));
  EXPECT_EQ(message_within(text + 10 * entries), "no error");
}

}  // namespace
}  // namespace sortie::test
