// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// One bit for each of `size` items, initially 0: n / 8 bytes.
///
/// Several threads may set bits of one word at once; reads require a barrier after the last of
/// these.
class BitSet {
 public:
  static constexpr std::uint64_t word_bits = 64;

  explicit BitSet(std::uint64_t size = 0) : words_(size / word_bits + 1) {}

  [[nodiscard]] bool test(std::uint64_t i) const {
    return (words_[i / word_bits] >> (i % word_bits) & 1) != 0;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }
  /// The words, lowest bit first, for writing whole words.
  [[nodiscard]] std::uint64_t* data() { return words_.data(); }
  [[nodiscard]] std::span<std::uint64_t> span() { return words_; }

  void set(std::uint64_t i) { add(i / word_bits, std::uint64_t{1} << (i % word_bits)); }

  /// The same when no other thread sets bits: takes a third of the time.
  void set_alone(std::uint64_t i) { words_[i / word_bits] |= std::uint64_t{1} << (i % word_bits); }

  /// Sets [begin, end).
  void set_range(std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      const std::uint64_t first = begin % word_bits;
      const std::uint64_t bits = std::min(end - begin, word_bits - first);
      add(begin / word_bits, (~std::uint64_t{0} >> (word_bits - bits)) << first);
      begin += bits;
    }
  }

  /// Clears [begin, end), when no other thread sets bits.
  void clear_range(std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      const std::uint64_t first = begin % word_bits;
      const std::uint64_t bits = std::min(end - begin, word_bits - first);
      words_[begin / word_bits] &= ~((~std::uint64_t{0} >> (word_bits - bits)) << first);
      begin += bits;
    }
  }

  /// The first item in [begin, end) whose bit is set; `end` when there is none.
  [[nodiscard]] std::uint64_t next_set(std::uint64_t begin, std::uint64_t end) const {
    return next(begin, end, 0);
  }
  /// The same for clear bits.
  [[nodiscard]] std::uint64_t next_clear(std::uint64_t begin, std::uint64_t end) const {
    return next(begin, end, ~std::uint64_t{0});
  }
  /// The last item in [begin, end) whose bit is clear; `end` when there is none.
  [[nodiscard]] std::uint64_t last_clear(std::uint64_t begin, std::uint64_t end) const {
    if (begin >= end) return end;
    std::uint64_t word = (end - 1) / word_bits;
    const std::uint64_t above = word_bits - 1 - (end - 1) % word_bits;
    std::uint64_t bits = ~words_[word] << above >> above;
    while (bits == 0) {
      if (word * word_bits <= begin) return end;
      bits = ~words_[--word];
    }
    const std::uint64_t last =
        word * word_bits + static_cast<std::uint64_t>(std::bit_width(bits)) - 1;
    return last >= begin ? last : end;
  }

  /// A set bit joins an item to the one before it. Calls visit(first, last) for every group [first,
  /// last) of at least two items that begins in [begin, end), in order.
  /// \param begin  a multiple of word_bits
  /// \param size   number of all items; other bits of the last word are clear, later words are not
  ///               read
  template <class Visit>
  void for_each_joined(std::uint64_t begin, std::uint64_t end, std::uint64_t size,
                       const Visit& visit) const {
    const std::uint64_t size_words = (size + word_bits - 1) / word_bits;
    for (std::uint64_t i = begin / word_bits; i * word_bits < end; ++i) {
      const std::uint64_t bits = words_[i];
      const std::uint64_t next = i + 1 < size_words ? words_[i + 1] : 0;
      // The first item of a group has a clear bit, and the item after it a set one.
      for (std::uint64_t firsts = ~bits & (bits >> 1 | next << (word_bits - 1)); firsts != 0;
           firsts &= firsts - 1) {
        const auto first = static_cast<std::uint64_t>(std::countr_zero(firsts));
        const std::uint64_t others = ~bits >> first >> 1;
        const std::uint64_t last =
            others != 0
                ? i * word_bits + first + 1 + static_cast<std::uint64_t>(std::countr_zero(others))
                : next_clear((i + 1) * word_bits, size);
        visit(i * word_bits + first, std::min(last, size));
      }
    }
  }

  /// Calls visit(item) for all items of such groups in [begin, end), in order.
  template <class Visit>
  void for_each_in_joined(std::uint64_t begin, std::uint64_t end, const Visit& visit) const {
    for (std::uint64_t i = begin / word_bits; i * word_bits < end; ++i) {
      const std::uint64_t next = i + 1 < words_.size() ? words_[i + 1] : 0;
      for (std::uint64_t items = words_[i] | words_[i] >> 1 | next << (word_bits - 1); items != 0;
           items &= items - 1) {
        visit(i * word_bits + static_cast<std::uint64_t>(std::countr_zero(items)));
      }
    }
  }

 private:
  void add(std::uint64_t word, std::uint64_t bits) {
    // A load first: atomic instructions cost more, and either few bits are set or most of them
    // repeatedly.
    std::atomic_ref<std::uint64_t> shared(words_[word]);
    if ((shared.load(std::memory_order_relaxed) & bits) != bits) {
      shared.fetch_or(bits, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] std::uint64_t next(std::uint64_t begin, std::uint64_t end,
                                   std::uint64_t flipped) const {
    if (begin >= end) return end;
    std::uint64_t word = begin / word_bits;
    std::uint64_t bits = (words_[word] ^ flipped) >> (begin % word_bits) << (begin % word_bits);
    while (bits == 0) {
      if (++word * word_bits >= end) return end;
      bits = words_[word] ^ flipped;
    }
    return std::min(end, word * word_bits + static_cast<std::uint64_t>(std::countr_zero(bits)));
  }

  std::vector<std::uint64_t> words_;
};

/// A set of positions, numbered from 0 in ascending order. It refers to the bits, which must not
/// change during its lifetime.
///
/// Memory: P bytes for 64 positions, for positions of P bytes.
template <Position Pos>
class NumberedSet {
 public:
  explicit NumberedSet(const BitSet& set)
      : words_(set.words()), before_(allocate_array<Pos>(words_.size())) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      before_[i] = static_cast<Pos>(count_);
      count_ += static_cast<std::uint64_t>(std::popcount(words_[i]));
    }
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
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
  HostArray<Pos> before_;
  std::uint64_t count_ = 0;
};

}  // namespace sortie::suffix_array::host
