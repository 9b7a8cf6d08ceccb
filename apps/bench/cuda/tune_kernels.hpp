// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "apps/bench/segsort/tune.hpp"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::bench {

/// The compiled team shapes, for u32 keys and u32 values: 8 and 16 items per thread, 1 to 16 warps,
/// in blocks of 16 to 24 warps.
[[nodiscard]] std::span<const TileShape> candidate_shapes();

/// Sorts by the library's batch kernel alone. Two-phase like segsort::sort_on_device().
/// \pre no segment is longer than longest_of_batches()
/// \return cudaErrorNotSupported for keys and values other than u32
cudaError_t sort_by_batches(void* temporary, std::size_t& bytes,
                            const segsort::DeviceRequest& request, cudaStream_t stream);

/// Sorts by the batch kernel, which lists the segments with more than 64 items, and by teams of
/// shape number `candidate` for these segments. \pre no segment exceeds the capacity of the shape
cudaError_t sort_by_teams(std::size_t candidate, void* temporary, std::size_t& bytes,
                          const segsort::DeviceRequest& request, cudaStream_t stream);

/// The table compiled into the library.
[[nodiscard]] BlockTable present_table();
/// Maximum segment length that the batch kernel can sort.
[[nodiscard]] std::uint64_t longest_of_batches();

}  // namespace sortie::bench
