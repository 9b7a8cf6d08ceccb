// SPDX-License-Identifier: Apache-2.0

// The kernels of products over semirings on the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "apps/spgemm/cuda/semiring/filter_rows.cuh"
#include "apps/spgemm/cuda/semiring/structure_values.cuh"

namespace sortie::spgemm::cuda {
namespace {

/// Rows of columns, with values.
template <class Value>
struct Matrix {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::uint32_t> col_idx;
  std::vector<Value> values;

  [[nodiscard]] std::int64_t rows() const { return std::ssize(row_ptr) - 1; }
  [[nodiscard]] StructureRows arrays() const { return {row_ptr.data(), col_idx.data()}; }
};

/// Rows of the given numbers of entries, anywhere among the columns.
template <class Value>
Matrix<Value> random_matrix(const std::vector<std::uint32_t>& lengths, std::uint32_t columns,
                            unsigned seed) {
  std::mt19937 random(seed);
  Matrix<Value> matrix;
  for (const std::uint32_t length : lengths) {
    std::map<std::uint32_t, Value> row;
    while (row.size() < std::min(length, columns)) {
      if constexpr (is_complex<Value>) {
        row[random() % columns] = Value(static_cast<float>(random() % 9), 1);
      } else {
        row[random() % columns] = static_cast<Value>(random() % 2000) / Value{3};
      }
    }
    for (const auto& [column, value] : row) {
      matrix.col_idx.push_back(column);
      matrix.values.push_back(value);
    }
    matrix.row_ptr.push_back(std::ssize(matrix.col_idx));
  }
  return matrix;
}

template <class Semiring>
class StructureSums : public testing::Test {
 protected:
  using Operand = typename Semiring::Operand;
  using Sum = typename Semiring::Sum;
  static constexpr bool counts = std::is_same_v<Operand, NoOperand>;
  using Value = std::conditional_t<counts, float, Operand>;

  /// Computes the sums of the structure by the kernels, and one after the other.
  static void expect_sums(const Matrix<Value>& a, const Matrix<Value>& b,
                          const Matrix<Value>& structure, std::uint32_t part_entries) {
    const auto entries = structure.col_idx.size();
    std::vector<Sum> expected(entries, Semiring::zero());
    std::vector<std::uint8_t> expected_hits(entries, 0);
    for (std::int64_t row = 0; row < a.rows(); ++row) {
      const auto begin = structure.col_idx.begin() + structure.row_ptr[row];
      const auto end = structure.col_idx.begin() + structure.row_ptr[row + 1];
      for (auto i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
        const std::uint32_t k = a.col_idx[i];
        for (auto j = b.row_ptr[k]; j < b.row_ptr[k + 1]; ++j) {
          const auto found = std::lower_bound(begin, end, b.col_idx[j]);
          if (found == end || *found != b.col_idx[j]) continue;
          const auto place = found - structure.col_idx.begin();
          if constexpr (counts) {
            expected[place] += 1;
          } else {
            Semiring::add(expected[place], Semiring::product(a.values[i], b.values[j]));
          }
          expected_hits[place] = 1;
        }
      }
    }

    const CountLimits tried[] = {count_limits[0], count_limits[std::size(count_limits) - 1]};
    for (const CountLimits& limits : std::span(tried).first(counts ? 2 : 1)) {
      std::vector<Sum> sums(entries, Sum{77});
      std::vector<std::uint8_t> hits(entries, 77);
      std::vector<StructurePart> parts(structure.rows() + entries / part_entries +
                                       most_extra_slices);
      StructureCounters counters;
      StructureArguments<Semiring> args;
      args.rows = a.rows();
      args.a = a.arrays();
      args.b = b.arrays();
      args.structure = structure.arrays();
      if constexpr (!counts) {
        args.a_values = a.values.data();
        args.b_values = b.values.data();
      }
      args.part_entries = part_entries;
      args.parts = parts.data();
      args.counters = &counters;
      args.sums = sums.data();
      args.hits = hits.data();
      std::vector<std::uint32_t> warp_rows(a.rows());
      if constexpr (counts) {
        args.warp_rows = warp_rows.data();
        args.limits = limits;
        constexpr unsigned rows_of_block = structure_threads / tiny_row_lanes;
        for (unsigned block = 0; block * rows_of_block < a.rows(); ++block)
          cuda_on_host::run_block(
              structure_threads, [&] { count_tiny_rows_kernel<Semiring>(args); }, block);
      }
      for (unsigned block = 0; block * structure_warps < a.rows(); ++block)
        cuda_on_host::run_block(
            structure_threads, [&] { compute_short_rows_kernel<Semiring>(args); }, block);
      ASSERT_LE(counters.parts, parts.size());
      cuda_on_host::run_block(structure_threads, [&] { compute_long_rows_kernel<Semiring>(args); });
      if (!counts) {
        EXPECT_EQ(hits, expected_hits);
      }
      for (std::size_t i = 0; i < entries; ++i) {
        if (counts || expected_hits[i] != 0) {
          ASSERT_EQ(sums[i], expected[i]) << "entry " << i;
        }
      }
    }
  }
};

using Semirings = testing::Types<Count<std::uint32_t>, PlusTimes<double>, MinPlus<float>,
                                 MaxTimes<std::int64_t>, OrAnd, PlusTimes<std::complex<float>>>;
TYPED_TEST_SUITE(StructureSums, Semirings);

TYPED_TEST(StructureSums, RowsOfManyLengths) {
  using Value = typename TestFixture::Value;
  const auto b = random_matrix<Value>(
      {30, 1, 0, 40, 2, 130, 7, 0, 0, 64, 3, 90, 20, 1, 1, 5, 33, 150, 2, 60}, 400, 1);
  const auto a = random_matrix<Value>({0, 1, 5, 20, 20, 3, 8, 20, 11, 20}, 20, 2);
  const auto structure = random_matrix<Value>({3, 1, 0, 17, 128, 129, 300, 2, 400, 33}, 400, 3);
  this->expect_sums(a, b, structure, 256);
}

// More than 32 entries of A, whose rows of B have common columns.
TYPED_TEST(StructureSums, ManyEntriesOfA) {
  using Value = typename TestFixture::Value;
  const auto b = random_matrix<Value>(std::vector<std::uint32_t>(1500, 5), 60, 1);
  const auto a = random_matrix<Value>({100, 1300, 1500}, 1500, 2);
  this->expect_sums(a, b, random_matrix<Value>({40, 60, 13}, 60, 3), 128);
}

// Rows of B that are searched for the few columns of the structure.
TYPED_TEST(StructureSums, FewColumnsOfLongRows) {
  using Value = typename TestFixture::Value;
  const auto b = random_matrix<Value>(std::vector<std::uint32_t>(40, 3000), 4000, 1);
  const auto a = random_matrix<Value>({40, 33, 2}, 40, 2);
  this->expect_sums(a, b, random_matrix<Value>({1, 31, 5}, 4000, 3), 128);
}

// Rows with so many products that several blocks share them, with few and with many entries of A.
TYPED_TEST(StructureSums, SlicesOfARow) {
  using Value = typename TestFixture::Value;
  const auto b = random_matrix<Value>(std::vector<std::uint32_t>(1100, 300), 400, 1);
  this->expect_sums(random_matrix<Value>({1100, 1000}, 1100, 2), b,
                    random_matrix<Value>({300, 20}, 400, 3), 128);
  const auto long_b = random_matrix<Value>(std::vector<std::uint32_t>(20, 30'000), 40'000, 1);
  this->expect_sums(random_matrix<Value>({20}, 20, 2), long_b,
                    random_matrix<Value>({3000}, 40'000, 3), 1024);
}

TEST(FilterRows, EntriesOutsideOfAMask) {
  const auto structure = random_matrix<float>({0, 1, 31, 32, 33, 100, 5, 9, 40}, 120, 1);
  const auto mask = random_matrix<float>({4, 1, 50, 0, 120, 60, 5, 120, 3}, 120, 2);
  std::vector<std::uint8_t> flags(structure.col_idx.size(), 77);
  for (unsigned block = 0; block < 2; ++block)
    cuda_on_host::run_block(
        structure_threads,
        [&] { mark_outside_kernel(9, structure.arrays(), mask.arrays(), flags.data()); }, block);
  for (std::int64_t row = 0; row < 9; ++row) {
    for (auto i = structure.row_ptr[row]; i < structure.row_ptr[row + 1]; ++i) {
      const bool in_mask =
          std::binary_search(mask.col_idx.begin() + mask.row_ptr[row],
                             mask.col_idx.begin() + mask.row_ptr[row + 1], structure.col_idx[i]);
      ASSERT_EQ(flags[i], in_mask ? 0 : 1) << "entry " << i;
    }
  }
}

TEST(FilterRows, GreatestKeys) {
  std::mt19937 random(1);
  std::vector<std::int64_t> row_ptr{0};
  for (const int length : {0, 1, 4, 5, 6, 31, 32, 33, 200})
    row_ptr.push_back(row_ptr.back() + length);
  std::vector<std::uint64_t> keys(row_ptr.back());
  for (std::uint64_t& key : keys) key = random() % 12;
  std::vector<std::uint64_t> sorted = keys;
  for (int row = 0; row < 9; ++row)
    std::sort(sorted.begin() + row_ptr[row], sorted.begin() + row_ptr[row + 1], std::greater<>());
  for (const std::int64_t keep_top : {0, 1, 5, 33}) {
    for (const std::uint64_t least : {0, 6, 20}) {
      std::vector<std::uint8_t> flags(keys.size(), 77);
      for (unsigned block = 0; block < 2; ++block)
        cuda_on_host::run_block(
            structure_threads,
            [&] {
              mark_kept_kernel(9, row_ptr.data(), keys.data(),
                               keep_top == 0 ? nullptr : sorted.data(), keep_top, least,
                               flags.data());
            },
            block);
      for (int row = 0; row < 9; ++row) {
        std::vector<std::int64_t> kept;
        for (std::int64_t i = row_ptr[row]; i < row_ptr[row + 1]; ++i)
          if (keys[i] >= least) kept.push_back(i);
        std::stable_sort(kept.begin(), kept.end(),
                         [&](std::int64_t x, std::int64_t y) { return keys[x] > keys[y]; });
        if (keep_top != 0 && std::ssize(kept) > keep_top) kept.resize(keep_top);
        for (std::int64_t i = row_ptr[row]; i < row_ptr[row + 1]; ++i)
          ASSERT_EQ(flags[i], std::count(kept.begin(), kept.end(), i))
              << "entry " << i << " of " << keep_top << " above " << least;
      }
    }
  }
}

}  // namespace
}  // namespace sortie::spgemm::cuda
