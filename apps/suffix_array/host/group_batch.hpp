#pragma once

#include <array>
#include <cstdint>

#include "sortie/apps/suffix_array/host/element_sort.hpp"
#include "sortie/apps/suffix_array/host/part_sort.hpp"
#include "sortie/apps/suffix_array/host/sample_map.hpp"
#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/segsort/host/vector_sort.hpp"

namespace sortie::suffix_array::host {

/// Short groups of slots whose suffixes are sorted by the ranks of their samples, many groups at
/// once.
///
/// Of similar genomes nearly all groups have as many members as there are genomes; one by one they
/// cost more in branches that cannot be foreseen than in anything else. Here the number of the
/// group stands above the rank, and one pass over windows (part_sort.hpp) sorts all of them.
///
/// An element is, from the top, the number of the group in the batch, the rank, and the place in
/// the batch.
template <Position Pos>
class GroupBatch {
 public:
  static constexpr std::uint64_t longest_group = longest_vector_part;

  /// \param ranks     of the samples
  /// \param suffixes  whose groups are sorted
  GroupBatch(const SampleMap<Pos>& ranks, Pos* suffixes) : ranks_(ranks), suffixes_(suffixes) {}

  [[nodiscard]] static bool holds_ranks_up_to(std::uint64_t greatest) {
    return greatest >> rank_bits == 0;
  }

  /// Adds the group [begin, end) of slots, of two members to longest_group, and asks for what leads
  /// to its ranks.
  void add(std::uint64_t begin, std::uint64_t end) {
    if (size_ + (end - begin) > capacity) sort();
    ++groups_;
    for (std::uint64_t slot = begin; slot < end; ++slot, ++size_) {
      const Pos position = suffixes_[slot];
      ranks_.prefetch(position);
      elements_[size_] = groups_ << (rank_bits + place_bits) | size_;
      positions_[size_] = position;
      slots_[size_] = slot;
    }
  }

  /// Sorts the groups that were added since the last call. To be called at the end.
  void sort() {
    std::array<Pos, capacity> found;
    ranks_.look_up(positions_.data(), size_, found.data());
    for (std::uint64_t i = 0; i < size_; ++i) {
      elements_[i] |= static_cast<std::uint64_t>(found[i]) << place_bits;
    }
    if (segsort::has_vector_sort()) {
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
  static constexpr int rank_bits = 64 - place_bits - group_bits;
  /// What leads to the ranks of so many positions, a cache line or two each, stays in L1 and L2.
  static constexpr std::uint64_t capacity = std::uint64_t{1} << place_bits;

  const SampleMap<Pos>& ranks_;
  Pos* suffixes_;
  std::uint64_t size_ = 0;
  std::uint64_t groups_ = 0;
  std::array<std::uint64_t, capacity> elements_;
  std::array<Pos, capacity> positions_;
  std::array<std::uint64_t, capacity> slots_;
};

}  // namespace sortie::suffix_array::host
