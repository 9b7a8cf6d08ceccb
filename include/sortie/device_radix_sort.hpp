// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/device_segmented_sort.hpp"
#include "sortie/device_sort.hpp"

/// CUB's other names for the sorts of device_sort.hpp and device_segmented_sort.hpp. Programs that call
/// CUB include this header and write `sortie::` in place of `cub::`; docs/cub.md lists what differs.
namespace sortie {

using DeviceRadixSort = DeviceSort;

/// DeviceSegmentedSort in the shape of cub::DeviceSegmentedRadixSort: with the range of bits that are
/// compared. Each sort is stable.
struct DeviceSegmentedRadixSort {
  /// @name SortKeys
  /// @{
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                              std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                              int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                              cudaStream_t stream = nullptr) {
    return DeviceSegmentedSort::SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                                         num_items, num_segments, d_begin_offsets, d_end_offsets,
                                         options(Order::ascending, begin_bit, end_bit), stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                              std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                              int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                              cudaStream_t stream = nullptr) {
    return DeviceSegmentedSort::SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items,
                                         num_segments, d_begin_offsets, d_end_offsets,
                                         options(Order::ascending, begin_bit, end_bit), stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        const Key* d_keys_in, Key* d_keys_out,
                                        std::int64_t num_items, std::int64_t num_segments,
                                        Begin d_begin_offsets, End d_end_offsets, int begin_bit = 0,
                                        int end_bit = sizeof(Key) * 8,
                                        cudaStream_t stream = nullptr) {
    return DeviceSegmentedSort::SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                                         num_items, num_segments, d_begin_offsets, d_end_offsets,
                                         options(Order::descending, begin_bit, end_bit), stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                        std::int64_t num_segments, Begin d_begin_offsets,
                                        End d_end_offsets, int begin_bit = 0,
                                        int end_bit = sizeof(Key) * 8,
                                        cudaStream_t stream = nullptr) {
    return DeviceSegmentedSort::SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items,
                                         num_segments, d_begin_offsets, d_end_offsets,
                                         options(Order::descending, begin_bit, end_bit), stream);
  }
  /// @}

  /// @name SortPairs
  /// @{
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                               Value* d_values_out, std::int64_t num_items,
                               std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                               int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                               cudaStream_t stream = nullptr) {
    return DeviceSegmentedSort::SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                                          d_values_in, d_values_out, num_items, num_segments,
                                          d_begin_offsets, d_end_offsets,
                                          options(Order::ascending, begin_bit, end_bit), stream);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                               std::int64_t num_items, std::int64_t num_segments,
                               Begin d_begin_offsets, End d_end_offsets, int begin_bit = 0,
                               int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {
    return DeviceSegmentedSort::SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                                          num_items, num_segments, d_begin_offsets, d_end_offsets,
                                          options(Order::ascending, begin_bit, end_bit), stream);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         const Key* d_keys_in, Key* d_keys_out,
                                         const Value* d_values_in, Value* d_values_out,
                                         std::int64_t num_items, std::int64_t num_segments,
                                         Begin d_begin_offsets, End d_end_offsets,
                                         int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                                         cudaStream_t stream = nullptr) {
    return DeviceSegmentedSort::SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                                          d_values_in, d_values_out, num_items, num_segments,
                                          d_begin_offsets, d_end_offsets,
                                          options(Order::descending, begin_bit, end_bit), stream);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                         std::int64_t num_items, std::int64_t num_segments,
                                         Begin d_begin_offsets, End d_end_offsets,
                                         int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                                         cudaStream_t stream = nullptr) {
    return DeviceSegmentedSort::SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                                          num_items, num_segments, d_begin_offsets, d_end_offsets,
                                          options(Order::descending, begin_bit, end_bit), stream);
  }
  /// @}

 private:
  static DeviceSortOptions options(Order order, int begin_bit, int end_bit) {
    DeviceSortOptions o;
    o.order = order;
    o.stable = true;
    // A negative end means all bits there, and is an error here.
    o.begin_bit = end_bit < 0 ? -1 : begin_bit;
    o.end_bit = end_bit;
    return o;
  }
};

}  // namespace sortie
