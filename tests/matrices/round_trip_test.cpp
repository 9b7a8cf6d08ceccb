// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/random.hpp"
#include "matrices/generators.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "tests/matrices/matrix_types.hpp"
#include "tests/support/backend.hpp"

namespace sortie::test {
namespace {

using namespace sortie::matrices;

// A folder of its own for a test, removed at its end.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("sortie_round_trip_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Csr>
Csr write_and_read(const Csr& matrix) {
  const Folder folder;
  const std::string path = folder.file("matrix.mtx");
  write_matrix_market(context(), path, matrix);
  return read_matrix_market<typename Csr::value_type, typename Csr::index_type>(context(), path);
}

template <class Types>
class RoundTrip : public testing::Test {};
TYPED_TEST_SUITE(RoundTrip, AllMatrixTypes);

TYPED_TEST(RoundTrip, Generated) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  // The first has more entries than the writer formats at once, the second rows longer than that.
  const auto power = power_law<Value, Idx>(5000, 700, 0.5, 100, 1);
  EXPECT_GT(power.nnz(), 40000);
  EXPECT_EQ(write_and_read(power), power);
  const auto wide = erdos_renyi<Value, Idx>(2, 80000, 70000, 2);
  EXPECT_EQ(write_and_read(wide), wide);
}

TYPED_TEST(RoundTrip, EdgeShapes) {
  using Csr = typename TypeParam::Csr;
  for (const auto& [rows, cols] :
       {std::pair{0, 0}, std::pair{0, 7}, std::pair{7, 0}, std::pair{3, 4}}) {
    Csr empty;
    empty.rows = rows;
    empty.cols = cols;
    empty.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
    EXPECT_EQ(write_and_read(empty), empty);
  }
}

TYPED_TEST(RoundTrip, EveryBitOfEveryNumber) {
  using Value = typename TypeParam::value_type;
  using Real = std::conditional_t<std::is_same_v<Value, float>, float, double>;
  using Bits = std::conditional_t<std::is_same_v<Value, float>, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<Real>;
  std::vector<Real> numbers{0,
                            Real(-0.0),
                            1,
                            Real(0.1),
                            Limits::min(),
                            Limits::denorm_min(),
                            Limits::max(),
                            Limits::lowest(),
                            Limits::infinity(),
                            -Limits::infinity(),
                            -Limits::denorm_min(),
                            Limits::epsilon()};
  Random random(5);
  while (numbers.size() < 20000) {
    const auto number = std::bit_cast<Real>(static_cast<Bits>(random.next()));
    if (!std::isnan(number)) numbers.push_back(number);
  }
  typename TypeParam::Csr matrix;
  matrix.rows = 1;
  matrix.cols = std::ssize(numbers);
  matrix.row_ptr = {0, matrix.cols};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    matrix.col_idx.push_back(static_cast<typename TypeParam::index_type>(i));
    if constexpr (std::is_same_v<Value, std::complex<double>>) {
      matrix.values.emplace_back(numbers[i], numbers[numbers.size() - 1 - i]);
    } else {
      matrix.values.push_back(numbers[i]);
    }
  }
  const auto read = write_and_read(matrix);
  ASSERT_EQ(read.values.size(), matrix.values.size());
  EXPECT_EQ(0, std::memcmp(read.values.data(), matrix.values.data(),
                           matrix.values.size() * sizeof(Value)));
}

TEST(WriteMatrixMarket, Text) {
  const Folder folder;
  const Csr<double> real{.rows = 3,
                         .cols = 4,
                         .row_ptr = {0, 2, 2, 4},
                         .col_idx = {0, 3, 1, 2},
                         .values = {1, -0.1, 1e300, 123456}};
  write_matrix_market(context(), folder.file("real.mtx"), real);
  EXPECT_EQ(slurp(folder.file("real.mtx")),
            "%%MatrixMarket matrix coordinate real general\n3 4 4\n"
            "1 1 1\n1 4 -0.1\n3 2 1e+300\n3 3 123456\n");
  const Csr<std::complex<double>> complex{
      .rows = 1, .cols = 1, .row_ptr = {0, 1}, .col_idx = {0}, .values = {{0.5, -2}}};
  write_matrix_market(context(), folder.file("complex.mtx"), complex);
  EXPECT_EQ(slurp(folder.file("complex.mtx")),
            "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0.5 -2\n");
}

TEST(WriteMatrixMarket, Pattern) {
  const Folder folder;
  const Csr<double> matrix = erdos_renyi<double>(300, 400, 150, 1);  // more than one block
  const auto pattern = pattern_of(matrix);
  write_matrix_market(context(), folder.file("pattern.mtx"), pattern);
  const std::string text = slurp(folder.file("pattern.mtx"));
  EXPECT_EQ(text.substr(0, 63),
            "%%MatrixMarket matrix coordinate pattern general\n300 400 45000\n");
  MatrixMarketHeader header;
  const auto read = read_matrix_market<double>(context(), folder.file("pattern.mtx"), &header);
  EXPECT_EQ(header.field, Field::pattern);
  EXPECT_EQ(read, with_ones<double>(pattern));
}

/// Rows first .. first + count as a matrix of their own.
template <class Matrix>
Matrix rows_of(const Matrix& matrix, std::int64_t first, std::int64_t count) {
  Matrix part;
  part.rows = count;
  part.cols = matrix.cols;
  const std::int64_t begin = matrix.row_ptr[first];
  for (std::int64_t row = first + 1; row <= first + count; ++row)
    part.row_ptr.push_back(matrix.row_ptr[row] - begin);
  part.col_idx.assign(matrix.col_idx.begin() + begin,
                      matrix.col_idx.begin() + begin + part.row_ptr.back());
  part.values.assign(matrix.values.begin() + begin,
                     matrix.values.begin() + begin + part.row_ptr.back());
  return part;
}

TYPED_TEST(RoundTrip, InChunksOfRows) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  const Folder folder;
  const auto matrix = power_law<Value, Idx>(5000, 700, 0.5, 100, 1);
  write_matrix_market(context(), folder.file("whole.mtx"), matrix);
  const std::string whole = slurp(folder.file("whole.mtx"));
  const std::size_t sizes = whole.find('\n') + 1;
  for (const std::int64_t rows : {1, 7, 1999, 5000}) {
    MatrixMarketRows<Value, Idx> file(context(), folder.file("rows.mtx"), matrix.rows, matrix.cols);
    for (std::int64_t first = 0; first < matrix.rows; first += rows)
      file.append(rows_of(matrix, first, std::min(rows, matrix.rows - first)));
    EXPECT_EQ(file.nnz(), matrix.nnz());
    EXPECT_FALSE(std::filesystem::exists(folder.file("rows.mtx")));
    file.commit();
    const std::string text = slurp(folder.file("rows.mtx"));
    // A comment line, and else the same bytes.
    const std::size_t end_of_comment = text.find('\n', sizes) + 1;
    EXPECT_EQ(text.substr(sizes, 1), "%");
    EXPECT_EQ(text.substr(0, sizes) + text.substr(end_of_comment), whole);
    EXPECT_EQ((read_matrix_market<Value, Idx>(context(), folder.file("rows.mtx"))), matrix);
    std::filesystem::remove(folder.file("rows.mtx"));
  }
}

TEST(MatrixMarketInChunks, TextWithoutRowsAndEntries) {
  const Folder folder;
  MatrixMarketRows<double, std::int32_t> file(context(), folder.file("rows.mtx"), 0, 12);
  file.commit();
  EXPECT_EQ(slurp(folder.file("rows.mtx")),
            "%%MatrixMarket matrix coordinate real general\n%                  \n0 12 0\n");
}

TEST(MatrixMarketInChunks, RefusesRowsThatDoNotBelong) {
  const Folder folder;
  const auto matrix = erdos_renyi<double>(4, 5, 2, 1);
  {
    MatrixMarketRows<double, std::int32_t> file(context(), folder.file("rows.mtx"), 6, 5);
    file.append(matrix);
    EXPECT_THROW(file.append(matrix), Error);
    EXPECT_THROW(file.append(erdos_renyi<double>(2, 6, 2, 1)), Error);
    EXPECT_THROW(file.commit(), Error);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("rows.mtx")));
  for (const char* path : {"-", "/dev/null"}) {
    try {
      const MatrixMarketRows<double, std::int32_t> file(context(), path, 6, 5);
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::output);
    }
  }
}

TEST(WriteMatrixMarket, RefusesAFolderThatIsNotThere) {
  const Folder folder;
  try {
    write_matrix_market(context(), folder.file("missing/matrix.mtx"), Csr<double>{});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::output);
    EXPECT_THAT(error.what(), testing::HasSubstr("missing/matrix.mtx"));
  }
}

}  // namespace
}  // namespace sortie::test
