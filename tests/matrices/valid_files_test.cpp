// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "matrices/matrix_market_text.hpp"
#include "sortie/matrix_market.hpp"
#include "tests/matrices/matrix_types.hpp"
#include "tests/matrices/reference_reader.hpp"
#include "tests/support/backend.hpp"

namespace sortie::test {
namespace {

using namespace sortie::matrices;

std::vector<std::string> valid_files() {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(fixture("valid"))) {
    if (file.path().extension() == ".mtx") names.insert(file.path().stem());
  }
  return {names.begin(), names.end()};
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = "file_" + info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

template <class Value>
Value convert(std::complex<double> value) {
  if constexpr (std::is_same_v<Value, std::complex<double>>) return value;
  return static_cast<Value>(value.real());
}

// Matrices of float are compared with sums of double rounded once: no fixture has duplicates for
// which that differs, but for the one named.
template <class Value, class Idx>
void expect_reference(const std::string& path) {
  if (std::is_same_v<Value, float> && path.ends_with("/duplicates.mtx")) return;
  const ReferenceMatrix expected = read_reference(path);
  const auto matrix = read_matrix_market<Value, Idx>(context(), path);
  validate(matrix);
  EXPECT_EQ(matrix.rows, expected.rows);
  EXPECT_EQ(matrix.cols, expected.cols);
  const Coo<Value, Idx> coo = to_coo(matrix);
  ASSERT_EQ(static_cast<std::size_t>(coo.nnz()), expected.entries.size());
  std::size_t i = 0;
  for (const auto& [place, value] : expected.entries) {
    EXPECT_EQ(coo.row_idx[i], place.first);
    EXPECT_EQ(coo.col_idx[i], place.second);
    EXPECT_EQ(coo.values[i], convert<Value>(value))
        << "row " << place.first << " column " << place.second;
    ++i;
  }
}

class ValidFiles : public testing::TestWithParam<std::string> {};

TEST_P(ValidFiles, ReadAsByThePlainReader) {
  const std::string path = fixture("valid/" + GetParam() + ".mtx");
  expect_reference<std::complex<double>, std::int32_t>(path);
  expect_reference<std::complex<double>, std::int64_t>(path);
  if (read_matrix_market_header(path).field == Field::complex) return;
  expect_reference<float, std::int32_t>(path);
  expect_reference<float, std::int64_t>(path);
  expect_reference<double, std::int32_t>(path);
  expect_reference<double, std::int64_t>(path);
}

INSTANTIATE_TEST_SUITE_P(MatrixMarket, ValidFiles, testing::ValuesIn(valid_files()), test_name);

// Figures by scipy.io.mmread: an independent witness beside the plain reader.
struct Figures {
  const char* file;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  double weighted_sum;  // of value * (3 * row + col + 1), both from 0; real part
};

class KnownMatrices : public testing::TestWithParam<Figures> {};

TEST_P(KnownMatrices, HaveTheFiguresOfScipy) {
  const Figures& known = GetParam();
  const auto matrix = read_matrix_market<std::complex<double>>(context(), fixture(known.file));
  EXPECT_EQ(matrix.rows, known.rows);
  EXPECT_EQ(matrix.cols, known.cols);
  EXPECT_EQ(matrix.nnz(), known.nnz);
  const auto coo = to_coo(matrix);
  double sum = 0;
  for (std::size_t i = 0; i < coo.values.size(); ++i) {
    sum += coo.values[i].real() * (3.0 * coo.row_idx[i] + coo.col_idx[i] + 1.0);
  }
  EXPECT_NEAR(sum, known.weighted_sum, 1e-9 * std::abs(known.weighted_sum));
}

INSTANTIATE_TEST_SUITE_P(
    MatrixMarket, KnownMatrices,
    testing::Values(Figures{"valid/3by0.mtx", 3, 0, 0, 0.0},
                    Figures{"valid/can___24.mtx", 24, 24, 160, 7396.0},
                    Figures{"valid/impcol_a.mtx", 207, 207, 572, 1693933.7265569828},
                    Figures{"valid/young1c.mtx", 841, 841, 4089, 32579232.26806003},
                    Figures{"valid/lp_share1b.mtx", 117, 253, 1179, 6502984.0249},
                    Figures{"valid/pts5ldd03.mtx", 161, 161, 745, 1232640.0},
                    Figures{"valid/plskz362.mtx", 362, 362, 1760, -1965.076390944755},
                    Figures{"valid/bcspwr10.mtx", 5300, 5300, 21842, 268229482.0},
                    Figures{"valid/jagmesh7.mtx", 1138, 1138, 7450, 16926582.0},
                    Figures{"valid/Erdos971.mtx", 472, 472, 2628, 2564724.0}),
    [](const auto& info) { return "matrix_" + std::to_string(info.index); });

TEST(ReadMatrixMarket, RecognisesGzipByContent) {
  const auto plain = read_matrix_market<double>(context(), fixture("valid/can___24.mtx"));
  EXPECT_EQ(read_matrix_market<double>(context(), fixture("valid/can___24.mtx.gz")), plain);
}

TEST(ReadMatrixMarket, GivesTheHeader) {
  MatrixMarketHeader header;
  const auto matrix = read_matrix_market<std::complex<double>>(
      context(), fixture("valid/array_hermitian.mtx"), &header);
  EXPECT_EQ(matrix.nnz(), 4);
  EXPECT_FALSE(header.coordinate);
  EXPECT_EQ(header.field, Field::complex);
  EXPECT_EQ(header.symmetry, Symmetry::hermitian);
  EXPECT_EQ(header.rows, 2);
  EXPECT_EQ(header.cols, 2);
  EXPECT_EQ(header.entries, 3);
}

TEST(ReadMatrixMarket, HeaderAloneIsTheSame) {
  for (const std::string& name : valid_files()) {
    const std::string path = fixture("valid/" + name + ".mtx");
    MatrixMarketHeader expected;
    (void)read_matrix_market<std::complex<double>>(context(), path, &expected);
    const MatrixMarketHeader header = read_matrix_market_header(path);
    EXPECT_EQ(header.coordinate, expected.coordinate) << name;
    EXPECT_EQ(header.field, expected.field) << name;
    EXPECT_EQ(header.symmetry, expected.symmetry) << name;
    EXPECT_EQ(header.rows, expected.rows) << name;
    EXPECT_EQ(header.cols, expected.cols) << name;
    EXPECT_EQ(header.entries, expected.entries) << name;
  }
}

TEST(ReadMatrixMarket, HeaderBehindManyComments) {
  // More comments than the header reader takes in at once.
  std::string text = "%%MatrixMarket matrix coordinate real general\n";
  for (int i = 0; i < 5000; ++i) text += "% a comment that is about forty bytes long\n";
  text += "7 8 0\n";
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "sortie_many_comments.mtx";
  std::ofstream(path) << text;
  const MatrixMarketHeader header = read_matrix_market_header(path);
  std::filesystem::remove(path);
  EXPECT_EQ(header.rows, 7);
  EXPECT_EQ(header.cols, 8);
  EXPECT_EQ(parse_matrix_market_header("text", text).cols, 8);
}

TEST(ReadMatrixMarket, SumsDuplicatesInFileOrder) {
  const auto matrix = read_matrix_market<double>(context(), fixture("valid/duplicates.mtx"));
  // (1e16 + 1) - 1e16 + 0.5 in this order: the 1 is lost, the 0.5 is not.
  EXPECT_THAT(matrix.values, testing::ElementsAre(3, 5, 0.5));
}

TEST(ReadMatrixMarket, KeepsZerosOfCoordinateFilesWithTheirSign) {
  const auto matrix = read_matrix_market<double>(context(), fixture("valid/explicit_zeros.mtx"));
  EXPECT_THAT(matrix.values, testing::ElementsAre(0, 1, 0));
  EXPECT_TRUE(std::signbit(matrix.values[2]));
}

TEST(ReadMatrixMarket, ReadsInfinityAndNan) {
  const std::string_view text =
      "%%MatrixMarket matrix coordinate real general\n1 3 3\n1 1 inf\n1 2 -Infinity\n1 3 nan\n";
  const auto matrix = parse_matrix_market<double>(context(), "text", text);
  EXPECT_EQ(matrix.values[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(matrix.values[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(matrix.values[2]));
}

TEST(ReadMatrixMarket, ReportsProgress) {
  Context with_progress = context();
  std::vector<std::string> phases = {""};
  std::uint64_t last_done = 0;
  std::uint64_t last_total = 0;
  with_progress.progress = [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
    if (phase != phases.back()) {
      EXPECT_EQ(last_done, last_total) << phases.back();
      phases.emplace_back(phase);
      last_done = 0;
    }
    EXPECT_GE(done, last_done);
    last_done = done;
    last_total = total;
  };
  (void)read_matrix_market<double>(with_progress, fixture("valid/can___24.mtx"));
  EXPECT_THAT(phases, testing::ElementsAre("", "read", "parse matrix"));
  EXPECT_GT(last_done, 0U);
  EXPECT_EQ(last_done, last_total);
}

}  // namespace
}  // namespace sortie::test
