// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// The pivot where GPUs do not reach each other's memory: emulated peer access through host memory
/// that both GPUs map (paper, Fig. 5). The host copies nothing and does not wait between rounds.
///
/// The range of possible pivots is narrowed in rounds. Each device writes those of its keys that a
/// round compares to the mapped memory; after them, one device compares the pairs there and writes the
/// next range. Each round divides the range by 257, so 2^32 items take 4 rounds.
namespace sortie::multisort::merge {

inline constexpr unsigned int mapped_probes = 256;  // threads of both kernels

/// In host memory that is mapped by all devices of an array.
template <class Key>
struct MappedSearch {
  std::uint64_t low;   ///< the pivot is at least this
  std::uint64_t high;  ///< and at most this
  Key a[mapped_probes];
  Key b[mapped_probes];
};

/// The k-th number of items that a round tries; nothing is tried twice in a range of fewer.
/// \pre low < high
[[nodiscard]] __host__ __device__ inline std::uint64_t probe_of(std::uint64_t low,
                                                                std::uint64_t high,
                                                                unsigned int k) {
  const std::uint64_t size = high - low;
  if (size <= mapped_probes) return low + (k < size ? k : size - 1);
  // Without overflow: size * (k + 1) / 257 by quotient and remainder.
  constexpr std::uint64_t parts = mapped_probes + 1;
  return low + size / parts * (k + 1) + size % parts * (k + 1) / parts;
}

/// Rounds that narrow a range of so many possible pivots down to one.
[[nodiscard]] __host__ __device__ inline int mapped_rounds(std::uint64_t size) {
  int rounds = 0;
  // Between two probes lie at most ceil(size / 257) numbers; up to 256 are all tried in one round.
  for (; size > mapped_probes; ++rounds) size = size / (mapped_probes + 1) + 1;
  return rounds + (size > 0 ? 1 : 0);
}

/// One block on each device. Thread k writes the keys of probe k that the device has: from the end of
/// the left array (`a_size` items), or from the begin of the right one.
/// \param begin, n  the items of the device's chunk in its array
template <class Key>
__global__ void __launch_bounds__(mapped_probes)
    publish_probes_kernel(const Key* keys, std::uint64_t begin, std::uint64_t n, bool is_left,
                          std::uint64_t a_size, MappedSearch<Key>* search) {
  const std::uint64_t low = search->low;
  const std::uint64_t high = search->high;
  if (low >= high) return;
  const std::uint64_t probe = probe_of(low, high, threadIdx.x);
  const std::uint64_t i = is_left ? a_size - 1 - probe : probe;
  if (i < begin || i - begin >= n) return;
  (is_left ? search->a : search->b)[threadIdx.x] = keys[i - begin];
}

/// One block on one device, after all of publish_probes_kernel(). Items before the pivot are exchanged:
/// an item of the right array precedes its mirrored one. So the probes that hold come first.
template <class Key, class Before>
__global__ void __launch_bounds__(mapped_probes)
    narrow_kernel(MappedSearch<Key>* search, Before before) {
  const std::uint64_t low = search->low;
  const std::uint64_t high = search->high;
  if (low >= high) return;
  const bool holds = before(search->b[threadIdx.x], search->a[threadIdx.x]);
  const auto first = static_cast<unsigned int>(__syncthreads_count(holds ? 1 : 0));
  if (threadIdx.x != 0) return;
  if (first > 0) search->low = probe_of(low, high, first - 1) + 1;
  if (first < mapped_probes) search->high = probe_of(low, high, first);
}

}  // namespace sortie::multisort::merge
