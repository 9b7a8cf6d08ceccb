// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sortie/context.hpp"
#include "sortie/sort.hpp"
#include "sortie/sort_chunks.hpp"

/// The backends that multisort.cpp dispatches to. This header includes no CUDA header. Without CUDA
/// cuda_absent.cpp defines the cuda functions.
namespace sortie::multisort {

/// \throws Error (unavailable) the context's backend is absent or does not have the algorithm
void require_algorithm(const Context& context, SortAlgorithm algorithm);

/// More logical devices than any machine has real ones; the plans grow with their square.
inline constexpr int most_devices = 1024;

/// Starts the host runtime and returns how many logical devices the host has: `wanted`, or one for
/// each thread where that is 0. Each does its part of the work on one thread (for_each_task()).
/// \throws Error (usage) a negative number, or one beyond most_devices
[[nodiscard]] std::size_t start_devices(const HostContext& context, int wanted);

/// Sorts host memory on the host. \pre sort() has checked `request`
void sort_on_host(const Context& context, const Request& request);

/// Sorts host memory on the GPUs. \pre sort() has checked `request`
void sort_on_cuda(const Context& context, const Request& request);

/// Sorts chunks in GPU memory. \pre sort_chunks() has checked `request`
void sort_chunks_on_cuda(const Context& context, const ChunkRequest& request);

/// The CUDA algorithms of this build, the default first.
[[nodiscard]] std::span<const SortAlgorithm> cuda_sort_algorithms();

}  // namespace sortie::multisort
