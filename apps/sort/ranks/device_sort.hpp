// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sortie/cluster_sort.hpp"
#include "sortie/context.hpp"

namespace sortie::sorting {

/// Sorts keys over ranks that have a GPU each, perhaps with values, where items go from GPU to GPU
/// (cluster/device_exchange.hpp). Collective; only in builds with CUDA.
///
/// 1. *copy in*: each rank copies its items to its GPU;
/// 2. *local sort*: and sorts them there, stably;
/// 3. *splits*: the host finds the exact splits, and reads few keys of the GPU for it;
/// 4. *exchange*: each GPU receives the parts of its share from all others, in the order of the
///    ranks;
/// 5. *sort received*: and sorts them, stably;
/// 6. *copy out*: each rank copies its share to its array.
///
/// Applies where every rank works on CUDA by SortAlgorithm::automatic or radix, the devices can be
/// connected, and the larger of a rank's shares before and after fits in its part of the GPU with the
/// work space of its sort. Transport::staged leaves the items to sort_share(), and Transport::peer
/// does not allow that.
/// \return whether it applies; if not, nothing has changed
/// \throws Error (unavailable) with Transport::peer, if it does not apply; report: as
///         cluster::sort(), with these phases, and the figure "exchange_path" (text): by what items
///         went from GPU to GPU, or why through host memory
/// Complexity: two sorts of n / P items on a GPU. Host memory: none beside the items, but 16 MiB.
[[nodiscard]] bool sort_on_devices(cluster::Ranks& ranks, const Context& context,
                                   const cluster::detail::KeyShare& share);

/// Begins to connect the devices for sort_on_devices(), so that this goes on beside other work, such
/// as the reading of the items. Collective.
void connect_before_sort(cluster::Ranks& ranks, const Context& context, const SortOptions& options);

}  // namespace sortie::sorting
