#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sortie/multisort/host/item_words.hpp"
#include "sortie/multisort/host/items.hpp"
#include "sortie/segsort/host/vector_sort.hpp"
#include "sortie/segsort/host/vector_unit.hpp"

namespace sortie::multisort {

/// Sorts items that are words, by vectors, on one thread. Not stable: of pairs with equal keys the
/// one comes first whose value is less, as a word.
///
/// Within the second-level cache words are divided into groups that fit the registers, by their
/// height above the least key, from the items to a scratch, and each is sorted there. A group is
/// the upper half of a product, not a digit, so that there may be any number of them: what is just
/// beyond the registers takes twice as long a word as what just fits. Where one group would hold
/// most words, all of them are sorted as one. Keys alone beyond the scratch are halved by vectors
/// in place until they fit it.
///
/// On a Xeon with 2 MiB of second-level cache, 2^17 random words, nanoseconds a word: 7.9 with 96 a
/// group, 8.6 with 128, 11 with 256, 10.2 without groups.
/// \tparam MostItems  that the scratch holds
template <class Key, class Value, std::uint64_t MostItems>
class WordSort {
  static_assert(are_words<Key, Value>);

 public:
  using Range = Items<Key, Value>;
  static constexpr std::uint64_t most_items = MostItems;

  /// Sorts n items. Does not allocate and does not throw. O(n log n).
  /// \param scratch  as many words as items, most_items at most
  /// \pre has_vector_sort(); with values n <= most_items
  void sort(Range items, std::uint64_t n, std::uint64_t* scratch) {
    sort(items, n, scratch, most_halvings);
  }

 private:
  /// Halvings of which one may be within the other: more than 2^20 words take, should they be
  /// uneven.
  static constexpr int most_halvings = 8;
  /// So that few groups are beyond the 128 words that fit the registers: 96 + 3.3 * sqrt(96).
  static constexpr std::uint64_t group_words = 96;
  static constexpr std::uint64_t most_groups = most_items / group_words + 1;
  /// Below, one partition or two divide the words as well.
  static constexpr std::uint64_t least_grouped = 2048;

  void sort(Range items, std::uint64_t n, std::uint64_t* scratch, int halvings) {
    if constexpr (has_values<Value>) {
      if (n <= 1) return;
      if (!sort_in_groups(items, n, scratch)) {
        for (std::uint64_t i = 0; i < n; ++i) scratch[i] = word_of(items, i);
        segsort::sort_words(scratch, n);
      }
      copy_words(scratch, n, items);
    } else {
      while (n > most_items && n >= least_grouped && halvings > 0) {
        --halvings;
        const std::uint64_t below = segsort::divide_words(items.keys, n);
        if (below == 0) return;
        sort(items, below, scratch, halvings);
        items = items.from(below);
        n -= below;
      }
      if (n <= most_items && sort_in_groups(items, n, scratch)) {
        std::copy_n(scratch, n, items.keys);
      } else {
        segsort::sort_words(items.keys, n);
      }
    }
  }

  /// The least and the greatest of n > 0 keys.
  SORTIE_TARGET_AVX512 static std::pair<Key, Key> extremes(const Key* keys, std::uint64_t n) {
    Key least = keys[0];
    Key greatest = keys[0];
    for (std::uint64_t i = 0; i < n; ++i) {
      least = std::min(least, keys[i]);
      greatest = std::max(greatest, keys[i]);
    }
    return {least, greatest};
  }

  /// Sorts the items into the scratch by groups, or returns false where that does not help.
  bool sort_in_groups(Range items, std::uint64_t n, std::uint64_t* scratch) {
    if (n < least_grouped) return false;
    const auto [least, greatest] = extremes(items.keys, n);
    if (least == greatest) return false;
    const std::uint64_t groups = n / group_words;
    // The highest 32 bits of how far keys lie above the least.
    const int spare = std::countl_zero(static_cast<Key>(greatest - least));
    const auto height = [least = least, spare](Key key) -> std::uint64_t {
      constexpr int below = static_cast<int>(8 * sizeof(Key)) - 32;
      return static_cast<Key>(static_cast<Key>(key - least) << spare) >> below;
    };
    const std::uint64_t scale = (groups << 32) / (height(greatest) + 1);
    const auto group_of = [height, scale](Key key) {
      return static_cast<std::size_t>(height(key) * scale >> 32);
    };
    std::fill_n(ends_.begin(), groups, 0U);
    for (std::uint64_t i = 0; i < n; ++i) ++ends_[group_of(items.keys[i])];
    std::uint32_t sum = 0;
    std::uint32_t largest = 0;
    for (std::uint64_t i = 0; i < groups; ++i) {
      largest = std::max(largest, ends_[i]);
      sum += std::exchange(ends_[i], sum);
    }
    if (largest > n / 2) return false;
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t next = word_of(items, i);
      scratch[ends_[group_of(items.keys[i])]++] = next;
    }
    std::uint32_t begin = 0;
    for (std::uint64_t i = 0; i < groups; ++i) {
      segsort::sort_words(scratch + begin, ends_[i] - begin);
      begin = ends_[i];
    }
    return true;
  }

  std::array<std::uint32_t, most_groups> ends_;  ///< of each group
};

}  // namespace sortie::multisort
