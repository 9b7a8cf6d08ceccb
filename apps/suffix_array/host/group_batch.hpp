#pragma once

#include <array>
#include <cstdint>

#include "sortie/apps/suffix_array/host/element_sort.hpp"
#include "sortie/apps/suffix_array/host/vector_sort.hpp"
#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Short groups of slots whose suffixes are sorted by a key of each, many groups at once.
///
/// Of similar genomes nearly all groups have as many members as there are genomes; one by one they
/// cost more in branches that cannot be foreseen than in anything else. Here the number of the
/// group stands above the key, and one pass over windows (vector_sort.hpp) sorts all of them.
///
/// An element is, from the top, the number of the group in the batch, the key, and the place in
/// the batch.
template <Position Pos>
class GroupBatch {
 public:
  static constexpr std::uint64_t longest_group = vector_window;

  /// \param keys      by position, below 2^key_bits
  /// \param suffixes  whose groups are sorted
  GroupBatch(const Pos* keys, Pos* suffixes) : keys_(keys), suffixes_(suffixes) {}

  /// Whether the keys of texts of that size fit.
  [[nodiscard]] static bool holds_keys_up_to(std::uint64_t greatest_key) {
    return greatest_key >> key_bits == 0;
  }

  /// Adds the group [begin, end) of slots, of two members to longest_group, and asks for its keys.
  void add(std::uint64_t begin, std::uint64_t end) {
    if (size_ + (end - begin) > capacity) sort();
    ++groups_;
    for (std::uint64_t slot = begin; slot < end; ++slot, ++size_) {
      const Pos position = suffixes_[slot];
      __builtin_prefetch(keys_ + position);
      elements_[size_] = groups_ << (key_bits + place_bits) | size_;
      positions_[size_] = position;
      slots_[size_] = slot;
    }
  }

  /// Sorts the groups that were added since the last call. To be called at the end.
  void sort() {
    for (std::uint64_t i = 0; i < size_; ++i) {
      elements_[i] |= static_cast<std::uint64_t>(keys_[positions_[i]]) << place_bits;
    }
    if (has_vector_sort()) {
      sort_parts(elements_.data(), elements_.data(), size_);
    } else {
      detail::insertion_sort(elements_.data(), size_);
    }
    for (std::uint64_t i = 0; i < size_; ++i) {
      suffixes_[slots_[i]] = positions_[elements_[i] % capacity];
    }
    size_ = 0;
    groups_ = 0;
  }

 private:
  static constexpr int place_bits = 9;
  static constexpr int group_bits = 9;  // groups have two members or more, and count from 1
  static constexpr int key_bits = 64 - place_bits - group_bits;
  /// Keys of so many positions, a cache line each, stay in L1.
  static constexpr std::uint64_t capacity = std::uint64_t{1} << place_bits;

  const Pos* keys_;
  Pos* suffixes_;
  std::uint64_t size_ = 0;
  std::uint64_t groups_ = 0;
  std::array<std::uint64_t, capacity> elements_;
  std::array<Pos, capacity> positions_;
  std::array<std::uint64_t, capacity> slots_;
};

}  // namespace sortie::suffix_array::host
