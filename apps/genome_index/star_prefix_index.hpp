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
  std::uint64_t genome_rows = 0;  ///< rows before it, but those of junctions
  std::uint32_t letters = 0;  ///< 2 bits each, the first of 16 in the highest; 0 after valid ones
  std::uint8_t valid = 0;     ///< letters before the first N or end, at most those of the index
  bool is_inserted = false;   ///< of a junction
  bool is_repeated = false;   ///< the next row equals it

  [[nodiscard]] bool equals(const SuffixPrefix& other) const {
    return letters == other.letters && valid == other.valid && is_inserted == other.is_inserted;
  }
};

/// File `SAindex` of STAR: for every prefix of 1 to k letters the first row that has it.
///
/// Levels follow each other; level j has an entry for each of 4^j prefixes. An entry is the first
/// row that begins with the prefix; if there is none, the row of the next prefix that exists (or
/// the number of rows), marked as absent. An entry is marked as cut if, before the next prefix that
/// exists, a row has an N or an end within its first j letters.
///
/// STAR makes the index of the genome, and then inserts the rows of junctions into it. This differs
/// from the index of all rows as follows, and so does ours:
/// - A row of the genome with an end marks the last prefix that the genome has, although a junction
///   may have a greater one that is less than the row.
/// - STAR does not step over the junctions before the first row of the genome, or behind the last
///   one, when it looks for prefixes that only junctions have. Such a prefix is present only if none
///   of these junctions is left before it.
/// - A prefix behind all prefixes of a level is absent with the number of rows of the genome, unless
///   all rows of junctions are before the last prefix.
/// - The row of a junction behind all rows of the genome is its number among the junctions less two.
/// - If the first row of all junctions is one of A alone, and then N or an end, longer prefixes of A
///   alone that the genome lacks are present with its row, and the rows of prefixes before are
///   greater by one.
///
/// Rows come in ascending order. Each level is written as far as its entries are known, so that the
/// memory is that of a block of rows.
class StarPrefixIndex {
 public:
  /// \param depth          k, 1 to 16
  /// \param bits           of an entry: the two highest are the marks
  /// \param genome_rows    number of all rows but those of junctions
  /// \param inserted_rows  number of rows of junctions
  StarPrefixIndex(IndexFile& file, std::uint32_t depth, int bits, std::uint64_t genome_rows,
                  std::uint64_t inserted_rows);

  /// Adds the prefixes of the next rows. A row that equals the one before may be left out; of
  /// junctions, the one before is then marked as repeated.
  /// \throws Error (input) the first row is cut, and another one is longer: STAR fails
  void append(std::span<const std::vector<SuffixPrefix>> prefixes);
  /// \pre all rows were added
  void finish();

  [[nodiscard]] static std::uint64_t bytes(std::uint32_t depth, int bits);

 private:
  /// The entry of a prefix that exists.
  struct Present {
    std::uint64_t prefix;
    std::uint64_t row;
    bool is_cut;
  };
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  /// First entry of level `level`, from 1.
  [[nodiscard]] static std::uint64_t begin_of(std::uint32_t level) {
    return ((std::uint64_t{1} << 2 * level) - 4) / 3;
  }

  struct Level {
    std::vector<Present> presents;         ///< whose entries are not written
    std::uint64_t written = 0;             ///< entries
    std::array<std::uint64_t, 4> first{};  ///< entries that share bytes with the level before
    std::array<std::uint64_t, 4> last{};   ///< with the level after

    /// The last prefix of the genome in `presents`, which may still be cut; none before the first.
    std::uint64_t last_of_genome = none;
    /// The prefix of the rows that are added, which are a group.
    std::uint64_t prefix = none;
    std::uint64_t group_row = 0;
    std::uint64_t group_inserted = 0;  ///< rows of junctions before the group
    bool group_is_present = false;     ///< the last of `presents`
    bool group_is_of_genome = false;
    bool is_blocked = false;             ///< by a junction over which STAR does not step
    bool is_first_cut = false;           ///< a junction is cut before the first prefix
    bool has_inserted = false;           ///< a row of a junction was added
    bool has_only_a = false;             ///< the genome has the prefix of A alone
    std::uint64_t row_of_only_a = none;  ///< if a junction of fewer letters gives one
    std::uint64_t consumed = 0;          ///< rows of junctions over which STAR has stepped
  };

  /// Prefixes in order, in several arrays.
  using Pieces = std::span<const std::span<const SuffixPrefix>>;

  [[nodiscard]] const SuffixPrefix* find_last_groups(Pieces pieces);
  [[nodiscard]] bool is_last_row_unseen() const;
  void add(Pieces pieces);
  template <bool has_inserted>
  void collect(std::uint32_t number, Pieces pieces);
  void add_genome_row(Level& level, const SuffixPrefix& suffix, std::uint64_t prefix);
  void add_inserted_row(Level& level, const SuffixPrefix& suffix, std::uint64_t prefix);
  void add_cut_row(Level& level, const SuffixPrefix& suffix) const;
  void mark_previous_levels(std::uint32_t number);
  void write_entries(std::uint32_t number, std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] std::uint64_t absent() const { return std::uint64_t{1} << (bits_ - 1); }
  [[nodiscard]] std::uint64_t cut() const { return std::uint64_t{1} << (bits_ - 2); }
  /// Whether STAR steps over a junction when it looks for prefixes that only junctions have.
  [[nodiscard]] bool blocks(const SuffixPrefix& suffix) const {
    return suffix.genome_rows == 0 || suffix.genome_rows == genome_rows_;
  }

  IndexFile& file_;
  std::uint32_t depth_;
  int bits_;
  std::uint64_t genome_rows_;
  std::uint64_t inserted_rows_;
  std::uint64_t offset_;  ///< of the entries in the file
  std::vector<Level> levels_;
  std::optional<SuffixPrefix> group_;  ///< of the genome, the first of the last equal rows
  std::uint64_t group_before_ = 0;     ///< first row of the genome in the group before
};

}  // namespace sortie::genomes
