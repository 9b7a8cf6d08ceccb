#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "sortie/apps/bench/tune.hpp"
#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::bench {

/// Shapes of teams that are compiled, with u32 keys and u32 values: 8 and 16 items a thread, 1 to
/// 16 warps, in blocks of 16 to 24.
[[nodiscard]] std::span<const TileShape> candidate_shapes();

/// Sorts by the library's first kernel alone. Two-phase as segsort::sort_on_device().
/// \pre no segment is longer than longest_of_batches()
/// \return cudaErrorNotSupported for other keys and values than u32
cudaError_t sort_by_batches(void* temporary, std::size_t& bytes,
                            const segsort::DeviceRequest& request, cudaStream_t stream);

/// The same by that kernel, which lists what has more than 64 items, and teams of shape number
/// `candidate` for these. \pre no segment is longer than the shape holds
cudaError_t sort_by_teams(std::size_t candidate, void* temporary, std::size_t& bytes,
                          const segsort::DeviceRequest& request, cudaStream_t stream);

/// What the library is compiled with.
[[nodiscard]] BlockTable present_table();
/// Most items of a segment that the first kernel can sort.
[[nodiscard]] std::uint64_t longest_of_batches();

}  // namespace sortie::bench
