// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "segsort/cuda/array_call.cuh"
#include "segsort/cuda/policy.cuh"
#include "sortie/device_sort.hpp"

/// Sorts of an array whose values, if there are any, move with the keys. They ignore
/// request.several_values, and set *request.result. Each function is one phase of a call.
/// \pre at least one bit is compared
namespace sortie::segsort {

/// Largest array that one block sorts.
inline constexpr std::uint64_t most_items_of_block = longest_of_group_class(group_classes - 1);

/// Whether values that were made for a sort of n items may be overwritten by it. Arrays that may be
/// sorted by digits need them until the first pass has ended, and thus a copy.
[[nodiscard]] constexpr bool may_overwrite_values(std::uint64_t n) {
  return n <= most_items_of_block;
}

/// Sorts keys alone, or with values of 4 or 8 bytes.
/// \param values_are_scratch  request.values_in may be overwritten
cudaError_t sort_items(ArrayCall& call, const ArrayRequest& request, bool values_are_scratch);

/// Whether sort_carried() takes less time or storage than a sort of positions, by which the values
/// are then gathered.
[[nodiscard]] bool is_carried(const ArrayCall& call, const ArrayRequest& request);

/// Sorts keys with values of 1, 2 or 16 bytes. \pre is_carried()
cudaError_t sort_carried(ArrayCall& call, const ArrayRequest& request);

}  // namespace sortie::segsort
