// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/decimal_text.hpp"
#include "primitives/host/radix_pass.hpp"
#include "sortie/kmer_count.hpp"

namespace sortie::kmers {

/// The letters of all bytes of four codes.
extern const std::array<std::array<char, 4>, 256> letters_of_bytes;

/// Throws Error (usage) unless 1 <= least <= most.
void require_range(CountRange counts);

/// A hash of a k-mer, for sums of hashes.
[[nodiscard]] inline std::uint64_t checksum_of(DoubleWord kmer) {
  const auto mix = [](std::uint64_t x) {  // of SplitMix64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  };
  return mix(mix(static_cast<std::uint64_t>(kmer >> 64) + 0x9e3779b97f4a7c15) +
             static_cast<std::uint64_t>(kmer));
}

/// Collects lines of a table, and the figures of the k-mers that they are made from. One for each
/// thread.
class TableLines {
 public:
  /// \param writes  whether lines are wanted
  TableLines(int k, CountRange counts, TableFormat format, bool writes, bool checksum);

  /// Adds a k-mer. Its line is written if its count is in range.
  template <class Key>
  void add(Key kmer, std::uint64_t count) {
    kmers_ += count;
    ++distinct_;
    if (checksum_wanted_) checksum_ += count * checksum_of(kmer);
    if (count < small_counts_.size()) [[likely]] {
      ++small_counts_[count];
    } else {
      ++large_counts_[count];
    }
    if (count < counts_.least || count > counts_.most) return;
    ++written_;
    if (!writes_) return;
    if (capacity_ - size_ < most_line) grow();
    char* at = text_.get() + size_;
    if (format_ == TableFormat::jellyfish) {
      *at++ = '>';
      at = put_decimal(at, count);
      *at++ = '\n';
      at = put_kmer(at, kmer);
    } else {
      at = put_kmer(at, kmer);
      *at++ = format_ == TableFormat::jellyfish_column ? ' ' : '\t';
      at = put_decimal(at, count);
    }
    *at++ = '\n';
    size_ = static_cast<std::size_t>(at - text_.get());
  }

  /// The lines since the last clear().
  [[nodiscard]] std::span<const char> text() const { return {text_.get(), size_}; }
  void clear() { size_ = 0; }

  /// Adds the figures, and the histogram as a part that is not merged.
  void add_to(KmerFigures& figures) const;

  /// Bytes that add() may store for a k-mer, but for the buffer's growth.
  static constexpr std::size_t most_line = longest_kmer + 2 * decimal_text_room + 4;

 private:
  /// Stores the letters. Up to three bytes after them are overwritten.
  template <class Key>
  [[nodiscard]] char* put_kmer(char* at, Key kmer) const {
    constexpr int bits = 8 * static_cast<int>(sizeof(Key));
    Key left = static_cast<Key>(kmer << (bits - 2 * k_));
    for (int letter = 0; letter < k_; letter += 4) {
      std::memcpy(at + letter,
                  letters_of_bytes[static_cast<std::size_t>(left >> (bits - 8))].data(), 4);
      left = static_cast<Key>(left << 8);
    }
    return at + k_;
  }
  void grow();

  int k_;
  CountRange counts_;
  TableFormat format_;
  bool writes_;
  bool checksum_wanted_;
  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::uint64_t kmers_ = 0;
  std::uint64_t distinct_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t checksum_ = 0;
  std::vector<std::uint64_t> small_counts_;
  std::unordered_map<std::uint64_t, std::uint64_t> large_counts_;
};

/// Sorts and merges the parts of a histogram, and sets the figures that it has.
void finish_figures(KmerFigures& figures);

}  // namespace sortie::kmers
