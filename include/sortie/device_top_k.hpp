// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sortie/device_segmented_sort.hpp"
#include "sortie/export.hpp"
#include "sortie/key_types.hpp"

namespace sortie {

/// Key types of DeviceTopK: those of DeviceSort, Float16 and BFloat16.
template <class Key>
concept DeviceTopKKey = DeviceSortKey<Key> || SortKey<Key>;

namespace segsort {

/// The type of a key of DeviceTopK.
template <DeviceTopKKey Key>
[[nodiscard]] constexpr KeyType top_k_key_type() {
  if constexpr (SortKey<Key>) {
    return key_type_of<Key>();
  } else if constexpr (std::same_as<Key, __half>) {
    return KeyType::f16;
  } else if constexpr (std::same_as<Key, __nv_bfloat16>) {
    return KeyType::bf16;
  } else {
    return device_key_type<Key>();
  }
}

/// One selection on device memory, type-erased: the input of the CUDA implementation.
struct DeviceTopKRequest {
  KeyType key_type = KeyType::u32;
  int value_bytes = 0;   ///< of values or positions: 0 (neither), 4 or 8
  int offset_bytes = 8;  ///< 4 or 8
  const void* keys_in = nullptr;
  void* keys_out = nullptr;         ///< null: keys are not written
  const void* values_in = nullptr;  ///< null: positions are written instead of values
  void* values_out = nullptr;
  std::int64_t num_items = 0;
  std::int64_t num_segments = 1;
  /// See DeviceSortOptions::d_num_segments.
  const std::int64_t* device_num_segments = nullptr;
  const void* begin_offsets = nullptr;  ///< null: segments of num_items / num_segments items
  const void* end_offsets = nullptr;
  /// One more than there are segments; null: the results of segment i begin at i * k.
  const void* output_offsets = nullptr;
  std::int64_t num_outputs = 0;  ///< size of the output arrays
  std::int64_t k = 0;
  Order order = Order::descending;
  bool sorted = true;
};

/// Two-phase call with the conventions of DeviceTopK.
SORTIE_API cudaError_t top_k_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                       const DeviceTopKRequest& request, cudaStream_t stream);

}  // namespace segsort

/// Options of the DeviceTopK functions.
struct DeviceTopKOptions {
  Order order = Order::descending;  ///< descending: the greatest keys; ascending: the least
  /// Results of a segment in this order, equal keys by position. Otherwise their order is
  /// unspecified; which items are selected does not depend on it.
  bool sorted = true;
  /// As DeviceSortOptions::d_num_segments; for segments only.
  const std::int64_t* d_num_segments = nullptr;
};

/// Segments of DeviceTopK in device memory.
template <SegmentOffset Offset>
struct DeviceTopKSegments {
  std::int64_t num_segments = 0;  ///< may be 0
  /// If null, the segments are the rows of a matrix: of num_items / num_segments items each.
  const Offset* d_begin_offsets = nullptr;
  const Offset* d_end_offsets = nullptr;
  /// If set, num_segments + 1 ascending offsets into the output arrays. Segment i then has its own
  /// k, d_output_offsets[i + 1] - d_output_offsets[i], but at most the argument `k`.
  /// They may be d_begin_offsets, with d_end_offsets one further: each segment then has its results
  /// at its own places in other arrays, of which those beyond the k-th may be overwritten, too.
  /// If null, the results of segment i begin at i * k.
  const Offset* d_output_offsets = nullptr;
  /// Size of the output arrays. Ignored without d_output_offsets: num_segments * k.
  std::int64_t num_outputs = 0;
};

/// The k greatest or least keys of an array, or of each of many segments, in device memory.
///
/// A segment of fewer than k items gives all of its items; the places of the output that remain are
/// not written. Among equal keys, those at the lowest positions are selected. The selection is
/// therefore unique: that of a stable sort. Floating-point keys are ordered by IEEE 754 totalOrder
/// (see KeyKind), so that +NaN is the greatest key.
///
/// Keys() writes keys; Pairs() also the values of the selected keys; Positions() also their
/// positions in the array (not in the segment), as integers of 32 or 64 bits. Each takes either one
/// array or DeviceTopKSegments, with offsets as for DeviceSegmentedSort.
///
/// Each function is called twice, with the conventions of DeviceSegmentedSort. A call copies
/// nothing to the host, allocates nothing and does not synchronise, so it can be captured in a CUDA
/// graph.
///
/// \param d_keys_in  `num_items` keys; not changed
/// \param d_keys_out  selected keys; null for Pairs() and Positions() that need no keys
/// \param num_items  size of the array; no offset may exceed it
/// \param k  results per segment, from 0; may exceed the length of a segment
/// \return cudaErrorInvalidValue for negative numbers, a number of rows that does not divide
/// num_items, or too little temporary storage; otherwise the first launch error
///
/// Complexity: O(n_i + k log k) for a segment of n_i items if k <= 2048 and keys are in random
/// order, where segments of up to 65536 items are read once, by one thread, warp or block, and
/// longer ones by all blocks; at most O(n_i b) for keys of b bits in the worst order. Short
/// segments are sorted in shared memory instead, for sorted results where that takes less time: up
/// to a mean length of 16 for k = 1, 96 for k < 32, 256 for k = 32, beyond 8 k, at least 512 and at
/// most 5120 (512 if a block has less than 128 KiB of shared memory). For k = 1 and a mean length
/// of up to 8 (keys of 1 or 2 bytes: 16), threads read segments of up to 32 items. Segments are
/// sorted whole for k > 2048; so
/// are 2^22 items or more, if results are sorted, d_output_offsets are d_begin_offsets, and
/// 1 < k exceeds the mean length, unless a quarter of the items is in segments of more than 8 k
/// (k >= 32: also more than 2048).
///
/// Temporary storage: 8 bytes for each 1025 items; if the mean length is at most 32, or segments
/// are sorted in shared memory, 8 bytes for each segment or 9 items, whichever are fewer (for
/// k >= 32, 8 more for each 66 items, at most 40 for each segment); if 2^22 items or more may be
/// sorted at their own places, as above, that of a segmented sort, which shares the copies named
/// below; with segments of more than 65536 items, 1.1 k (key bytes + 8) bytes for each 16384 items;
/// for one segment of 2^22 to 2^30 items also 48 KiB for each key byte, at least 4, and 64 KiB.
/// With sorted results and k > 32 also a copy of the outputs, 16 bytes per segment and the storage of
/// a segmented sort of the outputs. For k > 2048, instead of all of this a copy of keys and values
/// (positions: two), and the storage of a segmented sort.
///
/// Sources: segsort/README.md; the threshold from group minima and the streaming buffer follow
/// Johnson, Douze, Jegou: Billion-scale similarity search with GPUs (IEEE Trans. Big Data 2019).
struct DeviceTopK {
  template <DeviceTopKKey Key>
  static cudaError_t Keys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                          std::int64_t k, const DeviceTopKOptions& options = {},
                          cudaStream_t stream = nullptr) {
    const auto r = request(d_keys_in, d_keys_out, num_items, k, options);
    return segsort::top_k_on_device(d_temp_storage, temp_storage_bytes, r, stream);
  }
  template <DeviceTopKKey Key, SegmentOffset Offset>
  static cudaError_t Keys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                          std::int64_t k, const DeviceTopKSegments<Offset>& segments,
                          const DeviceTopKOptions& options = {}, cudaStream_t stream = nullptr) {
    auto r = request(d_keys_in, d_keys_out, num_items, k, options);
    add_segments(r, segments, options);
    return segsort::top_k_on_device(d_temp_storage, temp_storage_bytes, r, stream);
  }

  template <DeviceTopKKey Key, SortValue Value>
  static cudaError_t Pairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                           const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                           Value* d_values_out, std::int64_t num_items, std::int64_t k,
                           const DeviceTopKOptions& options = {}, cudaStream_t stream = nullptr) {
    auto r = request(d_keys_in, d_keys_out, num_items, k, options);
    add_values(r, d_values_in, d_values_out);
    return segsort::top_k_on_device(d_temp_storage, temp_storage_bytes, r, stream);
  }
  template <DeviceTopKKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t Pairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                           const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                           Value* d_values_out, std::int64_t num_items, std::int64_t k,
                           const DeviceTopKSegments<Offset>& segments,
                           const DeviceTopKOptions& options = {}, cudaStream_t stream = nullptr) {
    auto r = request(d_keys_in, d_keys_out, num_items, k, options);
    add_segments(r, segments, options);
    add_values(r, d_values_in, d_values_out);
    return segsort::top_k_on_device(d_temp_storage, temp_storage_bytes, r, stream);
  }

  /// \tparam Position  4 or 8 bytes; \pre it can represent num_items - 1
  template <DeviceTopKKey Key, SegmentOffset Position>
  static cudaError_t Positions(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, Position* d_positions_out,
                               std::int64_t num_items, std::int64_t k,
                               const DeviceTopKOptions& options = {},
                               cudaStream_t stream = nullptr) {
    auto r = request(d_keys_in, d_keys_out, num_items, k, options);
    add_values(r, static_cast<const Position*>(nullptr), d_positions_out);
    return segsort::top_k_on_device(d_temp_storage, temp_storage_bytes, r, stream);
  }
  template <DeviceTopKKey Key, SegmentOffset Position, SegmentOffset Offset>
  static cudaError_t Positions(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, Position* d_positions_out,
                               std::int64_t num_items, std::int64_t k,
                               const DeviceTopKSegments<Offset>& segments,
                               const DeviceTopKOptions& options = {},
                               cudaStream_t stream = nullptr) {
    auto r = request(d_keys_in, d_keys_out, num_items, k, options);
    add_segments(r, segments, options);
    add_values(r, static_cast<const Position*>(nullptr), d_positions_out);
    return segsort::top_k_on_device(d_temp_storage, temp_storage_bytes, r, stream);
  }

 private:
  template <class Key>
  static segsort::DeviceTopKRequest request(const Key* keys_in, Key* keys_out,
                                            std::int64_t num_items, std::int64_t k,
                                            const DeviceTopKOptions& options) {
    segsort::DeviceTopKRequest r;
    r.key_type = segsort::top_k_key_type<Key>();
    r.keys_in = keys_in;
    r.keys_out = keys_out;
    r.num_items = num_items;
    r.num_outputs = k;
    r.k = k;
    r.order = options.order;
    r.sorted = options.sorted;
    return r;
  }
  template <class Offset>
  static void add_segments(segsort::DeviceTopKRequest& r,
                           const DeviceTopKSegments<Offset>& segments,
                           const DeviceTopKOptions& options) {
    r.offset_bytes = static_cast<int>(sizeof(Offset));
    r.num_segments = segments.num_segments;
    r.device_num_segments = options.d_num_segments;
    r.begin_offsets = segments.d_begin_offsets;
    r.end_offsets = segments.d_end_offsets;
    r.output_offsets = segments.d_output_offsets;
    r.num_outputs =
        segments.d_output_offsets == nullptr ? segments.num_segments * r.k : segments.num_outputs;
  }
  template <class Value>
  static void add_values(segsort::DeviceTopKRequest& r, const Value* values_in, Value* values_out) {
    r.value_bytes = static_cast<int>(sizeof(Value));
    r.values_in = values_in;
    r.values_out = values_out;
  }
};

}  // namespace sortie
