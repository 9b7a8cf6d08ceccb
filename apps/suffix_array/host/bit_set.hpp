// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

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

}  // namespace sortie::suffix_array::host
