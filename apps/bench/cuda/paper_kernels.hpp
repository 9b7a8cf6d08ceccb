// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include "apps/bench/segsort/paper_figures.hpp"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::bench {

/// The compiled bindings, for u32 keys and u32 values. Reg-sort: 2 to 32 threads with 1 to 16 items
/// each. Smem-merge: 2 to 16 warps with 1 to 16 items per thread, except for 16 warps with 16
/// items, which exceed shared memory. With one item per thread there is only one write method,
/// since both are equal.
[[nodiscard]] std::span<const PaperBinding> paper_bindings();

/// Maximum number of threads of a block of reg-sort.
constexpr int most_block_threads = 512;

/// Sorts every segment by the paper's kernel with binding number `binding`, without bins. Two-phase
/// like segsort::sort_on_device(). \pre no segment is longer than the capacity of the binding
/// \param block_threads  block size of reg-sort: a multiple of 32, at most most_block_threads. The
///                       block size of smem-merge is that of the binding.
/// \return cudaErrorNotSupported for keys and values other than u32
cudaError_t sort_as_in_paper(std::size_t binding, int block_threads, void* temporary,
                             std::size_t& bytes, const segsort::DeviceRequest& request,
                             cudaStream_t stream);

}  // namespace sortie::bench
