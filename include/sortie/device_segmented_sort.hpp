// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sortie/export.hpp"
#include "sortie/key_types.hpp"

// Of cuda_fp16.h and cuda_bf16.h, which only users of these keys need.
struct __half;
struct __nv_bfloat16;

namespace sortie {

/// Key types of DeviceSegmentedSort and DeviceSort: those of sort(), and bool, __half and
/// __nv_bfloat16.
template <class Key>
concept DeviceSortKey = SortKey<Key> || std::same_as<Key, bool> || std::same_as<Key, __half> ||
    std::same_as<Key, __nv_bfloat16>;

/// Two device buffers, one of which holds the data. A sort flips the selector instead of copying.
/// Same members as cub::DoubleBuffer.
template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {nullptr, nullptr};
  int selector = 0;

  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  [[nodiscard]] T* Current() const { return d_buffers[selector]; }
  [[nodiscard]] T* Alternate() const { return d_buffers[selector ^ 1]; }
};

namespace segsort {

/// Least and greatest key of a segment. Internal: defined in segsort/cuda/device_request.hpp.
struct SegmentRange;

/// Algorithm by which segments are sorted. A program may register others, which then are further
/// values of this type: Sortie's own program registers the design of the ICS 2017 paper as
/// papers::ics17 (papers/ics17/, not installed).
enum class Policy : int {
  /// Sortie's own design. Tiles are chosen by the shared memory of the GPU: those for data-centre
  /// GPUs take up to 187 KiB per block, those for all others at most 48 KiB.
  tuned,
};

/// One segmented sort on device memory, type-erased: the input of the CUDA implementation.
struct DeviceRequest {
  Policy policy = Policy::tuned;
  KeyType key_type = KeyType::u32;
  bool is_half = false;  ///< keys of 2 bytes, key_type u16, are floating-point numbers
  int value_bytes = 0;   ///< 0 (keys only), 4 or 8
  int offset_bytes = 4;  ///< 4 or 8
  const void* keys_in = nullptr;
  void* keys_out = nullptr;
  const void* values_in = nullptr;
  void* values_out = nullptr;
  /// The input buffers may be overwritten and serve as scratch (DoubleBuffer entry points).
  bool input_is_scratch = false;
  /// The same of the values alone.
  bool value_input_is_scratch = false;
  /// One segment has all items: there are no offsets, and num_segments is 1. The order of the items
  /// is examined first. The output may be the input: the items are then sorted in place.
  bool is_array = false;
  std::int64_t num_items = 0;
  std::int64_t num_segments = 0;
  /// See DeviceSortOptions::d_num_segments.
  const std::int64_t* device_num_segments = nullptr;
  const void* begin_offsets = nullptr;
  const void* end_offsets = nullptr;
  /// If set, the key range of each segment, in device memory. It replaces the scan for the least
  /// and greatest key before the first split of a long segment. Requires that all bits are
  /// compared. \pre each range contains all keys of its segment
  const SegmentRange* ranges = nullptr;
  Order order = Order::ascending;
  bool stable = false;
  int begin_bit = 0;
  int end_bit = -1;
};

/// Two-phase call with the conventions of DeviceSegmentedSort.
/// \return as DeviceSegmentedSort; cudaErrorNotSupported if the policy is not registered
SORTIE_API cudaError_t sort_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                      const DeviceRequest& request, cudaStream_t stream);

}  // namespace segsort

/// Options of the DeviceSegmentedSort functions that take them.
struct DeviceSortOptions {
  Order order = Order::ascending;
  /// Keep the order of equal keys. Policy::tuned does so regardless of this option.
  bool stable = false;
  int begin_bit = 0;  ///< lowest bit compared; other than 0 only for unsigned keys
  int end_bit = -1;   ///< one past the highest bit compared, -1: all bits; unsigned keys only
  /// Number of segments in device memory, read by kernels only, so a preceding kernel may write it.
  /// The argument `num_segments` is then an upper bound that determines the size of temporary
  /// storage; offsets beyond the number may hold anything. \pre from 0 to num_segments
  const std::int64_t* d_num_segments = nullptr;
  segsort::Policy policy = segsort::Policy::tuned;
};

/// Segmented sort of device arrays, with the calling conventions of cub::DeviceSegmentedSort.
///
/// Each function is called twice. With `d_temp_storage` null it only writes the required size in
/// bytes to `temp_storage_bytes`. The second call receives that much device memory, aligned to 16
/// bytes. The size depends only on counts, types and options, never on data.
///
/// A call copies nothing to the host, allocates nothing and does not synchronise with the host. All
/// work is enqueued on `stream`. The second call can be captured in a CUDA graph; each replay sorts
/// the current contents of the arrays under the current offsets.
///
/// The functions are SortKeys and SortPairs, each with and without the prefix Stable and the suffix
/// Descending, and each for arrays or for DoubleBuffers. SortKeys and SortPairs also accept
/// DeviceSortOptions before the stream: direction, stability, bit range, and a number of segments
/// in device memory. With DoubleBuffers the sort uses the current buffer as scratch and flips the
/// selector, as CUB does.
///
/// \param d_keys_in, d_keys_out  `num_items` keys each; the arrays must not overlap. Items outside
///                               of all segments are not written to the output.
/// \param d_values_in, d_values_out  values of 4 or 8 bytes that move with the keys
/// \param num_items  size of the arrays; no offset may exceed it. Counts have 64 bits: more than
///                   2^32 items or segments are supported.
/// \param num_segments  number of segments, may be 0; an upper bound of it if
///                      DeviceSortOptions::d_num_segments is set
/// \param d_begin_offsets, d_end_offsets  device arrays of `num_segments` 32- or 64-bit offsets.
///                                        Segments may be empty, in any order and with gaps, but
///                                        must not overlap.
///
/// \return cudaErrorInvalidValue for negative counts, too little temporary storage, or a bit range
/// that the key type does not support (signed and floating-point keys support only all bits);
/// cudaErrorNotSupported for a policy that is not registered; otherwise the first launch error
///
/// Order: ascending or descending by value. Floating-point keys are ordered by IEEE 754 totalOrder
/// (see KeyKind). With a bit range, keys are ordered by the unsigned number that bits begin_bit ..
/// end_bit - 1 form; whole keys are moved.
///
/// Stability: under Policy::tuned, the default, every sort is stable and deterministic regardless
/// of `stable`.
///
/// Keys of 1 or 2 bytes have kernels of their own. Sorts by some of their bits widen them to words
/// of 4 bytes by a pass before the sort, and narrow them by one after it.
///
/// Temporary storage: at most num_items * (key bytes + value bytes) + num_items / 20 + 16 bytes per
/// segment + 36 MiB. With DoubleBuffer, num_items / 3 replaces the first two terms. On GPUs with
/// less shared memory (see Policy::tuned), num_items / 6 replaces num_items / 20, and 1.2 *
/// num_items replaces num_items / 3. Keys of 1 or 2 bytes take 1.1 * num_items, and for 2 bytes and
/// at least one segment of more than 8192 items num_items * (2 + value bytes) more; if they are
/// widened, what keys of 4 bytes in DoubleBuffers take (with values: in arrays), and 8 * num_items
/// more.
///
/// Complexity: O(n_i) for a segment of up to 8192 items whose keys are evenly distributed over
/// their range, otherwise O(n_i log n_i) comparisons of one word. Beyond 8192 items, one pass over
/// the segment for each factor of 256 to 512 in its length, at most one for each 4 bits of the key.
///
/// Sources: Hou, Liu, Wang, Feng: Fast Segmented Sort on GPUs (ICS 2017), section 3; Green, McColl,
/// Bader: GPU Merge Path (ICS 2012). segsort/README.md describes Sortie's own design.
struct DeviceSegmentedSort {
  /// @name SortKeys
  /// @{
  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                              std::int64_t num_segments, const Offset* d_begin_offsets,
                              const Offset* d_end_offsets, const DeviceSortOptions& options,
                              cudaStream_t stream = nullptr) {
    const auto r = request(d_keys_in, d_keys_out, num_items, num_segments, d_begin_offsets,
                           d_end_offsets, options);
    return segsort::sort_on_device(d_temp_storage, temp_storage_bytes, r, stream);
  }

  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                              std::int64_t num_segments, const Offset* d_begin_offsets,
                              const Offset* d_end_offsets, const DeviceSortOptions& options,
                              cudaStream_t stream = nullptr) {
    const auto r = request(d_keys.Current(), d_keys.Alternate(), num_items, num_segments,
                           d_begin_offsets, d_end_offsets, options);
    return sort_and_flip(d_temp_storage, temp_storage_bytes, r, stream, d_keys);
  }

  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                              std::int64_t num_segments, const Offset* d_begin_offsets,
                              const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets, {}, stream);
  }

  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                              std::int64_t num_segments, const Offset* d_begin_offsets,
                              const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, {}, stream);
  }

  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        const Key* d_keys_in, Key* d_keys_out,
                                        std::int64_t num_items, std::int64_t num_segments,
                                        const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                        cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets, {Order::descending}, stream);
  }

  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                        std::int64_t num_segments, const Offset* d_begin_offsets,
                                        const Offset* d_end_offsets,
                                        cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, {Order::descending}, stream);
  }

  /// @}

  /// @name StableSortKeys
  /// SortKeys by another name: whole keys that are equal cannot be told apart.
  /// @{
  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                    const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                                    std::int64_t num_segments, const Offset* d_begin_offsets,
                                    const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets, {}, stream);
  }

  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                    DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                    std::int64_t num_segments, const Offset* d_begin_offsets,
                                    const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, {}, stream);
  }

  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t StableSortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_keys_in, Key* d_keys_out,
                                              std::int64_t num_items, std::int64_t num_segments,
                                              const Offset* d_begin_offsets,
                                              const Offset* d_end_offsets,
                                              cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets, {Order::descending}, stream);
  }

  template <DeviceSortKey Key, SegmentOffset Offset>
  static cudaError_t StableSortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                              std::int64_t num_segments,
                                              const Offset* d_begin_offsets,
                                              const Offset* d_end_offsets,
                                              cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, {Order::descending}, stream);
  }

  /// @}

  /// @name SortPairs
  /// @{
  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                               Value* d_values_out, std::int64_t num_items,
                               std::int64_t num_segments, const Offset* d_begin_offsets,
                               const Offset* d_end_offsets, const DeviceSortOptions& options,
                               cudaStream_t stream = nullptr) {
    auto r = request(d_keys_in, d_keys_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     options);
    add_values(r, d_values_in, d_values_out);
    return segsort::sort_on_device(d_temp_storage, temp_storage_bytes, r, stream);
  }

  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                               std::int64_t num_items, std::int64_t num_segments,
                               const Offset* d_begin_offsets, const Offset* d_end_offsets,
                               const DeviceSortOptions& options, cudaStream_t stream = nullptr) {
    auto r = request(d_keys.Current(), d_keys.Alternate(), num_items, num_segments, d_begin_offsets,
                     d_end_offsets, options);
    add_values(r, d_values.Current(), d_values.Alternate());
    return sort_and_flip(d_temp_storage, temp_storage_bytes, r, stream, d_keys, d_values);
  }

  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                               Value* d_values_out, std::int64_t num_items,
                               std::int64_t num_segments, const Offset* d_begin_offsets,
                               const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets, {},
                     stream);
  }

  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                               std::int64_t num_items, std::int64_t num_segments,
                               const Offset* d_begin_offsets, const Offset* d_end_offsets,
                               cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, {}, stream);
  }

  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         const Key* d_keys_in, Key* d_keys_out,
                                         const Value* d_values_in, Value* d_values_out,
                                         std::int64_t num_items, std::int64_t num_segments,
                                         const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                         cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     {Order::descending}, stream);
  }

  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                         std::int64_t num_items, std::int64_t num_segments,
                                         const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                         cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, {Order::descending}, stream);
  }

  /// @}

  /// @name StableSortPairs
  /// @{
  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                     const Key* d_keys_in, Key* d_keys_out,
                                     const Value* d_values_in, Value* d_values_out,
                                     std::int64_t num_items, std::int64_t num_segments,
                                     const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                     cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     {.stable = true}, stream);
  }

  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                     DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                     std::int64_t num_items, std::int64_t num_segments,
                                     const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                     cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, {.stable = true}, stream);
  }

  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t StableSortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
      const Value* d_values_in, Value* d_values_out, std::int64_t num_items,
      std::int64_t num_segments, const Offset* d_begin_offsets, const Offset* d_end_offsets,
      cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     {Order::descending, true}, stream);
  }

  template <DeviceSortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t StableSortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, std::int64_t num_items, std::int64_t num_segments,
      const Offset* d_begin_offsets, const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, {Order::descending, true}, stream);
  }

  /// @}

 private:
  /// A request without values.
  template <class Key, class Offset>
  static segsort::DeviceRequest request(const Key* keys_in, Key* keys_out, std::int64_t num_items,
                                        std::int64_t num_segments, const Offset* begin_offsets,
                                        const Offset* end_offsets,
                                        const DeviceSortOptions& options) {
    segsort::DeviceRequest r;
    r.policy = options.policy;
    if constexpr (SortKey<Key>) {
      r.key_type = key_type_of<Key>();
    } else {
      r.key_type = sizeof(Key) == 1 ? KeyType::u8 : KeyType::u16;
      r.is_half = sizeof(Key) == 2;
    }
    r.offset_bytes = static_cast<int>(sizeof(Offset));
    r.keys_in = keys_in;
    r.keys_out = keys_out;
    r.num_items = num_items;
    r.num_segments = num_segments;
    r.device_num_segments = options.d_num_segments;
    r.begin_offsets = begin_offsets;
    r.end_offsets = end_offsets;
    r.order = options.order;
    r.stable = options.stable;
    r.begin_bit = options.begin_bit;
    r.end_bit = options.end_bit;
    return r;
  }

  template <class Value>
  static void add_values(segsort::DeviceRequest& r, const Value* values_in, Value* values_out) {
    r.value_bytes = static_cast<int>(sizeof(Value));
    r.values_in = values_in;
    r.values_out = values_out;
  }

  /// The result is always in the alternate buffers; the current ones are scratch.
  template <class... T>
  static cudaError_t sort_and_flip(void* temp, std::size_t& temp_bytes, segsort::DeviceRequest r,
                                   cudaStream_t stream, DoubleBuffer<T>&... buffers) {
    r.input_is_scratch = true;
    const cudaError_t status = segsort::sort_on_device(temp, temp_bytes, r, stream);
    if (temp != nullptr && status == cudaSuccess) ((buffers.selector ^= 1), ...);
    return status;
  }
};

}  // namespace sortie
