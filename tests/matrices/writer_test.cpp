// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/random.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "tests/matrices/matrix_types.hpp"
#include "tests/matrices/reference_writer.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/pipe_reader.hpp"
#include "tests/support/temporary_folder.hpp"

/// The bytes of the writer, against std::to_chars, and its faults. CMakeLists.txt repeats these
/// tests with several numbers of threads.

namespace sortie::test {
namespace {

using namespace sortie::matrices;

/// More entries than are formatted at once, by any number of threads of these tests.
constexpr std::int64_t many_entries = 300'000;

/// A matrix with rows of these lengths, whose columns are drawn from all that the type holds, and
/// whose values are of all kinds.
template <class Types>
typename Types::Csr matrix_of(const std::vector<std::int64_t>& lengths, std::uint64_t seed) {
  using Value = typename Types::value_type;
  using Idx = typename Types::index_type;
  using Real = std::conditional_t<std::is_same_v<Value, float>, float, double>;
  Random random(seed);
  const auto real = [&random] {
    switch (random.below(4)) {
      case 0:
        return static_cast<Real>(random.below(100));
      case 1:
        return -static_cast<Real>(random.below(100'000'000));
      case 2:
        return static_cast<Real>(random.below(1'000'000)) / Real(1000);
      default:
        return static_cast<Real>(random.uniform() * 1e10);
    }
  };
  typename Types::Csr matrix;
  matrix.rows = std::ssize(lengths);
  matrix.cols = std::numeric_limits<Idx>::max();
  for (const std::int64_t length : lengths) {
    matrix.row_ptr.push_back(matrix.row_ptr.back() + length);
    // Ascending in steps of random size, small ones at first.
    const auto most =
        static_cast<std::uint64_t>(matrix.cols) / static_cast<std::uint64_t>(length + 1);
    auto column = static_cast<Idx>(random.below(10));
    for (std::int64_t i = 0; i < length; ++i) {
      matrix.col_idx.push_back(column);
      column += static_cast<Idx>(
          1 + random.below(i < length / 2 ? std::min<std::uint64_t>(most, 9) : most));
      if constexpr (std::is_same_v<Value, Real>) {
        matrix.values.push_back(real());
      } else {
        const Real first = real();
        matrix.values.emplace_back(first, real());
      }
    }
  }
  return matrix;
}

/// Lengths of rows, most of them empty, with about `total` entries.
std::vector<std::int64_t> uneven_lengths(std::int64_t total, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> lengths;
  for (std::int64_t sum = 0; sum < total; sum += lengths.back()) {
    const std::uint64_t kind = random.below(100);
    lengths.push_back(kind < 60 ? 0
                                : static_cast<std::int64_t>(random.below(kind < 99 ? 20 : 50'000)));
  }
  lengths.insert(lengths.end(), 5, 0);
  return lengths;
}

template <class Matrix>
std::string head_of(const Matrix& matrix, std::string_view field) {
  return "%%MatrixMarket matrix coordinate " + std::string(field) + " general\n" +
         std::to_string(matrix.rows) + " " + std::to_string(matrix.cols) + " " +
         std::to_string(matrix.nnz()) + "\n";
}

template <class Value>
constexpr std::string_view field_of =
    std::is_same_v<Value, std::complex<double>> ? "complex" : "real";

template <class Types>
class MatrixWriter : public testing::Test {};
TYPED_TEST_SUITE(MatrixWriter, AllMatrixTypes);

TYPED_TEST(MatrixWriter, BytesOfStdToChars) {
  const TemporaryFolder folder;
  const std::string path = folder.path("matrix.mtx");
  const std::vector<std::vector<std::int64_t>> shapes{
      {},
      {0},
      {1},
      {0, 0, 1, 0},
      std::vector<std::int64_t>(2000, 1),
      {many_entries},         // every block begins inside the row
      {0, 32'768, 0, 65'536}  // and at the begin of a row
  };
  std::uint64_t seed = 0;
  for (const auto& lengths : shapes) {
    const auto matrix = matrix_of<TypeParam>(lengths, ++seed);
    write_matrix_market(context(), path, matrix);
    EXPECT_TRUE(content_of(path) == head_of(matrix, field_of<typename TypeParam::value_type>) +
                                        reference_entries(matrix))
        << seed;
  }
  const auto matrix = matrix_of<TypeParam>(uneven_lengths(many_entries, 3), 4);
  write_matrix_market(context(), path, matrix);
  EXPECT_TRUE(content_of(path) == head_of(matrix, field_of<typename TypeParam::value_type>) +
                                      reference_entries(matrix));
  const auto pattern = pattern_of(matrix);
  write_matrix_market(context(), path, pattern);
  EXPECT_TRUE(content_of(path) == head_of(pattern, "pattern") + reference_entries(pattern));
}

TYPED_TEST(MatrixWriter, TheSameBytesIntoAPipe) {
  PipeReader pipe;
  const auto matrix = matrix_of<TypeParam>(uneven_lengths(many_entries, 5), 6);
  write_matrix_market(context(), pipe.path(), matrix);
  EXPECT_TRUE(pipe.text() == head_of(matrix, field_of<typename TypeParam::value_type>) +
                                 reference_entries(matrix));
}

TEST(MatrixWriterElements, IntegersBoolsAndComplexFloats) {
  const TemporaryFolder folder;
  const auto written = [&]<class Value>(const std::vector<Value>& values) {
    const std::string path = folder.path("matrix.mtx");
    const auto entries = static_cast<std::int64_t>(values.size());
    write_matrix_market(context(), path,
                        Csr<Value, std::int64_t>{1, 9, {0, entries}, {0, 7, 8}, values});
    return content_of(path);
  };
  const std::string size = "1 9 3\n";
  const std::string integer = "%%MatrixMarket matrix coordinate integer general\n" + size;
  using Least = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(written(std::vector<std::int64_t>{Least::min(), Least::max(), 0}),
            integer + "1 1 -9223372036854775808\n1 8 9223372036854775807\n1 9 0\n");
  EXPECT_EQ(written(std::vector<std::int32_t>{-2147483647 - 1, 100'000, -7}),
            integer + "1 1 -2147483648\n1 8 100000\n1 9 -7\n");
  EXPECT_EQ(written(std::vector<std::uint8_t>{1, 0, 1}), integer + "1 1 1\n1 8 0\n1 9 1\n");
  EXPECT_EQ(written(std::vector<std::complex<float>>{{0.1F, -2}, {3, 0}, {0, 1e20F}}),
            "%%MatrixMarket matrix coordinate complex general\n" + size +
                "1 1 0.1 -2\n1 8 3 0\n1 9 0 1e+20\n");
}

Csr<double> large_matrix() {
  return matrix_of<MatrixTypes<double, std::int32_t>>(uneven_lengths(many_entries, 7), 8);
}

TEST(MatrixWriterFaults, AFullDiskLeavesNothing) {
  const auto matrix = large_matrix();
  for (const rlim_t limit : {0, 10, 1 << 20, 3 << 20}) {
    const TemporaryFolder folder;
    const std::string path = folder.path("matrix.mtx");
    expect_error(
        [&] {
          const FileSizeLimit full(limit);
          write_matrix_market(context(), path, matrix);
        },
        ErrorKind::output, path + ": cannot be written: File too large");
    EXPECT_EQ(folder.entries(), 0U);
    expect_error(
        [&] {
          const FileSizeLimit full(limit);
          MatrixMarketRows<double, std::int32_t> file(context(), path, matrix.rows, matrix.cols);
          file.append(matrix);
          file.commit();
        },
        ErrorKind::output, path + ": cannot be written: File too large");
    EXPECT_EQ(folder.entries(), 0U);
  }
}

TEST(MatrixWriterFaults, AFullDevice) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this machine has no /dev/full";
  for (const std::vector<std::int64_t>& lengths : {uneven_lengths(many_entries, 7), {1, 2}}) {
    const auto matrix = matrix_of<MatrixTypes<double, std::int32_t>>(lengths, 1);
    expect_error([&] { write_matrix_market(context(), "/dev/full", matrix); }, ErrorKind::output,
                 "/dev/full: cannot be written: No space left on device");
  }
}

TEST(MatrixWriterFaults, APipeThatIsClosed) {
  const IgnoredSignal ignored(SIGPIPE);
  const auto matrix = large_matrix();
  for (const std::size_t most : {1, 2'000'000}) {
    PipeReader pipe(most);
    expect_error([&] { write_matrix_market(context(), pipe.path(), matrix); }, ErrorKind::output,
                 pipe.path() + ": cannot be written: Broken pipe");
  }
}

TEST(MatrixWriterProgress, IsToldOnTheCallingThread) {
  const TemporaryFolder folder;
  const auto caller = std::this_thread::get_id();
  std::vector<std::uint64_t> told;
  std::uint64_t last_total = 0;
  HostContext context = test::context();
  context.progress = [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(phase, "write matrix");
    told.push_back(done);
    last_total = total;
  };
  write_matrix_market(context, folder.path("matrix.mtx"), large_matrix());
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end(), std::less_equal<>()));
  EXPECT_EQ(told.back(), last_total);
}

}  // namespace
}  // namespace sortie::test
