// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "segsort/cuda/array_call.cuh"
#include "sortie/device_sort.hpp"

/// Sorts of an array whose values do not move with the keys: in their place move the positions of
/// the items, or words into which several values are packed. Each function is one phase of a call.
/// \pre at least one bit is compared
namespace sortie::segsort {

/// The values are the positions of the keys, of 4 or 8 bytes.
cudaError_t sort_positions(ArrayCall& call, const ArrayRequest& request);

/// One array of values of any size: gathered by the sorted positions of the keys.
cudaError_t sort_and_gather(ArrayCall& call, const ArrayRequest& request);

/// Several arrays of values: packed in groups, or gathered.
cudaError_t sort_several_values(ArrayCall& call, const ArrayRequest& request);

}  // namespace sortie::segsort
