// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cluster/exact_splits.hpp"
#include "cluster/sorted_exchange.hpp"
#include "sortie/cluster_sort.hpp"
#include "sortie/context.hpp"

namespace sortie::sorting {

/// What a sort over ranks does with the items of a rank, which depends on their type. Items are in
/// one array or in several parallel ones.
struct ShareSteps {
  std::uint64_t items = 0;
  std::vector<cluster::detail::ShareArray> arrays;
  bool sort_copies = false;  ///< the local sort takes memory for as many items again
  /// Sorts the items stably, and makes them comparable. Runs on the host runtime, as the others.
  std::function<void()> sort;
  /// The items, sorted, as exact_splits() reads them.
  std::function<cluster::SortedItems()> sorted;
  /// Merges runs stably; run r is items [begins[r], begins[r + 1]) of `from`, an address for each
  /// array.
  std::function<void(std::span<const std::uint64_t> begins, std::span<std::byte* const> from,
                     std::span<void* const> to)>
      merge;
  /// Undoes what `sort` did to make n items comparable. May be empty.
  std::function<void(std::span<void* const> arrays, std::uint64_t n)> restore;
  /// The same for all items where they are, on the calling thread. Empty as `restore`.
  std::function<void()> restore_alone;

  [[nodiscard]] std::uint64_t item_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& array : arrays) bytes += array.item_bytes;
    return bytes;
  }
};

/// Sorts the items of all ranks: local sort, exact splits, exchange, merge. Collective.
/// \return number of items of this rank afterwards: an equal share
/// \throws Error, report: as cluster::sort(). A rank that has not begun its merge then has its own
///         items, in any order
std::uint64_t sort_share(cluster::Ranks& ranks, const Context& context, const ShareSteps& steps);

/// Sorts the keys of all ranks, perhaps with values: by buckets (bucket_sort.hpp) or on devices
/// (device_sort.hpp) if that applies, else by sort_share(). Collective. \throws Error, report: as cluster::sort()
void sort_keys(cluster::Ranks& ranks, const Context& context,
               const cluster::detail::KeyShare& share);

/// The options of a rank's own sort. On CUDA it uses the device of its context alone: the other GPUs of
/// the machine are for other ranks.
[[nodiscard]] SortOptions own_sort_options(const Context& context, SortOptions options,
                                           bool is_stable);

/// The steps of keys, perhaps with values. \pre `share` and `context` outlive the result
[[nodiscard]] ShareSteps key_steps(const Context& context, const cluster::detail::KeyShare& share);

}  // namespace sortie::sorting
