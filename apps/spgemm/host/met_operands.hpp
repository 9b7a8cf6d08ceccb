// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"

namespace sortie::spgemm::host {

/// The operands without empty rows of B and the entries of A that meet them.
template <class Matrix>
struct MetOperands {
  Matrix a;
  Matrix b;

  /// Of a million entries in 4 M rows, most meet empty rows, and the offsets of rows in random order
  /// take a cache miss and a search of the page table each. Here, a bit tells which rows of B have
  /// entries, and only these are numbered.
  /// \return empty if most rows of B have entries, or B has far more rows than A has entries
  /// Complexity: O(rows + nnz), on all threads. \pre the host runtime is running
  static std::optional<MetOperands> find(const Matrix& a, const Matrix& b) {
    if (b.nnz() > b.rows / 2 || a.nnz() < b.rows / 16) return std::nullopt;
    constexpr std::int64_t rows_per_block = 1 << 14;  // whole words
    std::vector<std::uint64_t> has_entries;
    resize_for_overwrite(has_entries, (b.rows + 63) / 64);
    for_each_block_of(b.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; row += 64) {
        std::uint64_t bits = 0;
        for (std::int64_t i = row; i < std::min(row + 64, last); ++i)
          bits |= std::uint64_t{b.row_ptr[i] != b.row_ptr[i + 1]} << (i - row);
        has_entries[row / 64] = bits;
      }
    });
    std::vector<std::int64_t> rows_before{0};  // of each word
    rows_before.reserve(has_entries.size() + 1);
    for (const std::uint64_t bits : has_entries)
      rows_before.push_back(rows_before.back() + std::popcount(bits));
    const auto meets = [&](std::int64_t i) {
      const auto k = static_cast<std::uint64_t>(a.col_idx[i]);
      return (has_entries[k / 64] >> (k % 64) & 1) != 0;
    };

    MetOperands met{{a.rows, rows_before.back(), {}, {}, {}},
                    {rows_before.back(), b.cols, {}, b.col_idx, b.values}};
    resize_for_overwrite(met.b.row_ptr, met.b.rows + 1);
    met.b.row_ptr.back() = b.nnz();
    for_each_block_of(b.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t word = first / 64; 64 * word < last; ++word) {
        std::int64_t to = rows_before[word];
        for (std::uint64_t left = has_entries[word]; left != 0; left &= left - 1)
          met.b.row_ptr[to++] = b.row_ptr[64 * word + std::countr_zero(left)];
      }
    });
    std::vector<std::int64_t> before((a.rows + rows_per_block - 1) / rows_per_block + 1, 0);
    for_each_block_of(a.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
      std::int64_t entries = 0;
      for (std::int64_t i = a.row_ptr[first]; i < a.row_ptr[last]; ++i) entries += meets(i) ? 1 : 0;
      before[first / rows_per_block + 1] = entries;
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
    resize_for_overwrite(met.a.row_ptr, a.rows + 1);
    resize_for_overwrite(met.a.col_idx, before.back());
    resize_for_overwrite(met.a.values, before.back());
    met.a.row_ptr[0] = 0;
    for_each_block_of(a.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
      std::int64_t to = before[first / rows_per_block];
      const std::int64_t end = before[first / rows_per_block + 1];
      for (std::int64_t row = first; row < last; ++row) {
        for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1] && to < end; ++i) {
          // Written for every entry, since a branch would often be mispredicted.
          met.a.col_idx[to] = a.col_idx[i];
          met.a.values[to] = a.values[i];
          to += meets(i) ? 1 : 0;
        }
        met.a.row_ptr[row + 1] = to;
      }
      for (std::int64_t i = before[first / rows_per_block]; i < end; ++i) {
        const auto k = static_cast<std::uint64_t>(met.a.col_idx[i]);
        const std::uint64_t earlier = has_entries[k / 64] & ((std::uint64_t{1} << k % 64) - 1);
        met.a.col_idx[i] =
            static_cast<typename Matrix::index_type>(rows_before[k / 64] + std::popcount(earlier));
      }
    });
    return met;
  }
};

}  // namespace sortie::spgemm::host
