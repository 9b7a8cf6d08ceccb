// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "sortie/context.hpp"
#include "sortie/segmented_sort.hpp"
#include "sortie/top_k.hpp"

/// Backends that segmented_sort.cpp dispatches to. In a build without CUDA, it defines sort_on_cuda()
/// itself.
namespace sortie::segsort {

/// Sorts a request whose keys have the width of `UKey`, on the host. Checks the offsets before it
/// changes anything. \pre sort() has checked the rest, and the host runtime has been started.
/// Instantiated in sources that CMake generates, one for each key width.
template <std::unsigned_integral UKey>
void sort_keys_of(const Context& context, const Request& request);
extern template void sort_keys_of<std::uint32_t>(const Context&, const Request&);
extern template void sort_keys_of<std::uint64_t>(const Context&, const Request&);

/// Sorts on a GPU. \pre sort() has checked `request` and its offsets
void sort_on_cuda(const Context& context, const Request& request);

/// Checks all offsets on one thread; the error names the first invalid segment.
/// \throws Error (input)  an offset exceeds num_items, or an end precedes its begin
/// \param call  named in the error
void check_offsets(const OffsetArray& begins, const OffsetArray& ends, std::uint64_t num_items,
                   std::string_view call = "segmented_sort");

/// Selects on a GPU. \pre select() has checked `request` and its offsets
void select_on_cuda(const Context& context, const TopKRequest& request);

}  // namespace sortie::segsort
