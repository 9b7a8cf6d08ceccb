// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "sortie/device_segments.hpp"
#include "sortie/export.hpp"
#include "sortie/key_types.hpp"

// Of cuda_fp16.h and cuda_bf16.h, which only users of these keys need.
struct __half;
struct __nv_bfloat16;

namespace sortie {

/// Key types of DeviceSegmentedSort and DeviceSort: all integers of up to 8 bytes, also bool and
/// char, float, double, __half and __nv_bfloat16.
template <class Key>
concept DeviceSortKey =
    (std::integral<Key> && sizeof(Key) <= 8) || std::same_as<Key, float> ||
    std::same_as<Key, double> || std::same_as<Key, __half> || std::same_as<Key, __nv_bfloat16>;

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

/// One of several arrays of values that move with the keys: of any trivially copyable type.
struct DeviceValues {
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t bytes = 0;  ///< of a value

  DeviceValues() = default;
  template <class Value>
  DeviceValues(const Value* d_in, Value* d_out) : in(d_in), out(d_out), bytes(sizeof(Value)) {
    static_assert(std::is_trivially_copyable_v<Value>);
  }
};

namespace segsort {

/// The kind of a key of DeviceSegmentedSort or DeviceSort.
template <DeviceSortKey Key>
[[nodiscard]] constexpr KeyKind device_key_kind() {
  if constexpr (std::integral<Key>) {
    return std::is_signed_v<Key> ? KeyKind::signed_integer : KeyKind::unsigned_integer;
  } else {
    return KeyKind::floating_point;
  }
}

/// The type of the list of key types that sorts a key: that of its width and kind. Half-precision
/// keys have none (DeviceRequest::is_half).
template <DeviceSortKey Key>
[[nodiscard]] constexpr KeyType device_key_type() {
  constexpr KeyType types[][3] = {{KeyType::u8, KeyType::i8, KeyType::u8},
                                  {KeyType::u16, KeyType::i16, KeyType::u16},
                                  {KeyType::u32, KeyType::i32, KeyType::f32},
                                  {KeyType::u64, KeyType::i64, KeyType::f64}};
  return types[std::bit_width(sizeof(Key)) - 1][static_cast<int>(device_key_kind<Key>())];
}

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

/// As sort_on_device() with arrays of values of any sizes, which are gathered by the positions of
/// the sorted keys. The values of `request` are not used.
SORTIE_API cudaError_t sort_and_gather_on_device(void* temp_storage,
                                                 std::size_t& temp_storage_bytes,
                                                 const DeviceRequest& request,
                                                 std::span<const DeviceValues> values,
                                                 cudaStream_t stream);

/// Writes the position of each sorted key to values_out, as an integer of value_bytes bytes. The
/// request has neither values_in nor keys_out.
SORTIE_API cudaError_t sort_positions_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                                const DeviceRequest& request, cudaStream_t stream);

}  // namespace segsort

/// Options of the DeviceSegmentedSort functions that take them.
struct DeviceSortOptions {
  Order order = Order::ascending;
  /// Keep the order of equal keys. Policy::tuned does so regardless of this option.
  bool stable = false;
  /// Bits that are compared, of the key encoded as an unsigned integer of the same order (KeyCodec).
  int begin_bit = 0;  ///< the lowest one
  int end_bit = -1;   ///< one past the highest one; -1: all bits
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
/// Descending, and each for arrays or for DoubleBuffers. SortKeys, SortPairs and SortPositions also
/// accept DeviceSortOptions before the stream: direction, stability, bit range, and a number of
/// segments in device memory. With DoubleBuffers the sort uses the current buffer as scratch and
/// flips the selector, as CUB does.
///
/// \param d_keys_in, d_keys_out  `num_items` keys each; the arrays must not overlap. Items outside
///                               of all segments are not written to the output.
/// \param d_values_in, d_values_out  values of any trivially copyable type that move with the keys
/// \param num_items  size of the arrays; no offset may exceed it. Counts have 64 bits: more than
///                   2^32 items or segments are supported.
/// \param num_segments  number of segments, may be 0; an upper bound of it if
///                      DeviceSortOptions::d_num_segments is set
/// \param d_begin_offsets, d_end_offsets  device arrays of `num_segments` 32- or 64-bit offsets, or,
///                                        in sources compiled by nvcc, any iterators. Segments may
///                                        be empty, in any order and with gaps, but must not
///                                        overlap.
///
/// \return cudaErrorInvalidValue for negative counts, too little or misaligned temporary storage, or
/// bits outside of the key; cudaErrorNotSupported for a policy that is not registered; otherwise the
/// first launch error
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
/// Values of other sizes than 4 and 8 bytes, and several arrays of values, are gathered by positions
/// of 4 bytes (8 from 2^32 items on), for which the storage has two more arrays. Positions: one array
/// of them, and one of the keys. Offsets by iterators: a copy of them.
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
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                              std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                              const DeviceSortOptions& options, cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                request(d_keys_in, d_keys_out, num_items, num_segments, options), d_begin_offsets,
                d_end_offsets, stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                              std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                              const DeviceSortOptions& options, cudaStream_t stream = nullptr) {
    return sort_and_flip(
        d_temp_storage, temp_storage_bytes,
        request(d_keys.Current(), d_keys.Alternate(), num_items, num_segments, options),
        d_begin_offsets, d_end_offsets, stream, d_keys);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                              std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                              cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets, DeviceSortOptions{}, stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                              std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                              cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, DeviceSortOptions{}, stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        const Key* d_keys_in, Key* d_keys_out,
                                        std::int64_t num_items, std::int64_t num_segments,
                                        Begin d_begin_offsets, End d_end_offsets,
                                        cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets,
                    DeviceSortOptions{Order::descending}, stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                        std::int64_t num_segments, Begin d_begin_offsets,
                                        End d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::descending}, stream);
  }
  /// @}

  /// @name StableSortKeys
  /// SortKeys by another name: whole keys that are equal cannot be told apart.
  /// @{
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                    const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                                    std::int64_t num_segments, Begin d_begin_offsets,
                                    End d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets, DeviceSortOptions{}, stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                    DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                    std::int64_t num_segments, Begin d_begin_offsets,
                                    End d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, DeviceSortOptions{}, stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t StableSortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_keys_in, Key* d_keys_out,
                                              std::int64_t num_items, std::int64_t num_segments,
                                              Begin d_begin_offsets, End d_end_offsets,
                                              cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets,
                    DeviceSortOptions{Order::descending}, stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t StableSortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                              std::int64_t num_segments, Begin d_begin_offsets,
                                              End d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::descending}, stream);
  }
  /// @}

  /// @name SortPairs
  /// @{
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                               Value* d_values_out, std::int64_t num_items,
                               std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                               const DeviceSortOptions& options, cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                request(d_keys_in, d_keys_out, num_items, num_segments, options), d_begin_offsets,
                d_end_offsets, stream, DeviceValues(d_values_in, d_values_out));
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                               std::int64_t num_items, std::int64_t num_segments,
                               Begin d_begin_offsets, End d_end_offsets,
                               const DeviceSortOptions& options, cudaStream_t stream = nullptr) {
    return sort_and_flip(
        d_temp_storage, temp_storage_bytes,
        request(d_keys.Current(), d_keys.Alternate(), num_items, num_segments, options),
        d_begin_offsets, d_end_offsets, stream, d_keys, d_values);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                               Value* d_values_out, std::int64_t num_items,
                               std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                               cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     DeviceSortOptions{}, stream);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                               std::int64_t num_items, std::int64_t num_segments,
                               Begin d_begin_offsets, End d_end_offsets,
                               cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, DeviceSortOptions{}, stream);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         const Key* d_keys_in, Key* d_keys_out,
                                         const Value* d_values_in, Value* d_values_out,
                                         std::int64_t num_items, std::int64_t num_segments,
                                         Begin d_begin_offsets, End d_end_offsets,
                                         cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     DeviceSortOptions{Order::descending}, stream);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                         std::int64_t num_items, std::int64_t num_segments,
                                         Begin d_begin_offsets, End d_end_offsets,
                                         cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::descending}, stream);
  }
  /// @}

  /// @name StableSortPairs
  /// @{
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                     const Key* d_keys_in, Key* d_keys_out,
                                     const Value* d_values_in, Value* d_values_out,
                                     std::int64_t num_items, std::int64_t num_segments,
                                     Begin d_begin_offsets, End d_end_offsets,
                                     cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     DeviceSortOptions{.stable = true}, stream);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                     DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                     std::int64_t num_items, std::int64_t num_segments,
                                     Begin d_begin_offsets, End d_end_offsets,
                                     cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, DeviceSortOptions{.stable = true}, stream);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t StableSortPairsDescending(void* d_temp_storage,
                                               std::size_t& temp_storage_bytes,
                                               const Key* d_keys_in, Key* d_keys_out,
                                               const Value* d_values_in, Value* d_values_out,
                                               std::int64_t num_items, std::int64_t num_segments,
                                               Begin d_begin_offsets, End d_end_offsets,
                                               cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     DeviceSortOptions{Order::descending, true}, stream);
  }
  template <DeviceSortKey Key, class Value, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t StableSortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, std::int64_t num_items, std::int64_t num_segments,
      Begin d_begin_offsets, End d_end_offsets, cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::descending, true},
                     stream);
  }
  /// @}

  /// @name SortPairs with several arrays of values
  /// As DeviceSort::SortPairs(). `d_values` is read during the call.
  /// @{
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out,
                               std::span<const DeviceValues> d_values, std::int64_t num_items,
                               std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                               const DeviceSortOptions& options, cudaStream_t stream = nullptr) {
    return over_offsets(d_temp_storage, temp_storage_bytes,
                        request(d_keys_in, d_keys_out, num_items, num_segments, options),
                        d_begin_offsets, d_end_offsets, stream,
                        [&](void* temp, std::size_t& bytes, const segsort::DeviceRequest& r) {
                          return segsort::sort_and_gather_on_device(temp, bytes, r, d_values,
                                                                    stream);
                        });
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out,
                               std::span<const DeviceValues> d_values, std::int64_t num_items,
                               std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                               cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values, num_items,
                     num_segments, d_begin_offsets, d_end_offsets, DeviceSortOptions{}, stream);
  }
  template <DeviceSortKey Key, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         const Key* d_keys_in, Key* d_keys_out,
                                         std::span<const DeviceValues> d_values,
                                         std::int64_t num_items, std::int64_t num_segments,
                                         Begin d_begin_offsets, End d_end_offsets,
                                         cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values, num_items,
                     num_segments, d_begin_offsets, d_end_offsets,
                     DeviceSortOptions{Order::descending}, stream);
  }
  /// @}

  /// @name SortPositions
  /// Argsort: writes where in the array each key of the sorted segments is. The keys stay as they
  /// are. Positions outside of all segments are not written.
  /// \param d_positions_out  `num_items` integers of 4 bytes (fewer than 2^32 items) or 8 bytes
  /// @{
  template <DeviceSortKey Key, std::integral Position, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPositions(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   const Key* d_keys_in, Position* d_positions_out,
                                   std::int64_t num_items, std::int64_t num_segments,
                                   Begin d_begin_offsets, End d_end_offsets,
                                   const DeviceSortOptions& options,
                                   cudaStream_t stream = nullptr) {
    static_assert(sizeof(Position) == 4 || sizeof(Position) == 8);
    auto all = request(d_keys_in, static_cast<Key*>(nullptr), num_items, num_segments, options);
    all.value_bytes = static_cast<int>(sizeof(Position));
    all.values_out = d_positions_out;
    return over_offsets(d_temp_storage, temp_storage_bytes, all, d_begin_offsets, d_end_offsets,
                        stream,
                        [&](void* temp, std::size_t& bytes, const segsort::DeviceRequest& r) {
                          return segsort::sort_positions_on_device(temp, bytes, r, stream);
                        });
  }
  template <DeviceSortKey Key, std::integral Position, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPositions(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   const Key* d_keys_in, Position* d_positions_out,
                                   std::int64_t num_items, std::int64_t num_segments,
                                   Begin d_begin_offsets, End d_end_offsets,
                                   cudaStream_t stream = nullptr) {
    return SortPositions(d_temp_storage, temp_storage_bytes, d_keys_in, d_positions_out, num_items,
                         num_segments, d_begin_offsets, d_end_offsets, DeviceSortOptions{}, stream);
  }
  template <DeviceSortKey Key, std::integral Position, SegmentOffsets Begin, SegmentOffsets End>
  static cudaError_t SortPositionsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_keys_in, Position* d_positions_out,
                                             std::int64_t num_items, std::int64_t num_segments,
                                             Begin d_begin_offsets, End d_end_offsets,
                                             cudaStream_t stream = nullptr) {
    return SortPositions(d_temp_storage, temp_storage_bytes, d_keys_in, d_positions_out, num_items,
                         num_segments, d_begin_offsets, d_end_offsets,
                         DeviceSortOptions{Order::descending}, stream);
  }
  /// @}

 private:
  /// A request without values and offsets.
  template <class Key>
  static segsort::DeviceRequest request(const Key* keys_in, Key* keys_out, std::int64_t num_items,
                                        std::int64_t num_segments,
                                        const DeviceSortOptions& options) {
    segsort::DeviceRequest r;
    r.policy = options.policy;
    r.key_type = segsort::device_key_type<Key>();
    r.is_half = sizeof(Key) == 2 && !std::integral<Key>;
    r.keys_in = keys_in;
    r.keys_out = keys_out;
    r.num_items = num_items;
    r.num_segments = num_segments;
    r.device_num_segments = options.d_num_segments;
    r.order = options.order;
    r.stable = options.stable;
    r.begin_bit = options.begin_bit;
    r.end_bit = options.end_bit;
    return r;
  }

  /// Calls `sort_request(storage, bytes, request with offsets)`. The values of iterators are copied
  /// behind the storage of the sort.
  template <class Begin, class End, class Sort>
  static cudaError_t over_offsets(void* temp, std::size_t& temp_bytes, segsort::DeviceRequest r,
                                  Begin begin, End end, cudaStream_t stream,
                                  const Sort& sort_request) {
    if constexpr (segsort::are_offset_arrays<Begin, End>) {
      r.offset_bytes = static_cast<int>(sizeof(*begin));
      r.begin_offsets = begin;
      r.end_offsets = end;
      return sort_request(temp, temp_bytes, r);
    } else {
      return segsort::with_copied_offsets(temp, temp_bytes, r, begin, end, stream, sort_request);
    }
  }

  template <class Begin, class End>
  static cudaError_t sort(void* temp, std::size_t& temp_bytes, const segsort::DeviceRequest& all,
                          Begin begin, End end, cudaStream_t stream, DeviceValues values = {}) {
    return over_offsets(temp, temp_bytes, all, begin, end, stream,
                        [&](void* storage, std::size_t& bytes, segsort::DeviceRequest r) {
                          if (values.bytes != 0 && values.bytes != 4 && values.bytes != 8)
                            return segsort::sort_and_gather_on_device(
                                storage, bytes, r, std::span(&values, 1), stream);
                          r.value_bytes = static_cast<int>(values.bytes);
                          r.values_in = values.in;
                          r.values_out = values.out;
                          return segsort::sort_on_device(storage, bytes, r, stream);
                        });
  }

  /// The result is always in the alternate buffers; the current ones are scratch.
  template <class Begin, class End, class Key, class... Value>
  static cudaError_t sort_and_flip(void* temp, std::size_t& temp_bytes, segsort::DeviceRequest r,
                                   Begin begin, End end, cudaStream_t stream,
                                   DoubleBuffer<Key>& keys, DoubleBuffer<Value>&... values) {
    r.input_is_scratch = true;
    const cudaError_t status =
        sort(temp, temp_bytes, r, begin, end, stream,
             DeviceValues(static_cast<const Value*>(values.Current()), values.Alternate())...);
    if (temp != nullptr && status == cudaSuccess) {
      keys.selector ^= 1;
      ((values.selector ^= 1), ...);
    }
    return status;
  }
};

}  // namespace sortie
