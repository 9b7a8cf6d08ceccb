// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "apps/suffix_array/host/arrays.hpp"
#include "apps/suffix_array/host/bit_set.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// A set of positions, numbered from 0 in ascending order. It refers to the bits, which must not
/// change during its lifetime.
///
/// Memory: P bytes for 64 positions, for positions of P bytes.
template <Position Pos>
class NumberedSet {
 public:
  explicit NumberedSet(const BitSet& set) : words_(set.words()) {
    before_ = allocate<Pos>(words_.size());
    for (std::size_t i = 0; i < words_.size(); ++i) {
      before_[i] = static_cast<Pos>(count_);
      count_ += static_cast<std::uint64_t>(std::popcount(words_[i]));
    }
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool contains(std::uint64_t position) const {
    return (words_[position / word_bits] >> (position % word_bits) & 1) != 0;
  }
  void prefetch(std::uint64_t position) const {
    __builtin_prefetch(words_.data() + position / word_bits);
    __builtin_prefetch(before_.get() + position / word_bits);
  }

  /// The number of a position in the set.
  [[nodiscard]] Pos number(std::uint64_t position) const {
    return number_below(position, (std::uint64_t{1} << (position % word_bits)) - 1);
  }
  /// The number of the last position in the set up to `position`; there must be one.
  [[nodiscard]] Pos last_number(std::uint64_t position) const {
    return number_below(position, (std::uint64_t{2} << (position % word_bits)) - 1) - Pos{1};
  }

  /// Calls visit(position, number) for all positions in the set, on all threads.
  template <class Visit>
  void for_each(const Visit& visit) const {
    constexpr std::uint64_t words_of_task = 1024;
    for_each_range(words_.size(), words_of_task, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t i = first; i < last; ++i) {
        Pos number = before_[i];
        for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
          visit(i * word_bits + static_cast<std::uint64_t>(std::countr_zero(word)), number++);
        }
      }
    });
  }

 private:
  static constexpr std::uint64_t word_bits = BitSet::word_bits;

  [[nodiscard]] Pos number_below(std::uint64_t position, std::uint64_t mask) const {
    const std::uint64_t word = position / word_bits;
    return before_[word] + static_cast<Pos>(std::popcount(words_[word] & mask));
  }

  const std::vector<std::uint64_t>& words_;
  Array<Pos> before_;
  std::uint64_t count_ = 0;
};

}  // namespace sortie::suffix_array::host
