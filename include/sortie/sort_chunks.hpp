// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"
#include "sortie/key_types.hpp"
#include "sortie/sort.hpp"

namespace sortie {

/// A range of an array in the memory of one GPU.
template <SortKey Key, class Value = std::uint32_t>
struct ArrayChunk {
  Key* keys = nullptr;
  Value* values = nullptr;  ///< for pairs
  std::uint64_t size = 0;   ///< items
  int device = 0;           ///< CUDA device that holds the memory
};

namespace multisort {

/// A type-erased ArrayChunk.
struct DeviceChunk {
  void* keys = nullptr;
  void* values = nullptr;
  std::uint64_t size = 0;
  int device = 0;
};

/// A type-erased in-place sort of an array in GPU memory.
struct ChunkRequest {
  std::vector<DeviceChunk> chunks;  ///< in the order of the array
  KeyType key_type = KeyType::u32;
  int value_bytes = 0;  ///< 0 (keys only), 4 or 8
  SortOptions options;  ///< `devices` is ignored: each chunk is a device

  [[nodiscard]] std::uint64_t num_items() const {
    std::uint64_t items = 0;
    for (const DeviceChunk& chunk : chunks) items += chunk.size;
    return items;
  }
};

/// Checks a request and runs its algorithm.
/// \throws Error (unavailable) without CUDA; and as sort_chunks() below
SORTIE_API void sort_chunks(const Context& context, const ChunkRequest& request);

}  // namespace multisort

/// Sorts an array that is stored in chunks in GPU memory, in place: afterwards the concatenation of
/// the chunks is the sorted array. Each chunk keeps its size.
/// Chunks may differ in size and may be empty. Each chunk is a logical device; several may share a
/// GPU. Work of other streams on the chunks must have finished before the call; the sort has
/// finished on return.
/// \param context  memory budget: bytes of work space on each GPU;
///                 report: radix has phases "histogram", "scatter", "exchange", "local sort",
///                 "borders"; the other algorithms have their own. With a report the host waits for
///                 the GPUs after each phase
/// \param options  algorithm: radix, merge; automatic means radix
/// \throws Error (usage)          a null pointer, or an algorithm that does not sort these chunks
/// \throws Error (out_of_memory)  names the bytes wanted and free; the chunks are unchanged
/// \throws Error (unavailable)    no CUDA, no such device, or no peer access with Transport::peer
/// Stable with values. Extra memory on each GPU: one copy of the chunk, and with radix 1/12 of it,
/// 1/3 byte per item and about 60 MiB, with merge about 0.1 %.
template <SortKey Key>
void sort_chunks(const Context& context, std::span<const ArrayChunk<Key>> chunks,
                 const SortOptions& options = {}) {
  multisort::ChunkRequest request{{}, key_type_of<Key>(), 0, options};
  for (const auto& chunk : chunks)
    request.chunks.push_back({chunk.keys, nullptr, chunk.size, chunk.device});
  multisort::sort_chunks(context, request);
}

/// As above, with a value for each key.
template <SortKey Key, SortValue Value>
void sort_chunks_of_pairs(const Context& context, std::span<const ArrayChunk<Key, Value>> chunks,
                          const SortOptions& options = {}) {
  multisort::ChunkRequest request{{}, key_type_of<Key>(), static_cast<int>(sizeof(Value)), options};
  for (const auto& chunk : chunks)
    request.chunks.push_back({chunk.keys, chunk.values, chunk.size, chunk.device});
  multisort::sort_chunks(context, request);
}

}  // namespace sortie
