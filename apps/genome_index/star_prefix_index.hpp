// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/genome_index/index_outputs.hpp"

namespace sortie::genomes {

/// The first letters of a suffix.
struct SuffixPrefix {
  std::uint64_t row = 0;
  std::uint32_t letters = 0;  ///< 2 bits each, the first of 16 in the highest; 0 after valid ones
  std::uint32_t valid = 0;    ///< letters before the first N or end, at most those of the index

  [[nodiscard]] bool equals(const SuffixPrefix& other) const {
    return letters == other.letters && valid == other.valid;
  }
};

/// File `SAindex` of STAR: for every prefix of 1 to k letters the first row that has it.
///
/// Levels follow each other; level j has an entry for each of 4^j prefixes. An entry is the first
/// row that begins with the prefix; if there is none, the row of the next prefix that exists (or
/// the number of rows), marked as absent. An entry is marked as cut if, before the next prefix that
/// exists, a row has an N or an end within its first j letters.
///
/// Rows come in ascending order. Each level is written as far as its entries are known, so that the
/// memory is that of a block of rows.
class StarPrefixIndex {
 public:
  /// \param depth   k, 1 to 16
  /// \param bits    of an entry: the two highest are the marks
  StarPrefixIndex(IndexFile& file, std::uint32_t depth, int bits);

  /// Adds the prefixes of the next rows, of which those that equal the one before may be left out
  /// and, but at the begin of an array, are.
  /// The last one is held back, since STAR may not see it.
  /// \throws Error (input) the first row is cut, and another one is longer: STAR fails
  void append(std::span<const std::vector<SuffixPrefix>> prefixes);
  /// \param rows  number of all
  void finish(std::uint64_t rows);

  [[nodiscard]] static std::uint64_t bytes(std::uint32_t depth, int bits);

 private:
  /// The entry of a prefix that exists.
  struct Present {
    std::uint64_t prefix;
    std::uint64_t row;
    bool is_cut;
  };
  /// First entry of level `level`, from 1.
  [[nodiscard]] static std::uint64_t begin_of(std::uint32_t level) {
    return ((std::uint64_t{1} << 2 * level) - 4) / 3;
  }

  struct Level {
    std::vector<Present> presents;  ///< whose entries are not written; the last one may be cut
    std::uint64_t written = 0;      ///< entries
    std::array<std::uint64_t, 4> first{};  ///< entries that share bytes with the level before
    std::array<std::uint64_t, 4> last{};   ///< with the level after
  };

  /// Prefixes in order, in several arrays.
  using Pieces = std::span<const std::span<const SuffixPrefix>>;

  void add(Pieces pieces);
  void collect(std::uint32_t number, Pieces pieces);
  void write_entries(std::uint32_t number, std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] std::uint64_t absent() const { return std::uint64_t{1} << (bits_ - 1); }
  [[nodiscard]] std::uint64_t cut() const { return std::uint64_t{1} << (bits_ - 2); }

  IndexFile& file_;
  std::uint32_t depth_;
  int bits_;
  std::uint64_t offset_;  ///< of the entries in the file
  std::uint64_t rows_ = 0;
  std::vector<Level> levels_;
  std::optional<SuffixPrefix> last_;  ///< of the rows with the last prefix, the first one
  std::uint64_t row_before_ = 0;      ///< first row of the prefix before
};

}  // namespace sortie::genomes
