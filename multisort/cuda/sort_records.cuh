#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sortie/core/context.hpp"
#include "sortie/core/error.hpp"
#include "sortie/multisort/cuda/device_group.hpp"
#include "sortie/multisort/cuda/merge/devices_sort.cuh"
#include "sortie/multisort/multisort.hpp"

/// Sorts records on GPUs by a caller's comparator. For sources that nvcc compiles.

namespace sortie {

/// A stretch of an array of records that lies in the memory of one GPU.
template <class Record>
struct RecordChunk {
  Record* records = nullptr;
  std::uint64_t size = 0;
  int device = 0;  ///< CUDA device whose memory it is
};

/// Sorts an array of records that lies in chunks in the memory of GPUs, in place and stably, by the
/// merge sort over devices. Afterwards the chunks, read one after the other, are the sorted array.
///
/// Chunks may differ in size and be empty; several may lie on one GPU. What other streams do with
/// them must be done before; on return the sort is done.
///
/// \tparam Record  trivially copyable and default constructible, of up to 184 bytes; 16 bytes and
///                 fewer are what tiles are made for
/// \param before   strict weak order of records, callable on the GPU and on the host (a functor or
///                 lambda marked `__host__ __device__`): the host compares some thousand samples to
///                 find where sorted chunks are cut
/// \param context  report (phases as the merge algorithm's), memory budget: bytes of work space on
///                 each GPU
/// \throws Error (usage) a null pointer where there are records; (out_of_memory) names the bytes
///         wanted and free, the chunks are unchanged; (unavailable) no such device, or no peer
///         access where that is asked for; (device)
///
/// Complexity O(n log n) comparisons. Extra memory on each GPU: one copy of the chunk, and 8 bytes
/// for each tile (1792 records of 16 bytes).
template <class Record, class Before>
requires std::is_trivially_copyable_v<Record>
void sort_record_chunks(const Context& context, std::span<const RecordChunk<Record>> chunks,
                        Before before, Transport transport = Transport::automatic) {
  using multisort::NoValue;
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
