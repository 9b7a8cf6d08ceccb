// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "primitives/host/parallel.hpp"
#include "sortie/csr.hpp"

namespace sortie::cluster {

/// A set of numbers below `size` as a bitmap, and the place of each in ascending order. Memory: a
/// quarter of a byte for each number below `size`.
class IndexSet {
 public:
  explicit IndexSet(std::int64_t size)
      : words_(static_cast<std::size_t>((size + 63) / 64)), before_(words_.size() + 1) {}

  /// On all threads. Complexity: O(1) for each number. \pre close() was not called
  template <matrices::Index Idx>
  void insert(std::span<const Idx> numbers) {
    for_each_range(numbers.size(), numbers_per_task, [&](std::size_t begin, std::size_t end) {
      for (const Idx number : numbers.subspan(begin, end - begin)) {
        const auto n = static_cast<std::uint64_t>(number);
        const std::uint64_t bit = std::uint64_t{1} << (n & 63);
        const std::atomic_ref<std::uint64_t> word(words_[n >> 6]);
        // Most numbers are there already: a load does not take the line from other threads.
        if ((word.load(std::memory_order_relaxed) & bit) == 0)
          word.fetch_or(bit, std::memory_order_relaxed);
      }
    });
  }
  /// Counts. \pre called once, after all insertions
  void close() {
    for (std::size_t i = 0; i < words_.size(); ++i)
      before_[i + 1] = before_[i] + static_cast<std::uint64_t>(std::popcount(words_[i]));
  }

  /// Numbers in the set. \pre close() was called, as for the others
  [[nodiscard]] std::uint64_t count() const { return before_.back(); }
  /// Numbers in the set below this one. \pre it is less than `size`
  [[nodiscard]] std::uint64_t place_of(std::uint64_t number) const {
    const std::uint64_t below = (std::uint64_t{1} << (number & 63)) - 1;
    return before_[number >> 6] +
           static_cast<std::uint64_t>(std::popcount(words_[number >> 6] & below));
  }
  /// The numbers, ascending.
  template <matrices::Index Idx>
  [[nodiscard]] std::vector<Idx> list() const {
    std::vector<Idx> numbers;
    numbers.reserve(count());
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1) {
        numbers.push_back(
            static_cast<Idx>(64 * word + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
    return numbers;
  }
  /// The places of numbers of the set. On all threads.
  template <matrices::Index Idx>
  [[nodiscard]] std::vector<Idx> places_of(std::span<const Idx> numbers) const {
    std::vector<Idx> places(numbers.size());
    for_each_range(numbers.size(), numbers_per_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        places[i] = static_cast<Idx>(place_of(static_cast<std::uint64_t>(numbers[i])));
    });
    return places;
  }

 private:
  static constexpr std::size_t numbers_per_task = std::size_t{1} << 16;

  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> before_;  ///< numbers in the words before
};

}  // namespace sortie::cluster
