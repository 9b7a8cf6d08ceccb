// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "matrices/generators.hpp"
#include "sortie/npz.hpp"
#include "tests/matrices/matrix_types.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/pipe_reader.hpp"
#include "tests/support/temporary_folder.hpp"

/// What the writer of .npz files writes, read again, byte for byte, and its faults. CMakeLists.txt
/// repeats these tests with several numbers of threads.

namespace sortie::test {
namespace {

using namespace sortie::matrices;

/// A matrix of several blocks, with values of any bits.
template <class Types>
typename Types::Csr large_matrix() {
  using Value = typename Types::value_type;
  auto matrix = power_law<Value, typename Types::index_type>(20'000, 30'000, 0.5, 60, 1);
  EXPECT_GT(matrix.nnz(), 300'000);
  Random random(2);
  auto* const bytes = reinterpret_cast<unsigned char*>(matrix.values.data());
  for (std::size_t i = 0; i < matrix.values.size() * sizeof(Value); i += 3)
    bytes[i] = static_cast<unsigned char>(random.next());
  return matrix;
}

/// Equality of bits, also of NaN.
template <class Csr>
bool same_bits(const Csr& a, const Csr& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col_idx == b.col_idx &&
         a.values.size() == b.values.size() &&
         (a.values.empty() || std::memcmp(a.values.data(), b.values.data(),
                                          a.values.size() * sizeof(a.values[0])) == 0);
}

/// Rows first .. first + count as a matrix of their own.
template <class Matrix>
Matrix some_rows(const Matrix& matrix, std::int64_t first, std::int64_t count) {
  const auto row_ptr = matrix.row_ptr.begin() + first;
  const std::int64_t begin = row_ptr[0];
  const std::int64_t end = row_ptr[count];
  Matrix part{count,
              matrix.cols,
              {row_ptr, row_ptr + count + 1},
              {matrix.col_idx.begin() + begin, matrix.col_idx.begin() + end},
              {matrix.values.begin() + begin, matrix.values.begin() + end}};
  for (std::int64_t& offset : part.row_ptr) offset -= begin;
  return part;
}

template <class Types>
class NpzWriter : public testing::Test {};
TYPED_TEST_SUITE(NpzWriter, AllMatrixTypes);

TYPED_TEST(NpzWriter, ReadsAgainBitForBit) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  const TemporaryFolder folder;
  const std::string path = folder.path("a.npz");
  const auto matrix = large_matrix<TypeParam>();
  write_npz(context(), path, matrix);
  NpzHeader header;
  EXPECT_TRUE(same_bits(read_npz<Value, Idx>(context(), path, &header), matrix));
  EXPECT_EQ(header.rows, matrix.rows);
  EXPECT_EQ(header.cols, matrix.cols);
  EXPECT_EQ(header.entries, matrix.nnz());
  EXPECT_EQ(header.format, "csr");
  EXPECT_EQ(header.complex, (std::is_same_v<Value, std::complex<double>>));
  EXPECT_EQ(folder.entries(), 1U);
}

TYPED_TEST(NpzWriter, EdgeShapes) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  const TemporaryFolder folder;
  const std::string path = folder.path("a.npz");
  const std::int64_t most = std::numeric_limits<Idx>::max();
  for (const auto& [rows, cols] :
       {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 7}, {7, 0}, {3, 4}, {0, most}}) {
    typename TypeParam::Csr matrix;
    matrix.rows = rows;
    matrix.cols = cols;
    matrix.row_ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
    write_npz(context(), path, matrix);
    EXPECT_EQ((read_npz<Value, Idx>(context(), path)), matrix);
    const std::string whole = content_of(path);
    std::filesystem::remove(path);  // replacing a file writes it to the disk, which takes time
    NpzRows<Value, Idx> file(context(), path, rows, cols);
    file.append(matrix);
    file.commit();
    EXPECT_EQ(content_of(path), whole);
    std::filesystem::remove(path);
  }
  const typename TypeParam::Csr last{1, most, {0, 2}, {0, static_cast<Idx>(most - 1)}, {0, 1}};
  write_npz(context(), path, last);
  EXPECT_EQ((read_npz<Value, Idx>(context(), path)), last);
}

TYPED_TEST(NpzWriter, ChunksOfRowsGiveTheSameBytes) {
  using Value = typename TypeParam::value_type;
  using Idx = typename TypeParam::index_type;
  const TemporaryFolder folder;
  const auto matrix = large_matrix<TypeParam>();
  write_npz(context(), folder.path("whole.npz"), matrix);
  const std::string whole = content_of(folder.path("whole.npz"));
  const std::string path = folder.path("rows.npz");
  for (const std::int64_t rows : {197, 19'999}) {
    NpzRows<Value, Idx> file(context(), path, matrix.rows, matrix.cols);
    for (std::int64_t first = 0; first < matrix.rows; first += rows)
      file.append(some_rows(matrix, first, std::min(rows, matrix.rows - first)));
    EXPECT_EQ(file.nnz(), matrix.nnz());
    EXPECT_EQ(file.rows_written(), matrix.rows);
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
    EXPECT_TRUE(content_of(path) == whole) << rows;
    std::filesystem::remove(path);
  }
}

TYPED_TEST(NpzWriter, PipesGetTheSameBytes) {
  const TemporaryFolder folder;
  const auto matrix = large_matrix<TypeParam>();
  write_npz(context(), folder.path("a.npz"), matrix);
  PipeReader pipe;
  write_npz(context(), pipe.path(), matrix);
  EXPECT_TRUE(pipe.text() == content_of(folder.path("a.npz")));
}

std::uint64_t number_at(const std::string& bytes, std::size_t at, int width) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, static_cast<std::size_t>(width));
  return number;
}

// The layout that the documentation gives.
TEST(WriteNpz, Layout) {
  const TemporaryFolder folder;
  const Csr<double> matrix{2, 3, {0, 1, 2}, {2, 0}, {0.5, -1}};
  write_npz(context(), folder.path("a.npz"), matrix);
  const std::string bytes = content_of(folder.path("a.npz"));
  EXPECT_EQ(bytes.substr(0, 4), "PK\3\4");
  EXPECT_EQ(number_at(bytes, 12, 2), 0x21U) << "1 January 1980";
  EXPECT_EQ(bytes.substr(30, 8), "data.npy");
  const std::size_t array = 30 + 8 + 20;
  EXPECT_EQ(bytes.substr(array, 8), std::string("\x93NUMPY\1\0", 8));
  EXPECT_EQ(number_at(bytes, array + 8, 2), 118U);
  EXPECT_EQ(bytes.substr(array + 10, 58),
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), } ");
  EXPECT_EQ(bytes.substr(array + 127, 1), "\n");
  EXPECT_EQ(bytes.substr(array + 128, 16),
            std::string(reinterpret_cast<const char*>(matrix.values.data()), 16));
  EXPECT_EQ(bytes.substr(array + 144, 4), "PK\3\4");
  for (const char* header : {"'<f8', 'fortran_order': False, 'shape': (2,)",
                             "'<i4', 'fortran_order': False, 'shape': (2,)",
                             "'<i4', 'fortran_order': False, 'shape': (3,)",
                             "'<i8', 'fortran_order': False, 'shape': (2,)",
                             "'|S3', 'fortran_order': False, 'shape': ()"})
    EXPECT_NE(bytes.find(header), std::string::npos) << header;
  // The records at the end: the directory, its end for large files, the locator of that, the end.
  const std::size_t end = bytes.size() - 22;
  EXPECT_EQ(bytes.substr(end, 4), "PK\5\6");
  EXPECT_EQ(bytes.substr(end - 20, 4), "PK\6\7");
  const std::uint64_t wide_end = number_at(bytes, end - 12, 8);
  EXPECT_EQ(wide_end, end - 20 - 56);
  EXPECT_EQ(bytes.substr(wide_end, 4), "PK\6\6");
  EXPECT_EQ(number_at(bytes, wide_end + 32, 8), 5U);
  const std::uint64_t directory = number_at(bytes, wide_end + 48, 8);
  EXPECT_EQ(directory + number_at(bytes, wide_end + 40, 8), wide_end);
  EXPECT_EQ(bytes.substr(directory, 4), "PK\1\2");
}

TEST(WriteNpz, WideIndices) {
  const TemporaryFolder folder;
  const Csr<float, std::int64_t> matrix{1, 3, {0, 1}, {2}, {1}};
  write_npz(context(), folder.path("a.npz"), matrix);
  const std::string bytes = content_of(folder.path("a.npz"));
  EXPECT_EQ(bytes.find("'<i4'"), std::string::npos);
  EXPECT_NE(bytes.find("'<f4'"), std::string::npos);
}

TEST(WriteNpz, Pattern) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.npz");
  const auto matrix = erdos_renyi<double>(3000, 4000, 500, 1);  // more than one block
  write_npz(context(), path, pattern_of(matrix));
  EXPECT_EQ(read_npz_header(path).dtype, "|b1");
  EXPECT_EQ(read_npz<double>(context(), path), with_ones<double>(pattern_of(matrix)));
}

using Small = MatrixTypes<double, std::int32_t>;

TEST(NpzRowsFaults, RefusesRowsThatDoNotBelong) {
  const TemporaryFolder folder;
  const auto matrix = erdos_renyi<double>(4, 5, 2, 1);
  {
    NpzRows<double> file(context(), folder.path("rows.npz"), 6, 5);
    file.append(matrix);
    expect_error([&] { file.append(matrix); }, ErrorKind::usage,
                 testing::HasSubstr("found 4 x 5 rows to append, expected at most 2 x 5"));
    expect_error([&] { file.append(erdos_renyi<double>(2, 6, 2, 1)); }, ErrorKind::usage,
                 testing::HasSubstr("found 2 x 6 rows"));
    expect_error([&] { file.commit(); }, ErrorKind::usage,
                 testing::HasSubstr("found 4 rows at the end, expected 6"));
  }
  EXPECT_EQ(folder.entries(), 0U);
  for (const char* path : {"-", "/dev/null"}) {
    expect_error([&] { const NpzRows<double> file(context(), path, 6, 5); }, ErrorKind::output,
                 testing::HasSubstr("found a stream, expected a regular file"));
  }
}

TEST(NpzWriterFaults, AFullDiskLeavesNothing) {
  const auto matrix = large_matrix<Small>();
  for (const rlim_t limit : {0, 10, 1 << 20, 3 << 20}) {
    const TemporaryFolder folder;
    const std::string path = folder.path("a.npz");
    expect_error(
        [&] {
          const FileSizeLimit full(limit);
          write_npz(context(), path, matrix);
        },
        ErrorKind::output, path + ": cannot be written: File too large");
    EXPECT_EQ(folder.entries(), 0U);
    expect_error(
        [&] {
          const FileSizeLimit full(limit);
          NpzRows<double> file(context(), path, matrix.rows, matrix.cols);
          file.append(matrix);
          file.commit();
        },
        ErrorKind::output, path + ": cannot be written: File too large");
    EXPECT_EQ(folder.entries(), 0U);
  }
}

TEST(NpzWriterFaults, StreamsThatTakeNoMore) {
  const auto matrix = large_matrix<Small>();
  if (std::filesystem::exists("/dev/full")) {
    expect_error([&] { write_npz(context(), "/dev/full", matrix); }, ErrorKind::output,
                 "/dev/full: cannot be written: No space left on device");
  }
  const IgnoredSignal ignored(SIGPIPE);
  PipeReader pipe(2'000'000);
  expect_error([&] { write_npz(context(), pipe.path(), matrix); }, ErrorKind::output,
               pipe.path() + ": cannot be written: Broken pipe");
}

TEST(NpzProgress, IsToldOnTheCallingThread) {
  const TemporaryFolder folder;
  const auto caller = std::this_thread::get_id();
  std::vector<std::uint64_t> told;
  std::uint64_t last_total = 0;
  std::string last_phase;
  HostContext context = test::context();
  context.progress = [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    told.push_back(done);
    last_phase = phase;
    last_total = total;
  };
  const auto expect_whole = [&](const std::string& phase) {
    ASSERT_FALSE(told.empty());
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), last_total);
    EXPECT_EQ(last_phase, phase);
    told.clear();
  };
  const auto matrix = large_matrix<Small>();
  write_npz(context, folder.path("a.npz"), matrix);
  expect_whole("write matrix");
  static_cast<void>(read_npz<double>(context, folder.path("a.npz")));
  expect_whole("read");
}

}  // namespace
}  // namespace sortie::test
