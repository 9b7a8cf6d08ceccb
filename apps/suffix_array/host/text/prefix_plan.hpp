// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "apps/suffix_array/divisibility.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// How often each byte occurs as a letter. Separators are given by position and do not count.
using LetterCounts = std::array<std::uint64_t, 256>;

/// Counts on all host threads. O(n).
[[nodiscard]] LetterCounts count_letters(const TextView& text);

/// The plan of the first sort: how the first symbols of a suffix become bucket and key.
///
/// Letters have the codes 1..sigma in byte order, the end of a record has 0, and so have all
/// positions after it. The first `bucket_symbols` codes, as a number in base sigma + 1, are the
/// bucket of the suffix; the next `key_symbols` are its key. Bucket and key compare as the suffixes
/// do in their first depth() symbols.
///
/// An **element** is one 64-bit number: the key above the position. Elements of a bucket are sorted
/// as plain numbers in a single array, one word an item, and equal keys come out by position, which
/// is the final order if the record ends within them.
struct PrefixPlan {
  std::array<std::uint16_t, 256> code{};
  int sigma = 0;
  std::uint64_t base = 2;           ///< sigma + 1, at least 2
  int bucket_symbols = 1;           ///< at least 1
  std::uint64_t buckets = 2;        ///< base ^ bucket_symbols
  int key_symbols = 1;              ///< at least 1
  std::uint64_t key_end = 2;        ///< base ^ key_symbols
  int position_bits = 1;            ///< low bits of an element
  std::array<double, 257> share{};  ///< relative frequency of each code
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
  /// True when the record ends within depth() symbols; `key` belongs to a suffix that begins with a
  /// letter.
  [[nodiscard]] bool contains_end(std::uint64_t key) const { return base_test.divides(key); }
  /// The bucket and the key of depth() equal letters.
  [[nodiscard]] std::uint64_t run_bucket(std::uint64_t letter_code) const {
    return letter_code * ((buckets - 1) / (base - 1));
  }
  [[nodiscard]] std::uint64_t run_key(std::uint64_t letter_code) const {
    return letter_code * ((key_end - 1) / (base - 1));
  }
};

/// Chooses bucket and key sizes. \param size  symbols of the text, at least 1
[[nodiscard]] PrefixPlan plan_prefixes(const LetterCounts& counts, std::uint64_t size);

}  // namespace sortie::suffix_array::host
