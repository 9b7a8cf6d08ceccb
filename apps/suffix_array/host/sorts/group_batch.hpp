// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "apps/suffix_array/host/samples/sample_map.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Sorts short groups of slots by the ranks of their suffixes' samples, many groups at once.
///
/// In similar genomes nearly all groups have as many members as there are genomes; sorting these
/// one by one, mispredicted branches dominate. Here the number of the group stands above the rank,
/// and one pass of sort_parts() sorts all groups.
///
/// An element consists, from the high bits down, of the number of the group in the batch, the rank,
/// and the index in the batch.
template <Position Pos>
class GroupBatch {
 public:
  static constexpr std::uint64_t longest_group = longest_vector_part;

  /// \param ranks     of the samples
  /// \param suffixes  the suffix array; its groups are sorted in place
  GroupBatch(const SampleMap<Pos>& ranks, Pos* suffixes) : ranks_(ranks), suffixes_(suffixes) {}

  [[nodiscard]] static bool holds_ranks_up_to(std::uint64_t greatest) {
    return greatest >> rank_bits == 0;
  }

  /// Adds the group [begin, end) of slots, of 2 to longest_group members, and prefetches what its
  /// ranks need.
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

  /// Sorts the groups that were added since the last call. Must be called at the end.
  void sort() {
    std::array<Pos, capacity> found;
    ranks_.look_up(positions_.data(), size_, found.data());
    for (std::uint64_t i = 0; i < size_; ++i) {
      elements_[i] |= static_cast<std::uint64_t>(found[i]) << place_bits;
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
  static constexpr int rank_bits = 64 - place_bits - group_bits;
  /// The data for the ranks of so many positions, one or two cache lines each, stays in L1 and L2.
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
