#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "sortie/apps/bench/tune.hpp"
#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::bench {

/// Shapes of blocks that are compiled, with u32 keys and u32 values: 8 and 16 items a thread, 1 to
/// 16 warps.
[[nodiscard]] std::span<const TileShape> candidate_shapes();

/// Sorts every segment by a block of shape number `candidate`, without lists and classes. Two-phase
/// as segsort::sort_on_device(). \pre no segment is longer than the shape holds
/// \return cudaErrorNotSupported for other keys and values than u32
cudaError_t sort_by_blocks(std::size_t candidate, void* temporary, std::size_t& bytes,
                           const segsort::DeviceRequest& request, cudaStream_t stream);

/// What the library is compiled with.
[[nodiscard]] BlockTable present_table();
/// Most items of a segment that the library's first kernel can sort.
[[nodiscard]] std::uint64_t longest_of_batches();

}  // namespace sortie::bench
