// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/merge/devices_sort.cuh"
#include "sortie/context.hpp"
#include "sortie/error.hpp"
#include "sortie/sort.hpp"

/// Sorts records on GPUs by the caller's comparator. For source files compiled by nvcc.

namespace sortie {

namespace multisort::merge {

/// Records, compared by the caller's comparator.
template <class Record, class Before>
struct RecordOrder {
  Before before;

  [[nodiscard]] __device__ Record encode(const Record& record) const { return record; }
  [[nodiscard]] __device__ Record decode(const Record& record) const { return record; }
  [[nodiscard]] __host__ __device__ bool operator()(const Record& a, const Record& b) const {
    return before(a, b);
  }
};

}  // namespace multisort::merge

/// A range of an array of records in the memory of one GPU.
template <class Record>
struct RecordChunk {
  Record* records = nullptr;
  std::uint64_t size = 0;
  int device = 0;  ///< CUDA device that holds the memory
};

/// Sorts an array of records that is stored in chunks in GPU memory, in place and stably, by the
/// merge sort over devices. Afterwards the concatenation of the chunks is the sorted array.
///
/// Chunks may differ in size and may be empty; several may be on one GPU. Work of other streams on
/// them must have finished before the call. The sort has finished on return.
///
/// \tparam Record  trivially copyable and default constructible, at most 184 bytes; tiles are tuned
///                 for at most 16 bytes
/// \param before   strict weak order of records, callable on the GPU and on the host (a functor or
///                 lambda marked `__host__ __device__`): the host compares some thousand samples to
///                 find the cuts of the sorted chunks
/// \param context  report (phases of the merge algorithm); memory budget: bytes of work space on
///                 each GPU
/// \throws Error (usage) a null pointer for a chunk with records; (out_of_memory) names the bytes
///         wanted and free, the chunks are unchanged; (unavailable) no such device, or no peer
///         access with Transport::peer; (device)
///
/// Complexity O(n log n) comparisons. Extra memory on each GPU: one copy of the chunk, and 8 bytes
/// for each tile (1792 records of 16 bytes).
template <class Record, class Before>
requires std::is_trivially_copyable_v<Record>
void sort_record_chunks(const Context& context, std::span<const RecordChunk<Record>> chunks,
                        Before before, Transport transport = Transport::automatic) {
  if (chunks.empty()) return;
  std::vector<int> ordinals;
  std::vector<multisort::merge::Chunk<Record, NoValue>> items;
  for (const RecordChunk<Record>& chunk : chunks) {
    if (chunk.records == nullptr && chunk.size != 0)
      throw Error(ErrorKind::usage, "sort: found a null pointer for the records of chunk " +
                                        std::to_string(items.size()) + ", expected device memory");
    ordinals.push_back(chunk.device);
    items.push_back({{chunk.records, nullptr}, chunk.size});
  }
  const multisort::DeviceGroup group(ordinals, transport);
  multisort::merge::sort_over_devices(context, group, items,
                                      multisort::merge::RecordOrder<Record, Before>{before});
}

}  // namespace sortie
