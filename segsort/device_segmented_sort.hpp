#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/segsort/key_types.hpp"
#include "sortie/segsort/segment_range.hpp"

namespace sortie {

/// Two device buffers, one of which holds the data: sorting flips the selector instead of copying.
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

/// How segments of each length are sorted.
enum class Policy {
  /// Sortie's own design. Where its tiles do not fit the GPU's shared memory (up to 187 KiB a
  /// block), ics17 with stable sorts.
  tuned,
  ics17,  ///< the paper's: bins, reg-sort, smem-merge, grid merges
};

/// One segmented sort on device memory, type erased: what the CUDA implementation takes.
struct DeviceRequest {
  Policy policy = Policy::tuned;
  KeyType key_type = KeyType::u32;
  int value_bytes = 0;   ///< 0 (keys only), 4 or 8
  int offset_bytes = 4;  ///< 4 or 8
  const void* keys_in = nullptr;
  void* keys_out = nullptr;
  const void* values_in = nullptr;
  void* values_out = nullptr;
  /// The input buffers may be overwritten, and serve as scratch (DoubleBuffer entry points).
  bool input_is_scratch = false;
  std::int64_t num_items = 0;
  std::int64_t num_segments = 0;
  /// When set, the number of segments stands there in device memory and only kernels read it;
  /// num_segments is then an upper bound, and offsets behind the number are not read.
  const std::int64_t* device_num_segments = nullptr;
  const void* begin_offsets = nullptr;
  const void* end_offsets = nullptr;
  /// When set, the range of each segment's keys, in device memory: a long segment is cut by it
  /// without a look at the keys before. Only with all bits compared. \pre it holds all keys
  const SegmentRange* ranges = nullptr;
  Order order = Order::ascending;
  bool stable = false;
  int begin_bit = 0;
  int end_bit = -1;
};

/// Two-phase call as DeviceSegmentedSort's. Policy::ics17 returns cudaErrorNotSupported when
/// device_num_segments is set.
cudaError_t sort_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                           const DeviceRequest& request, cudaStream_t stream);

}  // namespace segsort

/// How to sort each segment, for the functions of DeviceSegmentedSort that take it.
struct DeviceSortOptions {
  Order order = Order::ascending;
  /// Equal keys keep their order. Under Policy::tuned they do so anyway.
  bool stable = false;
  int begin_bit = 0;  ///< lowest bit compared; other than 0 only for unsigned keys
  int end_bit = -1;   ///< one past the highest bit compared, -1: all bits; unsigned keys only
  /// Number of segments in device memory, read by the kernels and never by the host: a kernel
  /// before may write it. The argument `num_segments` is then an upper bound, which sizes temporary
  /// storage; offsets behind the number may be garbage. \pre 0 <= *d_num_segments <= num_segments
  const std::int64_t* d_num_segments = nullptr;
  segsort::Policy policy = segsort::Policy::tuned;
};

/// Segmented sort of device arrays, with the calling conventions of cub::DeviceSegmentedSort.
///
/// Each function is called twice: first with `d_temp_storage` null, when it only writes the bytes
/// it wants to `temp_storage_bytes`; then with that much device memory, aligned to 16 bytes. The
/// bytes wanted depend on counts, types and options alone, never on data.
///
/// Offsets, and if asked for their number, stand in device memory only: nothing is copied to the
/// host, nothing is allocated, nothing waits for the host. All work goes to `stream`, and the
/// second call can be captured in a CUDA graph, whose replays sort whatever the arrays hold by
/// then, under whatever offsets.
///
/// There are SortKeys and SortPairs, each with and without Stable before and Descending behind its
/// name, and each for arrays or for DoubleBuffers. SortKeys and SortPairs also take
/// DeviceSortOptions before the stream: direction, stability, bit range, a number of segments that
/// only the device knows. With DoubleBuffers the sort uses the current buffer as scratch and flips
/// the selector, as cub::DoubleBuffer is used.
///
/// Parameters common to all:
/// \param d_keys_in, d_keys_out      `num_items` keys each; the arrays must not overlap. Items
///                                   outside of all segments are not written to the output.
/// \param d_values_in, d_values_out  values of 4 or 8 bytes that travel with the keys
/// \param num_items                  size of the arrays; every offset must be at most that. Counts
///                                   have 64 bits: more than 2^32 items or segments are fine.
/// \param num_segments               number of segments, may be 0; an upper bound of it when
///                                   DeviceSortOptions::d_num_segments is set
/// \param d_begin_offsets, d_end_offsets  device arrays of `num_segments` 32- or 64-bit offsets;
///                                   segments may be empty, in any order, with gaps, not
///                                   overlapping
/// \return cudaErrorInvalidValue for negative counts, too little temporary storage, or a bit range
///         that the key does not have (of a signed or floating-point key, any but all bits);
///         cudaErrorNotSupported for DeviceSortOptions::d_num_segments under Policy::ics17;
///         otherwise the first error of a launch
///
/// Order: ascending or descending by value; floating-point keys by IEEE 754 totalOrder (see
/// SortKey); under a bit range, by the unsigned number that bits begin_bit .. end_bit - 1 are. Keys
/// are moved whole whatever the range.
///
/// Stability: under Policy::tuned, the default, every sort is stable and deterministic, whether
/// `stable` is asked for or not. Under Policy::ics17 only stable sorts keep equal keys in order;
/// the others still give the same result on every run. Padding used inside never mixes with data,
/// whatever the keys are.
///
/// Temporary storage: at most num_items * (key bytes + value bytes) + num_items / 20 + 16 bytes a
/// segment + 36 MiB; with DoubleBuffer num_items / 3 in place of the first two terms.
/// Complexity: O(n_i) for a segment of up to 8192 items whose keys are spread evenly over their
/// range, O(n_i log n_i) comparisons of one word otherwise; beyond, a pass over the segment for
/// each factor of 256 to 512 in its length, at most one for each 4 bits of the key. Sources: Hou,
/// Liu, Wang, Feng: Fast Segmented Sort on GPUs (ICS 2017), section 3; Green, McColl, Bader: GPU
/// Merge Path (ICS 2012); segsort/README.md for what is Sortie's own.
struct DeviceSegmentedSort {
  /// @name SortKeys
  /// @{
  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                              std::int64_t num_segments, const Offset* d_begin_offsets,
                              const Offset* d_end_offsets, const DeviceSortOptions& options,
                              cudaStream_t stream = nullptr) {
    return keys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                request(num_items, num_segments, d_begin_offsets, d_end_offsets, options), stream);
  }

  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                              std::int64_t num_segments, const Offset* d_begin_offsets,
                              const Offset* d_end_offsets, const DeviceSortOptions& options,
                              cudaStream_t stream = nullptr) {
    return keys(d_temp_storage, temp_storage_bytes, d_keys,
                request(num_items, num_segments, d_begin_offsets, d_end_offsets, options), stream);
  }

  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                              std::int64_t num_segments, const Offset* d_begin_offsets,
                              const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets,
                    DeviceSortOptions{Order::ascending, false}, stream);
  }

  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                              std::int64_t num_segments, const Offset* d_begin_offsets,
                              const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::ascending, false},
                    stream);
  }

  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        const Key* d_keys_in, Key* d_keys_out,
                                        std::int64_t num_items, std::int64_t num_segments,
                                        const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                        cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets,
                    DeviceSortOptions{Order::descending, false}, stream);
  }

  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                        std::int64_t num_segments, const Offset* d_begin_offsets,
                                        const Offset* d_end_offsets,
                                        cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::descending, false},
                    stream);
  }

  /// @}

  /// @name StableSortKeys
  /// Whole keys that are equal cannot be told apart, so these are SortKeys by another name.
  /// @{
  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                    const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                                    std::int64_t num_segments, const Offset* d_begin_offsets,
                                    const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets,
                    DeviceSortOptions{Order::ascending, false}, stream);
  }

  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                    DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                    std::int64_t num_segments, const Offset* d_begin_offsets,
                                    const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::ascending, false},
                    stream);
  }

  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t StableSortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_keys_in, Key* d_keys_out,
                                              std::int64_t num_items, std::int64_t num_segments,
                                              const Offset* d_begin_offsets,
                                              const Offset* d_end_offsets,
                                              cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                    num_segments, d_begin_offsets, d_end_offsets,
                    DeviceSortOptions{Order::descending, false}, stream);
  }

  template <SortKey Key, SegmentOffset Offset>
  static cudaError_t StableSortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              DoubleBuffer<Key>& d_keys, std::int64_t num_items,
                                              std::int64_t num_segments,
                                              const Offset* d_begin_offsets,
                                              const Offset* d_end_offsets,
                                              cudaStream_t stream = nullptr) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, num_segments,
                    d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::descending, false},
                    stream);
  }

  /// @}

  /// @name SortPairs
  /// @{
  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                               Value* d_values_out, std::int64_t num_items,
                               std::int64_t num_segments, const Offset* d_begin_offsets,
                               const Offset* d_end_offsets, const DeviceSortOptions& options,
                               cudaStream_t stream = nullptr) {
    return pairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                 d_values_out,
                 request(num_items, num_segments, d_begin_offsets, d_end_offsets, options), stream);
  }

  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                               std::int64_t num_items, std::int64_t num_segments,
                               const Offset* d_begin_offsets, const Offset* d_end_offsets,
                               const DeviceSortOptions& options, cudaStream_t stream = nullptr) {
    return pairs(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                 request(num_items, num_segments, d_begin_offsets, d_end_offsets, options), stream);
  }

  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                               Value* d_values_out, std::int64_t num_items,
                               std::int64_t num_segments, const Offset* d_begin_offsets,
                               const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     DeviceSortOptions{Order::ascending, false}, stream);
  }

  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                               std::int64_t num_items, std::int64_t num_segments,
                               const Offset* d_begin_offsets, const Offset* d_end_offsets,
                               cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::ascending, false},
                     stream);
  }

  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         const Key* d_keys_in, Key* d_keys_out,
                                         const Value* d_values_in, Value* d_values_out,
                                         std::int64_t num_items, std::int64_t num_segments,
                                         const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                         cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     DeviceSortOptions{Order::descending, false}, stream);
  }

  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                         std::int64_t num_items, std::int64_t num_segments,
                                         const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                         cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::descending, false},
                     stream);
  }

  /// @}

  /// @name StableSortPairs
  /// @{
  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                     const Key* d_keys_in, Key* d_keys_out,
                                     const Value* d_values_in, Value* d_values_out,
                                     std::int64_t num_items, std::int64_t num_segments,
                                     const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                     cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     DeviceSortOptions{Order::ascending, true}, stream);
  }

  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                     DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                     std::int64_t num_items, std::int64_t num_segments,
                                     const Offset* d_begin_offsets, const Offset* d_end_offsets,
                                     cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::ascending, true},
                     stream);
  }

  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t StableSortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
      const Value* d_values_in, Value* d_values_out, std::int64_t num_items,
      std::int64_t num_segments, const Offset* d_begin_offsets, const Offset* d_end_offsets,
      cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                     d_values_out, num_items, num_segments, d_begin_offsets, d_end_offsets,
                     DeviceSortOptions{Order::descending, true}, stream);
  }

  template <SortKey Key, SortValue Value, SegmentOffset Offset>
  static cudaError_t StableSortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, std::int64_t num_items, std::int64_t num_segments,
      const Offset* d_begin_offsets, const Offset* d_end_offsets, cudaStream_t stream = nullptr) {
    return SortPairs(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, num_segments,
                     d_begin_offsets, d_end_offsets, DeviceSortOptions{Order::descending, true},
                     stream);
  }

  /// @}

 private:
  /// All of a request but the arrays of keys and values.
  template <class Offset>
  static segsort::DeviceRequest request(std::int64_t num_items, std::int64_t num_segments,
                                        const Offset* begin_offsets, const Offset* end_offsets,
                                        const DeviceSortOptions& options) {
    segsort::DeviceRequest r;
    r.policy = options.policy;
    r.offset_bytes = static_cast<int>(sizeof(Offset));
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

  template <class Key>
  static cudaError_t keys(void* temp, std::size_t& temp_bytes, const Key* in, Key* out,
                          segsort::DeviceRequest r, cudaStream_t stream) {
    r.key_type = key_type_of<Key>();
    r.keys_in = in;
    r.keys_out = out;
    return segsort::sort_on_device(temp, temp_bytes, r, stream);
  }

  template <class Key, class Value>
  static cudaError_t pairs(void* temp, std::size_t& temp_bytes, const Key* keys_in, Key* keys_out,
                           const Value* values_in, Value* values_out, segsort::DeviceRequest r,
                           cudaStream_t stream) {
    r.value_bytes = static_cast<int>(sizeof(Value));
    r.values_in = values_in;
    r.values_out = values_out;
    return keys(temp, temp_bytes, keys_in, keys_out, r, stream);
  }

  /// The result is always in the alternate buffer; the current one is the scratch.
  template <class Key>
  static cudaError_t keys(void* temp, std::size_t& temp_bytes, DoubleBuffer<Key>& buffer,
                          segsort::DeviceRequest r, cudaStream_t stream) {
    r.input_is_scratch = true;
    const cudaError_t status =
        keys(temp, temp_bytes, buffer.Current(), buffer.Alternate(), r, stream);
    if (temp != nullptr && status == cudaSuccess) buffer.selector ^= 1;
    return status;
  }

  template <class Key, class Value>
  static cudaError_t pairs(void* temp, std::size_t& temp_bytes, DoubleBuffer<Key>& key_buffer,
                           DoubleBuffer<Value>& value_buffer, segsort::DeviceRequest r,
                           cudaStream_t stream) {
    r.value_bytes = static_cast<int>(sizeof(Value));
    r.values_in = value_buffer.Current();
    r.values_out = value_buffer.Alternate();
    const cudaError_t status = keys(temp, temp_bytes, key_buffer, r, stream);
    if (temp != nullptr && status == cudaSuccess) value_buffer.selector ^= 1;
    return status;
  }
};

}  // namespace sortie
