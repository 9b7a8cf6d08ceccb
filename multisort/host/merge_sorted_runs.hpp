// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sortie/sort.hpp"

namespace sortie::multisort {

/// Prepares the merge of runs that will lie one behind the other in the arrays of `request`, with
/// keys encoded as KeyCodec does, and allocates what it takes: a copy of keys and values.
/// The function returned merges them, by all threads, and decodes the keys. Of equal keys those of
/// earlier runs come first.
///
/// \param run_sizes  they add up to request.num_items
/// \throws Error (out_of_memory)
[[nodiscard]] std::function<void()> prepare_merge(const Context& context, const Request& request,
                                                  const std::vector<std::uint64_t>& run_sizes);

}  // namespace sortie::multisort
