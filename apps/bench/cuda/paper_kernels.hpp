#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "sortie/apps/bench/paper_figures.hpp"
#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::bench {

/// Bindings that are compiled, with u32 keys and u32 values. Reg-sort: 2 to 32 threads with 1 to 16
/// items each. Smem-merge: 2 to 16 warps with 2 to 16 items a thread, but for 16 warps with 16
/// items, which shared memory does not hold. Reg-sort with one item a thread has one write method
/// only: both are the same.
[[nodiscard]] std::span<const PaperBinding> paper_bindings();

/// Most threads of a block of reg-sort.
constexpr int most_block_threads = 512;

/// Sorts every segment by the paper's kernel with binding number `binding`, without bins. Two-phase
/// as segsort::sort_on_device(). \pre no segment is longer than the binding
/// \param block_threads  of reg-sort: a multiple of 32, at most most_block_threads; smem-merge has
///                       as many as the binding
/// \return cudaErrorNotSupported for other keys and values than u32
cudaError_t sort_as_in_paper(std::size_t binding, int block_threads, void* temporary,
                             std::size_t& bytes, const segsort::DeviceRequest& request,
                             cudaStream_t stream);

}  // namespace sortie::bench
