// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sortie/cluster_sort.hpp"
#include "sortie/context.hpp"

namespace sortie::sorting {

/// Fewest keys of a rank that sort_by_buckets() takes: fewer are sorted and merged in less time.
inline constexpr std::uint64_t fewest_bucket_keys = std::uint64_t{1} << 20;

/// Whether sort_by_buckets() takes items of this type, if each rank has at least `items`, and if the
/// keys allow it.
[[nodiscard]] bool may_sort_by_buckets(KeyType type, int value_bytes, std::uint64_t items,
                                       int ranks, std::uint64_t fewest = fewest_bucket_keys);

/// Sorts keys without values over ranks, where they are sent between two passes of one radix sort,
/// so that nothing is merged. Collective.
///
/// 1. *divide*: each rank divides its keys in place by the highest 9 bits in which any two keys
///    differ (BlockPartition);
/// 2. *splits*: the few buckets in which the share of a rank begins are sorted, and divided by
///    exact splits;
/// 3. *exchange*: each rank receives the parts of its buckets;
/// 4. *buckets*: each bucket is collected from all ranks into the cache, and sorted there.
///
/// Applies to 2 to 64 ranks on the host, each with at least `fewest` keys of 32 or 64 bits, by
/// SortAlgorithm::automatic or radix, and with memory for its work space beside the copy of the
/// share. Keys that begin in order, that differ in at most 16 bits, or of which a sample shows many
/// in one bucket are left to sort_share().
/// \return whether it applies; if not, nothing has changed
/// \throws Error, report: as cluster::sort(), with "divide" and "buckets" as phases in place of
///         "local sort" and "merge"
/// Complexity: O(n / P) for each pass. Extra memory: a copy of the larger of the share before and
/// after; for each thread 1.5 MiB and 256 KiB.
/// Source: Ilic, RMG Sort (2022), section 3.1, for the buckets; here with exact splits in them.
[[nodiscard]] bool sort_by_buckets(cluster::Ranks& ranks, const Context& context,
                                   const cluster::detail::KeyShare& share,
                                   std::uint64_t fewest = fewest_bucket_keys);

}  // namespace sortie::sorting
