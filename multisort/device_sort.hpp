#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/core/context.hpp"
#include "sortie/multisort/multisort.hpp"

namespace sortie {

/// A stretch of an array that lies in the memory of one GPU.
template <ArrayKey Key, class Value = std::uint32_t>
struct ArrayChunk {
  Key* keys = nullptr;
  Value* values = nullptr;  ///< for pairs
  std::uint64_t size = 0;
  int device = 0;  ///< CUDA device whose memory it is
};

namespace multisort {

/// As above, type erased.
struct DeviceChunk {
  void* keys = nullptr;
  void* values = nullptr;
  std::uint64_t size = 0;
  int device = 0;
};

/// A sort of an array that lies on GPUs already, in place.
struct ChunkRequest {
  std::vector<DeviceChunk> chunks;  ///< in the order of the array
  KeyType key_type = KeyType::u32;
  int value_bytes = 0;  ///< 0 (keys only), 4 or 8
  SortOptions options;  ///< `devices` is not looked at: the chunks are the devices

  [[nodiscard]] std::uint64_t num_items() const {
    std::uint64_t items = 0;
    for (const DeviceChunk& chunk : chunks) items += chunk.size;
    return items;
  }
};

/// Checks a request, and runs the algorithm it asks for.
/// \throws Error (unavailable) without CUDA; and as sort_chunks()
void sort_chunks(const Context& context, const ChunkRequest& request);

}  // namespace multisort

/// Sorts one array that lies in chunks in the memory of GPUs, in place: afterwards the chunks, read
/// one after the other, are the sorted array. Each keeps its size.
///
/// Chunks may differ in size and be empty. Each is a logical device; several may lie on one GPU.
/// What other streams do with the chunks must be done before; on return the sort is done.
///
/// \param context  report (phases "histogram", "scatter", "exchange", "local sort", "borders"; with
///                 other algorithms theirs; the host waits for the GPUs between phases then),
///                 memory budget: bytes of work space on each GPU
/// \param options  radix, rmg, merge, tanasic, bitonic (one chunk), automatic: radix
/// \throws Error (usage)          a null pointer, an algorithm that does not sort chunks
/// \throws Error (out_of_memory)  names the bytes wanted and free; the chunks are unchanged
/// \throws Error (unavailable)    no CUDA, no such device, peer access asked for that is not there
///
/// Extra memory on each GPU: see the algorithm's header; radix: one copy of the chunk and some per
/// cent. Stable with values under radix, rmg and merge.
template <ArrayKey Key>
void sort_chunks(const Context& context, std::span<const ArrayChunk<Key>> chunks,
                 const SortOptions& options = {}) {
  multisort::ChunkRequest request{{}, multisort::key_type_of<Key>(), 0, options};
  for (const auto& chunk : chunks)
    request.chunks.push_back({chunk.keys, nullptr, chunk.size, chunk.device});
  multisort::sort_chunks(context, request);
}

/// As above, with a value that travels with each key.
template <ArrayKey Key, SortValue Value>
void sort_chunks_of_pairs(const Context& context, std::span<const ArrayChunk<Key, Value>> chunks,
                          const SortOptions& options = {}) {
  multisort::ChunkRequest request{
      {}, multisort::key_type_of<Key>(), static_cast<int>(sizeof(Value)), options};
  for (const auto& chunk : chunks)
    request.chunks.push_back({chunk.keys, chunk.values, chunk.size, chunk.device});
  multisort::sort_chunks(context, request);
}

}  // namespace sortie
