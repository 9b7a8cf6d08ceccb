// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

/// Numbers for k letters, by which k-mers are hashed.
namespace sortie::genome_matches {

/// Two bits of each of k letters, different for A, C, G and T. Other letters share them, so equal
/// codes do not imply equal letters if there are others.
class LetterCode {
 public:
  static constexpr std::uint64_t most_letters = 32;

  /// \param length  k, from 1 to most_letters
  explicit LetterCode(std::uint64_t length)
      : length_(length), mask_(~std::uint64_t{0} >> (64 - 2 * length)) {}

  /// The code of the letters at `position`. O(1) amortised if positions ascend by less than k.
  [[nodiscard]] std::uint64_t at(const std::uint8_t* letters, std::uint64_t position) {
    next_ = std::max(next_, position);
    for (; next_ < position + length_; ++next_)
      code_ = (code_ << 2 | (letters[next_] >> 1 & 3U)) & mask_;
    return code_;
  }

  /// Whether the last code may be that of a run of one letter.
  [[nodiscard]] bool is_uniform() const { return code_ == (code_ & 3) * (mask_ / 3); }

 private:
  std::uint64_t length_;
  std::uint64_t mask_;
  std::uint64_t code_ = 0;
  std::uint64_t next_ = 0;  ///< the first letter that is not in code_ yet
};

/// A hash of 64 bits, of which the upper ones are the best.
[[nodiscard]] inline std::uint64_t hash_of_code(std::uint64_t code) {
  code *= 0x9E3779B97F4A7C15ULL;
  return (code ^ code >> 29) * 0xBF58476D1CE4E5B9ULL;
}

}  // namespace sortie::genome_matches
