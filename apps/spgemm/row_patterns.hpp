// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// The pattern of a row is its list of columns relative to the row's number. On grids with the
/// points numbered line by line nearly all rows have one of a few patterns. Whether a product is
/// computed by patterns (cuda/patterns/) is decided by sampled rows of A and B, which ranks can hash
/// each for themselves: the decision, and with it the order of the sums, is the same on one device
/// and on many.
namespace sortie::spgemm {

/// Rows that are sampled.
inline constexpr std::int64_t pattern_samples = 1024;
/// Fewer products, by the mean lengths of rows, are not tried: what patterns save is less than finding
/// them takes. A plan finds them once.
inline constexpr double min_pattern_products = 33e6;
inline constexpr double min_pattern_products_of_plan = 4e6;
/// Longer rows are not looked at: few of them fit a multiprocessor at a time.
inline constexpr std::int64_t max_pattern_length = 40;
/// The hash of rows that are not looked at, or empty.
inline constexpr std::uint64_t no_pattern = 0;

/// Row number of a sample: at a pseudo-random place of each of equal parts of the rows, so that
/// samples do not keep the distance of grid lines. \pre rows >= pattern_samples
[[nodiscard]] constexpr std::int64_t sampled_row(std::int64_t rows, std::int64_t sample) {
  const std::int64_t part = rows / pattern_samples;
  auto random = static_cast<std::uint32_t>(sample) * 0x9e3779b9u;
  random ^= random >> 15;
  random *= 0x85ebca6bu;
  random ^= random >> 13;
  return sample * part + static_cast<std::int64_t>(random) % part;
}

/// What entry `position` of a row adds to the row's hash.
/// \param relative  its column less the row's number, modulo 2^32
[[nodiscard]] constexpr std::uint64_t pattern_hash(std::uint32_t position, std::uint32_t relative) {
  return static_cast<std::uint64_t>(relative) * ((2 * position + 1) * 0x9e3779b1u);
}
/// Spreads a sum of pattern_hash() over all bits. \param length  of the row
[[nodiscard]] constexpr std::uint64_t finished_hash(std::uint64_t sum, std::uint64_t length) {
  std::uint64_t hash = (sum + length) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u;
  return hash ^ (hash >> 32);
}

/// The hash of the pattern of a row, or no_pattern.
template <class Column>
[[nodiscard]] std::uint64_t hash_of_row(std::int64_t row, const Column* columns,
                                        std::int64_t length) {
  if (length == 0 || length > max_pattern_length) return no_pattern;
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < length; ++i)
    sum += pattern_hash(static_cast<std::uint32_t>(i),
                        static_cast<std::uint32_t>(columns[i]) - static_cast<std::uint32_t>(row));
  return finished_hash(sum, static_cast<std::uint64_t>(length));
}

/// True if the operands of a product are sampled. \param rows_b  of B, which has entries_b entries
[[nodiscard]] constexpr bool may_repeat_patterns(std::int64_t rows_a, std::int64_t entries_a,
                                                 std::int64_t rows_b, std::int64_t entries_b,
                                                 double min_products = min_pattern_products) {
  return rows_a >= pattern_samples && rows_b >= pattern_samples &&
         static_cast<double>(entries_a) * static_cast<double>(entries_b) >=
             min_products * static_cast<double>(rows_b);
}
/// Sampled rows that have to have a pattern of at least frequent_pattern of them.
inline constexpr std::uint32_t frequent_pattern = pattern_samples / 64;
inline constexpr std::uint32_t min_in_frequent = pattern_samples * 3 / 4;
/// True if patterns repeat.
[[nodiscard]] inline bool patterns_repeat(std::vector<std::uint64_t> hashes) {
  std::sort(hashes.begin(), hashes.end());
  std::size_t in_frequent = 0;
  for (std::size_t begin = 0; begin < hashes.size();) {
    std::size_t end = begin;
    while (end < hashes.size() && hashes[end] == hashes[begin]) ++end;
    if (end - begin >= frequent_pattern && hashes[begin] != no_pattern) in_frequent += end - begin;
    begin = end;
  }
  return in_frequent >= min_in_frequent;
}

/// The same for operands on the host, if they are sampled.
template <class Matrix>
[[nodiscard]] bool patterns_repeat(const Matrix& a, const Matrix& b, double min_products) {
  const auto repeat = [](const Matrix& matrix) {
    std::vector<std::uint64_t> hashes;
    for (std::int64_t sample = 0; sample < pattern_samples; ++sample) {
      const std::int64_t row = sampled_row(matrix.rows, sample);
      const std::int64_t begin = matrix.row_ptr[static_cast<std::size_t>(row)];
      hashes.push_back(hash_of_row(row, matrix.col_idx.data() + begin,
                                   matrix.row_ptr[static_cast<std::size_t>(row) + 1] - begin));
    }
    return patterns_repeat(std::move(hashes));
  };
  return may_repeat_patterns(a.rows, a.nnz(), b.rows, b.nnz(), min_products) && repeat(a) &&
         (&a == &b || repeat(b));
}

}  // namespace sortie::spgemm
