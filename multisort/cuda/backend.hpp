#pragma once

#include <span>

#include "sortie/core/context.hpp"
#include "sortie/multisort/device_sort.hpp"
#include "sortie/multisort/multisort.hpp"

/// What cuda/ gives to the rest of multisort; cuda_absent.cpp stands in for it where it is not
/// built. No CUDA header is needed here.

namespace sortie::multisort {

/// Host memory, sorted by way of the GPUs. `request` has been checked by sort().
void sort_on_cuda(const Context& context, const Request& request);

/// Chunks on GPUs. `request` has been checked by sort_chunks().
void sort_chunks_on_cuda(const Context& context, const ChunkRequest& request);

/// Those that this build has, the best one first.
[[nodiscard]] std::span<const SortAlgorithm> cuda_sort_algorithms();

}  // namespace sortie::multisort
