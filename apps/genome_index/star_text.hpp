// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "apps/genome_index/star_letters.hpp"
#include "apps/genome_index/star_prefix_index.hpp"
#include "core/host_memory.hpp"
#include "sortie/context.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::genomes {

/// What InvertedText is made of.
struct StarTextParts {
  std::span<const StarLetters::Record> records;  ///< also those of inserted junctions
  std::uint64_t first_inserted = 0;              ///< number of the first record of a junction
  const std::uint8_t* codes = nullptr;           ///< of the letters of all records, 0 to 4
  std::uint64_t genome_size = 0;                 ///< with padding and junctions
};

/// A text whose suffix array, read backwards, is that of STAR.
///
/// STAR's text is the genome with padding after each record, the inserted junctions, and the reverse
/// complement of all that, 2N bytes. Its order is A < C < G < T < N < padding; of suffixes that agree
/// up to their padding, the one with the lower position is first. Rows that begin with N or padding
/// are left out.
///
/// Ours has no padding, and everything inverted: letters of inverted order (T, G, C, A are 2 to 5),
/// the records of the 2N bytes in inverted order, each followed by a separator.
class InvertedText {
 public:
  /// \param bits  of a position: the next bit is the strand
  InvertedText(const HostContext& context, const StarTextParts& parts, int bits);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] suffix_array::TextView view() const {
    return {{symbols_.get(), size_}, separators_};
  }

  /// STAR's number for the suffix at a position.
  [[nodiscard]] std::uint64_t entry(std::uint64_t position) const {
    std::size_t i = first_segments_[position / granule];
    if (i + 1 < segments_.size() && segments_[i + 1].begin <= position)
      i = segment_after(i, position);
    return position + segments_[i].shift;
  }

  /// Whether there are junctions.
  [[nodiscard]] bool has_inserted() const { return inserted_size_ != 0; }
  /// Whether a position is within a junction.
  [[nodiscard]] bool is_inserted(std::uint64_t position) const {
    return position - inserted_begin_ < inserted_size_;
  }

  void prefetch(std::uint64_t position) const { __builtin_prefetch(symbols_.get() + position); }

  /// The first letters of the suffix at a position, at most `depth`. Its row is not set.
  [[nodiscard]] SuffixPrefix prefix(std::uint64_t position, std::uint32_t depth) const;

 private:
  static constexpr std::uint64_t prefix_bytes = 16;
  static constexpr std::uint64_t granule = 4096;

  /// A record of one strand, up to its separator.
  struct Segment {
    std::uint64_t begin;
    std::uint64_t shift;  ///< from a position to STAR's number
  };

  void copy_letters(const std::uint8_t* codes, std::uint64_t begin, std::uint64_t end,
                    std::uint64_t forward, std::uint64_t complement,
                    const StarLetters::Record& record);
  /// The segment of a position that is behind segment i and within the same granule, or the first
  /// one of the next.
  [[nodiscard]] std::size_t segment_after(std::size_t i, std::uint64_t position) const;
  /// Codes of eight letters, 2 bits each, the first in the highest, and how many are before an N
  /// or separator. Codes from there on are of no use.
  [[nodiscard]] std::pair<std::uint64_t, std::uint32_t> eight_letters(std::uint64_t position) const;

  std::uint64_t size_;
  HostArray<std::uint8_t> symbols_;
  std::vector<std::uint64_t> separators_;
  std::vector<Segment> segments_;              ///< ascending
  std::vector<std::uint32_t> first_segments_;  ///< of the position at each multiple of granule
  std::uint64_t inserted_begin_ = 0;
  std::uint64_t inserted_size_ = 0;
};

inline SuffixPrefix InvertedText::prefix(std::uint64_t position, std::uint32_t depth) const {
  const auto [high, of_high] = eight_letters(position);
  const auto [low, of_low] = eight_letters(position + 8);
  const std::uint32_t valid = std::min(of_high < 8 ? of_high : 8 + of_low, depth);
  const std::uint64_t after = 0xffffffff >> (valid == 16 ? 31 : 2 * valid) >> (valid == 16);
  return {.letters = static_cast<std::uint32_t>((high << 16 | low) & ~after),
          .valid = static_cast<std::uint8_t>(valid)};
}

inline std::pair<std::uint64_t, std::uint32_t> InvertedText::eight_letters(
    std::uint64_t position) const {
  std::uint64_t eight = 0;
  std::memcpy(&eight, symbols_.get() + position, sizeof eight);
  eight = 0x0505050505050505 - eight;  // letters 0 to 3, N 4, separators 5
  const std::uint64_t ends = eight & 0x0404040404040404;
  const int valid = ends == 0 ? 8 : std::countr_zero(ends) / 8;
  std::uint64_t codes = __builtin_bswap64(eight & 0x0303030303030303);
  codes = (codes | codes >> 6) & 0x000f000f000f000f;
  codes = (codes | codes >> 12) & 0x000000ff000000ff;
  codes = (codes | codes >> 24) & 0xffff;
  return {codes, static_cast<std::uint32_t>(valid)};
}

}  // namespace sortie::genomes
