// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

/// What the indexes of bowtie2 and HISAT2, global and local, are made of. All numbers are
/// little-endian words of 2, 4 or 8 bytes.
namespace sortie::genomes {

/// Appends little-endian numbers to bytes.
class WordBytes {
 public:
  explicit WordBytes(std::uint64_t word) : word_(word) {}

  void add(std::uint64_t number) { append(number, word_); }
  void add(std::initializer_list<std::uint64_t> numbers) {
    for (const std::uint64_t number : numbers) add(number);
  }
  void add_int(std::int32_t number) { append(static_cast<std::uint32_t>(number), 4); }
  void add_byte(std::uint8_t byte) { bytes_.push_back(static_cast<char>(byte)); }

  [[nodiscard]] std::string& bytes() { return bytes_; }

 private:
  void append(std::uint64_t number, std::uint64_t size) {
    bytes_.append(reinterpret_cast<const char*>(&number), size);
  }

  std::uint64_t word_;
  std::string bytes_;
};

/// Letters of the prefixes that the global indexes list.
inline constexpr unsigned fm_prefix_letters = 10;

using SideCounts = std::array<std::uint64_t, 4>;

/// A side: letters of the Burrows-Wheeler transform, 2 bits each, the first in the lowest bits of its
/// byte, and then the numbers of A, C, G and T before the side. The end, which no letter precedes, is
/// an A that is not counted; A also fills the last side.
struct SideLayout {
  std::uint64_t bytes = 64;
  std::uint64_t word = 4;  ///< bytes of a number

  [[nodiscard]] constexpr std::uint64_t letter_bytes() const { return bytes - 4 * word; }
  [[nodiscard]] constexpr std::uint64_t letters() const { return 4 * letter_bytes(); }
  /// Sides for this many bytes of letters.
  [[nodiscard]] constexpr std::uint64_t sides(std::uint64_t of_bytes) const {
    return (of_bytes + letter_bytes() - 1) / letter_bytes();
  }

  /// Packs the letters of a side. \return how often each one is in it
  SideCounts pack(const std::uint8_t* codes, char* to) const {
    std::uint64_t ones = 0;
    std::uint64_t twos = 0;
    std::uint64_t threes = 0;
    for (std::uint64_t i = 0; i < letter_bytes(); i += 8, to += 8) {
      std::uint64_t packed = 0;
      for (std::uint64_t j = 0; j < 4; ++j) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, codes + 4 * i + 8 * j, sizeof eight);
        packed |= pack_eight(eight) << 16 * j;
      }
      std::memcpy(to, &packed, sizeof packed);
      constexpr std::uint64_t low_bits = 0x5555555555555555;
      const std::uint64_t low = packed & low_bits;
      const std::uint64_t high = packed >> 1 & low_bits;
      threes += bits(low & high);
      ones += bits(low);
      twos += bits(high);
    }
    ones -= threes;
    twos -= threes;
    return {letters() - ones - twos - threes, ones, twos, threes};
  }

  /// Sets the numbers of consecutive sides.
  /// \param counts    of the letters of each
  /// \param end_side  index of the one that has the end, if one has
  /// \param before    counts of all letters before them, and on return of theirs as well
  void set_numbers(std::span<const SideCounts> counts, std::uint64_t end_side, SideCounts& before,
                   char* sides) const {
    for (std::uint64_t i = 0; i < counts.size(); ++i, sides += bytes) {
      for (std::size_t letter = 0; letter < before.size(); ++letter) {
        std::memcpy(sides + letter_bytes() + letter * word, &before[letter], word);
        before[letter] += counts[i][letter];
      }
      if (i == end_side) --before[0];
    }
  }

 private:
  [[nodiscard]] static std::uint64_t bits(std::uint64_t word) {
    return static_cast<std::uint64_t>(std::popcount(word));
  }
  /// Eight codes, one a byte, in 16 bits.
  [[nodiscard]] static std::uint64_t pack_eight(std::uint64_t codes) {
    codes = (codes | codes >> 6) & 0x000F000F000F000F;
    codes = (codes | codes >> 12) & 0x000000FF000000FF;
    return (codes | codes >> 24) & 0xFFFF;
  }
};

/// Adds to `counts` how many suffixes begin with each string of `letters` letters, of which the first
/// is the highest digit. Shorter suffixes are not counted. On the calling thread.
template <class Count>
void add_prefixes(std::span<const std::uint8_t> codes, unsigned letters, std::span<Count> counts) {
  std::uint64_t string = 0;
  for (std::uint64_t i = 0; i < codes.size(); ++i) {
    string = (string << 2 | codes[i]) & (counts.size() - 1);
    if (i + 1 >= letters) ++counts[string];
  }
}

/// The same for all strings of fm_prefix_letters letters, on all threads.
[[nodiscard]] std::vector<std::uint64_t> count_prefixes(std::span<const std::uint8_t> codes);
/// The counts of the reversed text.
[[nodiscard]] std::vector<std::uint64_t> reversed_prefixes(std::span<const std::uint64_t> counts);

/// Appends the table of prefixes: for each string of `letters` letters, and the end, the first row of
/// the suffixes that begin with it. Shorter suffixes come before those of the next string that
/// occurs. Its entry then is the complement of i, and numbers 2i and 2i + 1 of the second table
/// are the row without and with these suffixes.
/// \param short_rows  rows of the suffixes of less than `letters` letters, the empty one included
void add_prefix_tables(std::span<const std::uint64_t> counts,
                       std::span<const std::uint64_t> short_rows, unsigned letters,
                       std::uint64_t word, std::string& bytes);

}  // namespace sortie::genomes
