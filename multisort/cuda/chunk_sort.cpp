// SPDX-License-Identifier: Apache-2.0

// Dispatches a checked request to its algorithm.

#include "multisort/cuda/chunk_sort.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "multisort/backends.hpp"
#include "multisort/cuda/bitonic/bitonic.hpp"
#include "multisort/cuda/merge/merge_sort.hpp"
#include "multisort/cuda/radix/radix_sort.hpp"
#include "multisort/cuda/rmg_sort.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

namespace {

struct Entry {
  SortAlgorithm algorithm;
  ChunkSort sort;
};

/// The algorithms that sort chunks. The first one is `automatic`.
constexpr std::array chunk_sorts = {
    Entry{SortAlgorithm::radix, radix_sort_chunks},
    Entry{SortAlgorithm::rmg, rmg_sort_chunks},
    Entry{SortAlgorithm::merge, merge_sort_chunks},
    Entry{SortAlgorithm::tanasic, tanasic_sort_chunks},
    Entry{SortAlgorithm::bitonic, bitonic_sort_chunks},
};

}  // namespace

ChunkSort chunk_sort(SortAlgorithm algorithm) {
  for (const Entry& entry : chunk_sorts)
    if (algorithm == entry.algorithm || algorithm == SortAlgorithm::automatic) return entry.sort;
  throw Error(ErrorKind::usage,
              fmt::format("sort: found algorithm {}, expected one that sorts chunks in GPU memory",
                          name(algorithm)));
}

std::span<const SortAlgorithm> cuda_sort_algorithms() {
  static const std::vector<SortAlgorithm> algorithms = [] {
    std::vector<SortAlgorithm> names;
    for (const Entry& entry : chunk_sorts) names.push_back(entry.algorithm);
    names.push_back(SortAlgorithm::het);  // for host memory only: cuda/het_sort.hpp
    return names;
  }();
  return algorithms;
}

void sort_chunks_on_cuda(const Context& context, const ChunkRequest& request) {
  std::vector<int> ordinals;
  for (const DeviceChunk& chunk : request.chunks) ordinals.push_back(chunk.device);
  const DeviceGroup group(ordinals, request.options.transport);
  chunk_sort(request.options.algorithm)(context, group, request);
}

}  // namespace sortie::multisort
