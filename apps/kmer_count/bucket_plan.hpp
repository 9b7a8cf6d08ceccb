// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "primitives/host/radix_pass.hpp"

/// How k-mers are divided by their leading bits.
///
///     cells    the k-mers with the same leading 16 bits; a large cell has cells of 16 further bits
///     buckets  consecutive cells, which are sorted together
///     passes   consecutive buckets, which are in memory together
namespace sortie::kmers {

/// K-mers in [first, first + 2^shift). With shift 0, `items` is the count of one k-mer.
struct Cell {
  DoubleWord first = 0;
  int shift = 0;
  std::uint64_t items = 0;
};

/// Finds the number of a k-mer's cell, bucket or table.
class KmerRouter {
 public:
  static constexpr std::uint16_t none = 0xffff;

  template <class Key>
  [[nodiscard]] [[gnu::always_inline]] std::uint16_t operator()(Key key) const {
    std::uint16_t found = root_.numbers[static_cast<std::size_t>(key >> root_.shift)];
    if (found >= deep && found != none) [[unlikely]]
      found = below(key, found);
    return found;
  }

 private:
  friend class CellTree;
  static constexpr std::uint16_t deep = 0x8000;  ///< and the index of a table

  struct Table {
    int shift = 0;
    std::size_t mask = 0;
    std::vector<std::uint16_t> numbers;
  };

  template <class Key>
  [[nodiscard]] std::uint16_t below(Key key, std::uint16_t found) const {
    while (found >= deep && found != none) {
      const Table& table = tables_[found - deep];
      found = table.numbers[static_cast<std::size_t>(key >> table.shift) & table.mask];
    }
    return found;
  }

  Table root_;
  std::vector<Table> tables_;
};

/// Numbers of k-mers by cell.
class CellTree {
 public:
  /// Most bits of a cell below another, or of the first cells.
  static constexpr int most_bits = 16;
  /// Most cells that are divided at a time, or have cells below them.
  static constexpr std::size_t most_tables = 0x7ffe;

  explicit CellTree(int k);

  /// Counters of a table of cells; table 0 has the cells of all k-mers.
  struct Table {
    DoubleWord first = 0;
    int shift = 0;  ///< of its cells
    std::vector<std::uint64_t> counts = {};
    std::vector<std::uint16_t> below = {};  ///< table of each cell, 0: none; empty: none at all

    template <class Key>
    [[nodiscard]] std::size_t index(Key key) const {
      return static_cast<std::size_t>(key >> shift) & (counts.size() - 1);
    }
  };
  [[nodiscard]] std::vector<Table>& tables() { return tables_; }

  /// The cells that are not divided and have k-mers, ascending.
  [[nodiscard]] std::vector<Cell> cells() const;

  /// Adds empty tables below cells that have more than `most_items` k-mers, as far as there is
  /// something to divide, and at most `tables`. Returns the index of the first of them.
  [[nodiscard]] std::size_t divide(std::uint64_t most_items, std::size_t tables);

  /// A router to the number of each cell; none for others.
  [[nodiscard]] KmerRouter router(std::span<const std::pair<Cell, std::uint16_t>> numbers) const;
  /// A router to table - first of the cells in these tables.
  [[nodiscard]] KmerRouter router_to_tables(std::size_t first) const;

 private:
  void append_cells(const Table& table, std::vector<Cell>& cells) const;
  [[nodiscard]] KmerRouter empty_router() const;

  std::vector<Table> tables_;
};

/// Consecutive cells.
struct Bucket {
  std::size_t first_cell = 0;
  std::size_t end_cell = 0;
  std::uint64_t begin = 0;  ///< first item in the memory of the pass
  std::uint64_t items = 0;
  /// Each cell is one k-mer, whose count is known: the bucket takes no memory.
  bool is_counted = false;
};

struct BucketLimits {
  std::uint64_t pass_items = 0;    ///< most items of a pass
  std::uint64_t bucket_items = 0;  ///< of a bucket of several cells
  std::uint64_t buckets = 0;       ///< about so many of each pass
  int range_bits = 0;              ///< a bucket's k-mers are less than 2^range_bits apart
  std::uint64_t alignment = 1;     ///< of `begin`
};

/// Divides cells in passes. \pre no cell has more than limits.pass_items - limits.alignment items
[[nodiscard]] std::vector<std::vector<Bucket>> plan_passes(std::span<const Cell> cells,
                                                           const BucketLimits& limits);

}  // namespace sortie::kmers
