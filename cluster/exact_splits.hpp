// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sortie/cluster.hpp"

namespace sortie::cluster {

/// A sorted sequence of this rank, of items of one trivially copyable type. See sorted_items().
struct SortedItems {
  std::uint64_t size = 0;
  std::size_t item_bytes = 0;
  /// Copies item i to memory of any alignment.
  std::function<void(std::uint64_t i, std::byte* into)> read;
  /// The number of items before the position in [low, high] that divides the items before `item`
  /// from the others; with `after_equal`, those that are not after it from the others.
  std::function<std::uint64_t(const std::byte* item, std::uint64_t low, std::uint64_t high,
                              bool after_equal)>
      place;
};

/// The first i in [low, high) of which precedes(i) is false; high if there is none.
/// \pre precedes(i) is true up to a position, and false from there on
template <class Precedes>
[[nodiscard]] std::uint64_t first_not(std::uint64_t low, std::uint64_t high,
                                      const Precedes& precedes) {
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (precedes(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// \param item    item(i) gives item i by value; trivially copyable
/// \param before  strict weak order of items
template <class GetItem, class Before>
[[nodiscard]] SortedItems sorted_items(std::uint64_t size, GetItem item, Before before) {
  using Item = std::remove_cvref_t<decltype(item(std::uint64_t{}))>;
  static_assert(std::is_trivially_copyable_v<Item>);
  SortedItems items{size, sizeof(Item), {}, {}};
  items.read = [item](std::uint64_t i, std::byte* into) {
    const Item read = item(i);
    std::memcpy(into, &read, sizeof(Item));
  };
  items.place = [item, before](const std::byte* bytes, std::uint64_t low, std::uint64_t high,
                               bool after_equal) {
    alignas(Item) std::byte storage[sizeof(Item)];
    std::memcpy(storage, bytes, sizeof(Item));
    const Item& pivot = *reinterpret_cast<const Item*>(storage);
    return first_not(low, high, [&](std::uint64_t i) {
      const Item read = item(i);
      return after_equal ? !before(pivot, read) : before(read, pivot);
    });
  };
  return items;
}

/// Samples of each border that exact_splits() takes in a round by default: 64 or, for less than 512
/// borders, more, up to 1024.
[[nodiscard]] std::uint64_t samples_of_a_border(std::uint64_t borders);

/// Collective calls of exact_splits() without a phase, as expected for distinct items of any
/// distribution. Each round narrows a border to one of its samples' gaps.
[[nodiscard]] std::uint64_t split_calls(std::uint64_t items, std::uint64_t ranks);

/// Where each sequence of a rank is divided among the destinations: entry [s][d] is where the part
/// of destination d begins in sequence s; entry [s][P] is the size of the sequence.
using Splits = std::vector<std::vector<std::uint64_t>>;

/// Divides the sorted sequences of all ranks among P destinations, exactly. Collective.
///
/// All items have one strict order: by item, rank, number of the sequence in its rank, and
/// position. So the result is unique, and a merge of the parts of a destination by rank and
/// sequence is stable.
///
/// \param sequences  of this rank; none, and empty ones, are allowed. The items of all ranks have
///                   the same type and order
/// \param sizes      items of each destination, the same on all ranks; their sum is that of all
///                   items. One for each rank
/// \param phase      if not empty, the sequences are read in Ranks::together() under this name, and
///                   may throw, and so may the allocation of the extra memory; else they must not,
///                   and a rank has only few sequences, so that the extra memory is small
/// \param samples    s below; 0: samples_of_a_border(). Fewer reads take more rounds
/// \throws Error (usage) the sizes do not add up; else of a sequence
///
/// Complexity: O(log(n) / log(s)) expected rounds of 3 collective calls (5 with a phase) for n
/// items and s samples of each border: 3 rounds at P = 2 and n = 2^25. A round reduces at most
/// (P - 1) s (item_bytes + 24) bytes, and reads s log(n) items of each sequence and border.
/// Extra memory: (P - 1) s (item_bytes + 24 + 8 k) bytes for k sequences of this rank.
///
/// Source: Harsh, Kale, Solomonik: Histogram Sort with Sampling (SPAA 2019); here with samples that
/// are evenly spaced in the open items of all ranks, and exact by rank and position of equal items.
/// multisort/plan/sampled_split.hpp samples every sequence for every border: P^2 samples a round.
[[nodiscard]] Splits exact_splits(Ranks& ranks, std::span<const SortedItems> sequences,
                                  std::span<const std::uint64_t> sizes, std::string_view phase = {},
                                  std::uint64_t samples = 0);

}  // namespace sortie::cluster
