// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/sort.hpp"
#include "sortie/sort_chunks.hpp"

/// The backends that multisort.cpp dispatches to, and the table of algorithms. This header includes
/// no CUDA header. Without CUDA multisort.cpp defines the cuda functions.
namespace sortie::multisort {

class DeviceGroup;

/// Sorts chunks in place. `group` has a logical device for each chunk, in order.
/// \pre `request` has been checked: chunks with items have no null pointers, value_bytes is 0, 4 or
///      8
/// Returns when the sort has finished. If it throws, no work is left on the group's streams.
using ChunkSort = void (*)(const Context& context, const DeviceGroup& group,
                           const ChunkRequest& request);

/// Sorts host memory on GPUs. \param ordinals  CUDA device of each logical device
using HostMemorySort = void (*)(const Context& context, const std::vector<int>& ordinals,
                                const Request& request);

/// An algorithm for GPUs that is not part of the library, such as one of papers/.
struct Algorithm {
  SortAlgorithm id;
  std::string_view name;               ///< points to a string that is never freed
  ChunkSort sort_chunks = nullptr;     ///< null: cannot sort chunks in GPU memory
  HostMemorySort sort_host = nullptr;  ///< null: host memory is copied in, and sorted as chunks
  [[nodiscard]] bool is_built() const { return sort_chunks != nullptr || sort_host != nullptr; }
};

/// Adds an algorithm for sort(), sort_chunks() and the functions of names. Without functions, only
/// the name is known, as in a build without CUDA. A second registration of the same id is ignored.
/// Call it before threads sort.
void register_algorithm(const Algorithm& algorithm);

/// The registered algorithm; null if there is none with this id.
[[nodiscard]] const Algorithm* registered_algorithm(SortAlgorithm id);

/// \throws Error (unavailable) the context's backend is absent or does not have the algorithm
void require_algorithm(const Context& context, SortAlgorithm algorithm);

/// Checks a request of sort_chunks(). \throws Error (usage, unavailable) as sort_chunks()
void check_chunks(const Context& context, const ChunkRequest& request);

/// Starts the host runtime. \return how many logical devices the host has: `wanted`, or one for each
/// thread where that is 0 \throws Error (usage) a negative number, or one beyond most_devices
[[nodiscard]] std::size_t start_devices(const HostContext& context, int wanted);

/// Both sort host memory. \pre sort() has checked `request`
void sort_on_host(const Context& context, const Request& request);
void sort_on_cuda(const Context& context, const Request& request);

/// The library's own algorithms for CUDA in this build, the default first.
[[nodiscard]] std::span<const SortAlgorithm> cuda_sort_algorithms();

}  // namespace sortie::multisort
