#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// How often each byte occurs as a letter: separators, which are told by position, do not count.
using LetterCounts = std::array<std::uint64_t, 256>;

/// Counts on all host threads. O(n).
[[nodiscard]] LetterCounts count_letters(const TextView& text);

/// Whether numbers are multiples of one number, by a multiplication, which takes a fifth of a
/// division's time: times the inverse of the odd part modulo 2^64, just the multiples become
/// their quotients (Granlund, Montgomery, PLDI 1994, section 9).
class DivisibilityTest {
 public:
  /// \param divisor  at least 1
  explicit DivisibilityTest(std::uint64_t divisor)
      : twos_(std::countr_zero(divisor)), greatest_quotient_(~std::uint64_t{0} / divisor) {
    const std::uint64_t odd = divisor >> twos_;
    // Right in three bits; each turn doubles these.
    inverse_ = odd;
    for (int bits = 3; bits < 64; bits *= 2) inverse_ *= 2 - odd * inverse_;
  }

  [[nodiscard]] bool divides(std::uint64_t number) const {
    return std::rotr(number * inverse_, twos_) <= greatest_quotient_;
  }

 private:
  int twos_;
  std::uint64_t greatest_quotient_;
  std::uint64_t inverse_;
};

/// How the first sort divides the beginning of a suffix.
///
/// Letters have the codes 1..sigma in byte order, the end of a record has 0, and so have all places
/// after it. The first `bucket_symbols` codes, as a number in base sigma + 1, are the bucket of the
/// suffix; the next `key_symbols` are its key. Bucket and key compare as the suffixes do in their
/// first depth() symbols.
///
/// An **element** is one 64-bit number: the key above the position. So elements of a bucket are
/// sorted as plain numbers, one array and one word an item, and equal beginnings come out by
/// position, which is the final order where the record ends within them.
struct PrefixPlan {
  std::array<std::uint16_t, 256> code{};
  int sigma = 0;
  std::uint64_t base = 2;           ///< sigma + 1, at least 2
  int bucket_symbols = 1;           ///< at least 1
  std::uint64_t buckets = 2;        ///< base ^ bucket_symbols
  int key_symbols = 1;              ///< at least 1
  std::uint64_t key_end = 2;        ///< base ^ key_symbols
  int position_bits = 1;            ///< of an element
  std::array<double, 257> share{};  ///< of all letters, by code
  DivisibilityTest base_test{2};    ///< of base

  [[nodiscard]] std::uint64_t depth() const {
    return static_cast<std::uint64_t>(bucket_symbols + key_symbols);
  }
  [[nodiscard]] std::uint64_t element(std::uint64_t key, std::uint64_t position) const {
    return key << position_bits | position;
  }
  [[nodiscard]] std::uint64_t position_of(std::uint64_t element) const {
    return element & ((std::uint64_t{1} << position_bits) - 1);
  }
  [[nodiscard]] std::uint64_t key_of(std::uint64_t element) const {
    return element >> position_bits;
  }
  /// True when the end of the record lies within depth() symbols; `key` is of a suffix that begins
  /// with a letter.
  [[nodiscard]] bool contains_end(std::uint64_t key) const { return base_test.divides(key); }
  /// The bucket and the key of depth() times one letter.
  [[nodiscard]] std::uint64_t run_bucket(std::uint64_t letter_code) const {
    return letter_code * ((buckets - 1) / (base - 1));
  }
  [[nodiscard]] std::uint64_t run_key(std::uint64_t letter_code) const {
    return letter_code * ((key_end - 1) / (base - 1));
  }
};

/// \param size  symbols of the text, at least 1
[[nodiscard]] PrefixPlan plan_prefixes(const LetterCounts& counts, std::uint64_t size);

}  // namespace sortie::suffix_array::host
