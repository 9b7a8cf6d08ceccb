// SPDX-License-Identifier: Apache-2.0

// The kernels of the sparse products on the host: fused, and by patterns.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "apps/spgemm/cuda/fused/count_large_rows.cuh"
#include "apps/spgemm/cuda/fused/make_large_rows.cuh"
#include "apps/spgemm/cuda/fused/sorted_rows.cuh"
#include "apps/spgemm/cuda/patterns/tile_rows.cuh"

namespace sortie::spgemm::cuda {
namespace {

template <class Value>
struct Matrix {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::uint32_t> col_idx;
  std::vector<Value> values;

  [[nodiscard]] DeviceCsrView<Value> arrays() const {
    return {.row_ptr = row_ptr.data(), .col_idx = col_idx.data(), .values = values.data()};
  }
};

std::mt19937 random_numbers(5);

/// Rows of the given numbers of entries, anywhere among the columns.
template <class Value>
Matrix<Value> matrix_of(const std::vector<std::uint32_t>& lengths, std::uint32_t columns) {
  Matrix<Value> matrix;
  for (const std::uint32_t length : lengths) {
    std::map<std::uint32_t, Value> row;
    while (row.size() < length)
      row[static_cast<std::uint32_t>(random_numbers() % columns)] =
          static_cast<Value>(1 + random_numbers() % 1000);
    for (const auto& [column, value] : row) {
      matrix.col_idx.push_back(column);
      matrix.values.push_back(value);
    }
    matrix.row_ptr.push_back(static_cast<std::int64_t>(matrix.col_idx.size()));
  }
  return matrix;
}

/// Row `row` of A * B. The values are integers small enough that every order gives the same sums.
template <class Value>
std::map<std::uint32_t, Value> expected_row(const Matrix<Value>& a, const Matrix<Value>& b,
                                            std::uint32_t row) {
  std::map<std::uint32_t, Value> c;
  for (auto i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
    const std::uint32_t k = a.col_idx[i];
    for (auto j = b.row_ptr[k]; j < b.row_ptr[k + 1]; ++j)
      c[b.col_idx[j]] += a.values[i] * b.values[j];
  }
  return c;
}

template <class Value>
void expect_row(const std::map<std::uint32_t, Value>& expected,
                const std::vector<std::uint32_t>& columns, const std::vector<Value>& values) {
  ASSERT_EQ(columns.size(), expected.size());
  std::size_t i = 0;
  for (const auto& [column, value] : expected) {
    ASSERT_EQ(columns[i], column) << "entry " << i;
    ASSERT_EQ(values[i], value) << "column " << column;
    ++i;
  }
}

/// The shared memory layouts of the two kernels, and the space for bitmaps.
struct Layouts {
  LargeRowLayout to_count;
  LargeRowLayout to_make;
  std::uint64_t bitmap_words;
};

/// Counts and computes the only row of A * B with blocks of so many warps; where `parts` is more
/// than one, in as many parts, each of as many column panels.
template <int CountWarps, int MakeWarps, class Value>
void expect_large_row(const Matrix<Value>& a, const Matrix<Value>& b, std::uint32_t columns,
                      const Layouts& layouts, std::uint16_t parts) {
  const auto expected = expected_row(a, b, 0);
  const std::uint32_t column_groups = (columns + 1023) / 1024;
  const std::vector<std::uint32_t> rows{0};
  std::vector<std::uint32_t> panel_bounds(column_panels + 1);
  for (std::uint32_t w = 0; w <= column_panels; ++w)
    panel_bounds[w] = w * column_groups / column_panels;
  std::vector<std::uint32_t> starts(column_panels + 1, 77);
  std::vector<std::uint64_t> bitmap_at(1, 77);
  std::vector<std::uint32_t> bitmaps(layouts.bitmap_words + 1);
  std::vector<std::uint32_t> entries(1, 77);
  std::vector<std::int64_t> counts(1, 77);
  LargeRowCounters counters{};
  LargeRowArguments<Value> args{{}, a.arrays(), b.arrays()};
  args.rows = rows.data();
  args.panel_bounds = panel_bounds.data();
  args.columns = columns;
  args.panel_starts = starts.data();
  args.bitmap_at = bitmap_at.data();
  args.bitmaps = bitmaps.data();
  args.bitmap_capacity = layouts.bitmap_words;
  args.counters = &counters;
  args.entries = entries.data();
  args.counts = counts.data();
  args.layout = layouts.to_count;
  cuda_on_host::run_block(32 * CountWarps, [&] { count_large_rows_kernel<CountWarps>(args); });
  ASSERT_EQ(counts[0], static_cast<std::int64_t>(expected.size()));
  ASSERT_EQ(entries[0], expected.size());
  for (std::uint32_t w = 0; w <= column_panels; ++w) {
    const auto before =
        std::distance(expected.begin(), expected.lower_bound(panel_bounds[w] * 1024));
    ASSERT_EQ(starts[w], before) << "panel " << w;
  }

  const std::vector<std::int64_t> c_row_ptr{0, counts[0]};
  std::vector<std::uint32_t> c_columns(expected.size(), 77);
  std::vector<Value> c_values(expected.size(), Value(77));
  args.c = {c_row_ptr.data(), c_columns.data(), c_values.data()};
  args.layout = layouts.to_make;
  for (std::uint16_t part = 0; part < parts; ++part) {
    const auto panel = [&](int p) { return static_cast<std::uint16_t>(p * column_panels / parts); };
    PanelTask task{0, panel(part), panel(part + 1)};
    args.tasks = &task;
    cuda_on_host::run_block(32 * MakeWarps, [&] {
      if (parts == 1) {
        make_large_rows_kernel<MakeWarps, false>(args);
      } else {
        make_large_rows_kernel<MakeWarps, true>(args);
      }
    });
  }
  expect_row(expected, c_columns, c_values);
}

/// Rows 0, 1 and 2 have the same columns of A, and so have rows 3 and 4; all have different values.
/// Computed whole and in parts.
TEST(FusedLargeRows, RowsWithSameColumns) {
  const std::uint32_t columns = 70'000;
  const std::uint32_t column_groups = (columns + 1023) / 1024;
  const auto b = matrix_of<double>({200, 40, 2, 130, 7, 64, 300, 90}, columns);
  auto a = matrix_of<double>({3, 3, 3, 3, 3}, 8);
  for (int i = 0; i < 15; ++i) {
    constexpr std::uint32_t first[] = {0, 3, 6};
    constexpr std::uint32_t second[] = {0, 3, 7};
    a.col_idx[i] = i < 9 ? first[i % 3] : second[i % 3];
  }
  const std::vector<std::uint32_t> rows{0, 1, 2, 3, 4};
  std::vector<std::uint32_t> panel_bounds(column_panels + 1);
  for (std::uint32_t w = 0; w <= column_panels; ++w)
    panel_bounds[w] = w * column_groups / column_panels;
  std::vector<std::uint32_t> starts(5 * (column_panels + 1), 77);
  std::vector<std::uint64_t> bitmap_at(5, 77);
  std::vector<std::uint32_t> bitmaps(10'000);
  std::vector<std::uint32_t> entries(5, 77);
  std::vector<std::int64_t> counts(5, 77);
  LargeRowCounters counters{};
  LargeRowArguments<double> args{{}, a.arrays(), b.arrays()};
  args.rows = rows.data();
  args.panel_bounds = panel_bounds.data();
  args.columns = columns;
  args.panel_starts = starts.data();
  args.bitmap_at = bitmap_at.data();
  args.bitmaps = bitmaps.data();
  args.bitmap_capacity = bitmaps.size();
  args.counters = &counters;
  args.entries = entries.data();
  args.counts = counts.data();
  args.layout = {0, 2188, 0};
  for (unsigned block = 0; block < 5; ++block)
    cuda_on_host::run_block(
        64, [&] { count_large_rows_kernel<2>(args); }, block);
  EXPECT_EQ(bitmap_at[1], kSameAsPreviousRow);
  EXPECT_EQ(bitmap_at[2], kSameAsPreviousRow);
  EXPECT_EQ(bitmap_at[4], kSameAsPreviousRow);
  args.layout = {69, 800, 1024};
  for (std::uint32_t row = 0; row < 5; ++row) {
    SCOPED_TRACE(row);
    const std::uint32_t like = counted_row(bitmap_at.data(), row);
    ASSERT_EQ(like, row < 3 ? 0 : 3);
    const auto expected = expected_row(a, b, row);
    ASSERT_EQ(entries[like], expected.size());
    const std::vector<std::int64_t> c_row_ptr(5, 0);
    for (const int parts : {1, 3}) {
      std::vector<std::uint32_t> c_columns(expected.size(), 77);
      std::vector<double> c_values(expected.size(), 77);
      args.c = {c_row_ptr.data(), c_columns.data(), c_values.data()};
      for (int part = 0; part < parts; ++part) {
        const auto panel = [&](int p) {
          return static_cast<std::uint16_t>(p * column_panels / parts);
        };
        PanelTask task{row, panel(part), panel(part + 1)};
        args.tasks = &task;
        cuda_on_host::run_block(64, [&] {
          if (parts == 1) {
            make_large_rows_kernel<2, false>(args);
          } else {
            make_large_rows_kernel<2, true>(args);
          }
        });
      }
      expect_row(expected, c_columns, c_values);
    }
  }
}

/// Rows of B of many lengths, of which some share many columns.
template <class Value>
Matrix<Value> many_lengths(std::uint32_t columns) {
  return matrix_of<Value>({300, 1, 0, 40, 2, 130, 7, 0, 0, 64, 3, 90, 20, 1, 1, 5, 33, 150, 2, 60},
                          columns);
}

TEST(FusedLargeRows, BitmapsOfOneLevel) {
  const std::uint32_t columns = 2500;
  const auto b = many_lengths<double>(columns);
  const auto a = matrix_of<double>({20}, 20);
  const LargeRowLayout all{0, 79, 0};
  for (const std::uint64_t bitmap_words : {0, 1000}) {
    expect_large_row<2, 2>(a, b, columns, {all, {0, 79, 1024}, bitmap_words}, 1);
    expect_large_row<4, 4>(a, b, columns, {all, {0, 79, 1024}, bitmap_words}, 1);
    expect_large_row<8, 8>(a, b, columns, {all, {0, 79, 200}, bitmap_words}, 1);
  }
}

/// Layout for counting with `upper` column groups and `words` lower words; rows within `near`
/// column blocks use one level.
LargeRowLayout counting(std::uint32_t upper, std::uint32_t words, std::uint32_t near = 0) {
  return {upper, words, 0, near};
}

TEST(FusedLargeRows, BitmapsOfTwoLevels) {
  const std::uint32_t columns = 70'000;
  const auto b = many_lengths<double>(columns);
  const auto a = matrix_of<double>({20}, 20);
  const LargeRowLayout to_make{69, 800, 1024};
  expect_large_row<4, 4>(a, b, columns, {counting(69, 1000), to_make, 5000}, 1);
  expect_large_row<2, 4>(a, b, columns, {counting(0, 2188), to_make, 5000}, 1);
  expect_large_row<8, 4>(a, b, columns, {counting(69, 150), {69, 150, 100}, 5000}, 1);
}

/// Shared memory holds all column blocks: those without entries are removed afterwards.
TEST(FusedLargeRows, EmptyBlocksRemoved) {
  const std::uint32_t columns = 70'000;
  const auto b = many_lengths<double>(columns);
  const auto a = matrix_of<double>({20}, 20);
  const LargeRowLayout to_make{69, 800, 1024};
  for (const std::uint64_t bitmap_words : {0, 500, 5000}) {
    expect_large_row<4, 4>(a, b, columns, {counting(69, 2188), to_make, bitmap_words}, 1);
    expect_large_row<8, 4>(a, b, columns, {counting(69, 3000, 100), to_make, bitmap_words}, 3);
    expect_large_row<2, 4>(a, b, columns, {counting(69, 2188), {69, 150, 100}, bitmap_words}, 1);
  }
}

/// Columns near each other, far from the first: the bitmap begins at the first of them.
TEST(FusedLargeRows, ColumnsNearEachOther) {
  const std::uint32_t columns = 70'000;
  auto b = many_lengths<double>(3000);
  for (std::uint32_t& column : b.col_idx) column += 41'234;
  const auto a = matrix_of<double>({20}, 20);
  const LargeRowLayout near = counting(69, 100, 100);
  const LargeRowLayout not_near = counting(69, 100, 80);
  expect_large_row<4, 4>(a, b, columns, {near, {69, 100, 1024}, 5000}, 1);
  expect_large_row<4, 4>(a, b, columns, {near, {69, 20, 1024}, 5000}, 1);
  expect_large_row<4, 4>(a, b, columns, {not_near, {69, 20, 1024}, 5000}, 1);
  expect_large_row<2, 4>(a, b, columns, {near, {69, 60, 200}, 0}, 1);
  expect_large_row<2, 4>(a, b, columns, {near, {69, 10, 200}, 5000}, 3);
  expect_large_row<2, 4>(a, b, columns, {not_near, {69, 100, 200}, 5000}, 3);
  expect_large_row<2, 4>(a, b, columns, {near, {69, 100, 200}, 5000}, 5);
}

TEST(FusedLargeRows, PartsOfARow) {
  const std::uint32_t columns = 70'000;
  const auto b = many_lengths<double>(columns);
  const auto a = matrix_of<double>({20}, 20);
  const LargeRowLayout one = counting(0, 2188);
  const LargeRowLayout two = counting(69, 1000);
  const LargeRowLayout in_rounds = counting(69, 130);
  expect_large_row<4, 4>(a, b, columns, {one, {0, 2188, 1024}, 5000}, 3);
  expect_large_row<4, 4>(a, b, columns, {one, {69, 800, 1024}, 5000}, 2);
  expect_large_row<4, 4>(a, b, columns, {two, {69, 800, 1024}, 5000}, 2);
  expect_large_row<4, 4>(a, b, columns, {two, {69, 300, 100}, 0}, 2);
  expect_large_row<4, 4>(a, b, columns, {in_rounds, {69, 800, 1024}, 5000}, 2);
  expect_large_row<4, 4>(a, b, columns, {in_rounds, {69, 300, 100}, 0}, 3);
}

// More entries of A than a chunk has, most of them short, so that a slice has many entries and
// columns come several times in a step; and all warps that there are.
TEST(FusedLargeRows, ManyEntriesOfFewColumns) {
  const std::uint32_t columns = 60;
  std::vector<std::uint32_t> lengths(500);
  for (std::uint32_t i = 0; i < 500; ++i) lengths[i] = i % 5;
  const auto b = matrix_of<double>(lengths, columns);
  const auto a = matrix_of<double>({450}, 500);
  const LargeRowLayout all{0, 2, 0};
  expect_large_row<2, 2>(a, b, columns, {all, {0, 2, 512}, 100}, 1);
  expect_large_row<8, 12>(a, b, columns, {all, {0, 2, 512}, 100}, 1);
}

TEST(FusedLargeRows, ComplexEntries) {
  const std::uint32_t columns = 300;
  const auto b = matrix_of<std::complex<double>>({100, 20, 3, 60}, columns);
  const auto a = matrix_of<std::complex<double>>({4}, 4);
  expect_large_row<2, 4>(a, b, columns, {{0, 10, 0}, {0, 10, 512}, 100}, 1);
}

/// Computes every row of A * B by `make` in its own staging slots, and counts it by `count`.
template <class Value, class Count, class Make>
void expect_sorted_rows(const Matrix<Value>& a, const Matrix<Value>& b, std::uint32_t row_capacity,
                        int lanes_of_row, const Count& count, const Make& make) {
  const auto rows = static_cast<std::uint32_t>(a.row_ptr.size() - 1);
  const auto at_once = static_cast<std::uint32_t>(32 * sorting_warps / lanes_of_row);
  std::vector<std::int64_t> counts(rows, 77);
  std::vector<std::int64_t> made_counts(rows, 77);
  std::vector<std::uint32_t> slots(rows);
  for (std::uint32_t row = 0; row < rows; ++row)
    slots[row] = (rows - 1 - row) * (row_capacity / entries_per_slot);
  std::vector<std::uint32_t> columns(std::size_t{rows} * row_capacity, 77);
  std::vector<Value> values(columns.size(), Value(77));
  for (std::uint32_t first = 0; first < rows; first += at_once) {
    std::vector<std::uint32_t> list;
    for (std::uint32_t row = first; row < std::min(rows, first + at_once); ++row)
      list.push_back(row);
    const auto size = static_cast<std::uint32_t>(list.size());
    cuda_on_host::run_block(32 * sorting_warps, [&] {
      count(list.data(), size, RowsOut<Value>{counts.data(), nullptr, nullptr, nullptr, nullptr});
    });
    cuda_on_host::run_block(32 * sorting_warps, [&] {
      make(
          list.data(), size,
          RowsOut<Value>{made_counts.data(), nullptr, slots.data(), columns.data(), values.data()});
    });
  }
  EXPECT_EQ(counts, made_counts);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const auto first = static_cast<std::ptrdiff_t>(slots[row]) * entries_per_slot;
    expect_row(expected_row(a, b, row),
               std::vector(columns.begin() + first, columns.begin() + first + counts[row]),
               std::vector(values.begin() + first, values.begin() + first + counts[row]));
  }
}

template <int Lanes>
void expect_small_rows(const std::vector<std::uint32_t>& b_lengths) {
  const auto b = matrix_of<double>(b_lengths, 40);
  const auto entries = static_cast<std::uint32_t>(b_lengths.size());
  const auto a = matrix_of<double>({1, 2, 0, 3, 4, 2, 1, entries, entries - 1}, entries);
  const auto bins = [](const std::uint32_t* rows, std::uint32_t count) {
    // The only block is the first of the bin that has rows.
    const ListedRows some{rows, count, 0};
    const ListedRows none{nullptr, 0, 1};
    return SmallBins{Lanes == 8 ? some : none, Lanes == 16 ? some : none,
                     Lanes == 32 ? some : none};
  };
  expect_sorted_rows(
      a, b, Lanes, Lanes,
      [&](const std::uint32_t* rows, std::uint32_t count, const RowsOut<double>& out) {
        small_rows_kernel<false>(a.arrays(), b.arrays(), bins(rows, count), out);
      },
      [&](const std::uint32_t* rows, std::uint32_t count, const RowsOut<double>& out) {
        small_rows_kernel<true>(a.arrays(), b.arrays(), bins(rows, count), out);
      });
}

TEST(FusedSorted, SmallRows) {
  expect_small_rows<8>({2, 1, 0, 2, 1, 0, 2, 0, 0, 0, 0});
  expect_small_rows<16>({4, 0, 3, 1, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  expect_small_rows<32>({8, 5, 0, 7, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
                         0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1});
}

/// Rows of many lengths, some without entries and some that are not copied, in any order of slots.
TEST(FusedSorted, CopiesOfRows) {
  const std::vector<std::int64_t> lengths{3, 0,   60, 1,  512, 0, 0,  5, 8,
                                          8, 300, 2,  33, 32,  0, 70, 4};
  constexpr int rows = 17;
  std::vector<std::int64_t> c_row_ptr{0};
  for (const std::int64_t length : lengths) c_row_ptr.push_back(c_row_ptr.back() + length);
  std::vector<std::uint32_t> slots(rows, no_slot);
  std::uint32_t next = 0;
  for (int row = rows - 1; row >= 0; --row) {
    if (row == 7 || row == 10) continue;  // not copied
    slots[row] = next;
    next += static_cast<std::uint32_t>(lengths[row] + 7) / entries_per_slot;
  }
  std::vector<std::uint32_t> columns(std::size_t{next} * entries_per_slot);
  std::vector<double> values(columns.size());
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    columns[i] = i;
    values[i] = 2.0 * i;
  }
  const auto size = static_cast<std::size_t>(c_row_ptr.back());
  std::vector<std::uint32_t> c_columns(size, 7777);
  std::vector<double> c_values(size, 7777);
  cuda_on_host::run_block(32 * sorting_warps, [&] {
    copy_rows_kernel<double>(
        rows, slots.data(), columns.data(), values.data(),
        ProductRows<double>{c_row_ptr.data(), c_columns.data(), c_values.data()});
  });
  for (int row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < lengths[row]; ++i) {
      const std::int64_t at = c_row_ptr[row] + i;
      const std::uint32_t from = slots[row] * entries_per_slot + static_cast<std::uint32_t>(i);
      EXPECT_EQ(c_columns[at], slots[row] == no_slot ? 7777 : from) << "row " << row;
      EXPECT_EQ(c_values[at], slots[row] == no_slot ? 7777 : 2.0 * from) << "row " << row;
    }
  }
}

template <int Items>
void expect_medium_rows(std::uint32_t entries) {
  std::vector<std::uint32_t> lengths(60);
  for (std::uint32_t i = 0; i < 60; ++i) lengths[i] = i % 9;
  const auto b = matrix_of<double>(lengths, 200);
  const auto a = matrix_of<double>({entries, 3, entries / 2, 0, 1}, 60);
  expect_sorted_rows(
      a, b, 32 * Items, 32,
      [&](const std::uint32_t* rows, std::uint32_t count, const RowsOut<double>& out) {
        medium_rows_kernel<Items, false>(a.arrays(), b.arrays(), rows, count, out);
      },
      [&](const std::uint32_t* rows, std::uint32_t count, const RowsOut<double>& out) {
        medium_rows_kernel<Items, true>(a.arrays(), b.arrays(), rows, count, out);
      });
}

TEST(FusedSorted, MediumRows) {
  expect_medium_rows<2>(8);
  expect_medium_rows<4>(16);
  expect_medium_rows<8>(32);
  expect_medium_rows<16>(60);
}

/// Rows with the same columns relative to the row, where they are inside the matrix.
template <class Value>
Matrix<Value> repeated_rows(std::int64_t rows, const std::vector<std::int64_t>& pattern) {
  Matrix<Value> matrix;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int64_t offset : pattern) {
      if (row + offset < 0 || row + offset >= rows) continue;
      matrix.col_idx.push_back(static_cast<std::uint32_t>(row + offset));
      matrix.values.push_back(static_cast<Value>(1 + random_numbers() % 1000));
    }
    matrix.row_ptr.push_back(static_cast<std::int64_t>(matrix.col_idx.size()));
  }
  return matrix;
}

/// Computes tiles of inner rows of A * A: one after the other, fewer than a tile has, and apart.
template <int TileRows, int Batch, class Value>
void expect_tiles(const std::vector<std::int64_t>& pattern) {
  const std::int64_t reach = 2 * pattern.back();
  const auto a = repeated_rows<Value>(2 * reach + 40, pattern);
  const auto first = static_cast<std::uint32_t>(reach);
  const auto c_of_first = expected_row(a, a, first);
  const auto entries = static_cast<std::uint32_t>(c_of_first.size());
  const auto length = static_cast<std::uint32_t>(pattern.size());
  std::vector<std::uint32_t> columns;
  for (const auto& [column, value] : c_of_first) columns.push_back(column);
  const ClassProgram program{first, entries, length, length, 0, 0, 0, 0};
  std::vector<ProgramStep> steps;
  std::vector<std::uint16_t> places;
  for (std::uint32_t e = 0; e < length; ++e) {
    std::uint32_t group = 1;
    while (group < max_step_group && e + group < length && pattern[e + group] == pattern[e] + group)
      ++group;
    steps.push_back({static_cast<std::uint32_t>(pattern[e]), length, places.size(), group});
    const std::uint32_t k = first + steps.back().offset;
    for (auto i = a.row_ptr[k]; i < a.row_ptr[k + 1]; ++i)
      places.push_back(static_cast<std::uint16_t>(
          std::distance(c_of_first.begin(), c_of_first.find(a.col_idx[i]))));
  }
  const auto tile_of = [&](std::vector<std::uint32_t> rows, bool is_consecutive) {
    RowTile tile{0,
                 0,
                 static_cast<std::uint8_t>(rows.size()),
                 static_cast<std::uint8_t>(is_consecutive),
                 {}};
    rows.resize(max_tile_rows, rows[0]);
    for (int i = 0; i < max_tile_rows; ++i) tile.row[i] = static_cast<std::uint16_t>(rows[i]);
    return tile;
  };
  std::vector<std::uint32_t> whole;
  for (std::uint32_t i = 0; i < TileRows; ++i) whole.push_back(first + i);
  for (const RowTile& tile :
       {tile_of(whole, true), tile_of({first + 20, first + 21, first + 22, first + 23}, true),
        tile_of({first + 17, first + 25, first + 39}, false)}) {
    std::vector<std::int64_t> c_row_ptr(a.row_ptr.size(), 5);
    for (int r = 0; r < tile.rows; ++r) {
      // Only offsets of the tile's rows are read.
      c_row_ptr[tile.row[r]] = 5 + std::int64_t{r} * entries;
    }
    std::vector<std::uint32_t> c_columns(tile.rows * entries, 77);
    std::vector<Value> c_values(tile.rows * entries, Value(77));
    const TileArguments<Value> args{
        a.arrays(),     a.arrays(),
        &tile,          &program,
        steps.data(),   places.data(),
        columns.data(), {c_row_ptr.data(), 5, c_columns.data(), c_values.data()}};
    cuda_on_host::run_block(32, [&] { tile_rows_kernel<TileRows, Batch, Value>(args); });
    for (int r = 0; r < tile.rows; ++r) {
      SCOPED_TRACE(tile.row[r]);
      const auto begin = static_cast<std::ptrdiff_t>(r) * entries;
      expect_row(expected_row(a, a, tile.row[r]),
                 {c_columns.begin() + begin, c_columns.begin() + begin + entries},
                 {c_values.begin() + begin, c_values.begin() + begin + entries});
    }
  }
}

TEST(PatternTiles, RowsOfOneClass) {
  expect_tiles<16, 3, double>({-7, -1, 0, 1, 7});
  expect_tiles<16, 4, float>({-9, -1, 0, 2, 3, 9});
  expect_tiles<16, 5, std::complex<double>>({-6, -5, -4, -1, 0, 1, 4, 5, 6});
  expect_tiles<8, 7, double>({-6, -5, -4, -1, 0, 1, 4, 5, 6});
  std::vector<std::int64_t> band;  // more products a step than lanes
  for (std::int64_t offset = -17; offset <= 17; ++offset) band.push_back(offset);
  expect_tiles<16, 7, double>(band);
  expect_tiles<8, 7, float>(band);
}

}  // namespace
}  // namespace sortie::spgemm::cuda
