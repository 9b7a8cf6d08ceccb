// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "sortie/device_segmented_sort.hpp"
#include "sortie/export.hpp"
#include "sortie/key_types.hpp"

namespace sortie {

namespace segsort {

/// Where the result of a sort of DoubleBuffers is.
struct ResultPlace {
  bool keys_in_input = false;
  bool values_in_input = false;
};

/// One sort of an array on device memory, type-erased.
struct ArrayRequest {
  int key_bytes = 4;  ///< 1, 2, 4 or 8
  KeyKind kind = KeyKind::unsigned_integer;
  Order order = Order::ascending;
  int begin_bit = 0;
  int end_bit = 0;
  const void* keys_in = nullptr;
  void* keys_out = nullptr;
  /// Values, in and out. Without `values_in`, the values are the positions of the keys, and
  /// keys_out is not used.
  const void* values_in = nullptr;
  void* values_out = nullptr;
  std::size_t value_bytes = 0;  ///< 0: keys alone; of positions 4 or 8
  bool are_positions = false;
  /// Several arrays of values, in place of the one above. Read during the call.
  std::span<const DeviceValues> several_values;
  /// The input buffers may be overwritten and serve as scratch (DoubleBuffer entry points).
  bool input_is_scratch = false;
  /// Set with `input_is_scratch`, in both phases. Null: the result is to be in the output.
  ResultPlace* result = nullptr;
  std::int64_t num_items = 0;
  /// The caller's number of items has 32 bits, for which cub::DeviceRadixSort takes less storage.
  bool has_narrow_count = false;
};

/// Two-phase call with the conventions of DeviceSort.
SORTIE_API cudaError_t sort_array_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                            const ArrayRequest& request, cudaStream_t stream);

}  // namespace segsort

/// Stable sort of one array in the memory of the current device, with the calling conventions of
/// cub::DeviceRadixSort.
///
/// Each function is called twice. With `d_temp_storage` null it only writes the required size in
/// bytes to `temp_storage_bytes`. The second call receives that much device memory, aligned to 16
/// bytes. The size depends only on count, types and bits, never on data. All work is enqueued on
/// `stream`; nothing is allocated, nothing is copied to the host, and the second call can be
/// captured in a CUDA graph.
///
/// \param d_keys_in, d_keys_out  `num_items` keys each; the arrays must not overlap. Keys of 4 or 8
///        bytes, alone or with values of 4 or 8 bytes, are sorted in place if all outputs are the
///        inputs, in the query of the size as well. With DoubleBuffers both are scratch, and
///        the selectors tell where the result is, which depends on count, types and bits only.
/// \param d_values_in, d_values_out  values of any trivially copyable type of at most 2^18 bytes that move
///        with the keys. Values of 2 bytes at odd addresses: also passed in the query of the size
/// \param begin_bit, end_bit  bits that are compared, of the key encoded as an unsigned integer of
///                            the same order (KeyCodec); whole keys are moved
/// \return cudaErrorInvalidValue for a negative count, bits outside of the key, larger values or too
///         little temporary storage; otherwise the first launch error
///
/// Order: as in sort(). Floating-point keys are ordered by IEEE 754 totalOrder, so -0.0 precedes
/// +0.0, which CUB takes for equal. Equal keys keep their order.
///
/// Which algorithm sorts what:
///
/// | keys | values | algorithm |
/// |---|---|---|
/// | 1 byte from 2^15 on, 2 bytes from 2^19 on (in DoubleBuffers 2^24), all bits | none | counting: one pass reads the keys, one writes them |
/// | 8 bytes, all bits, 2^16 to 2^21 - 1, if even | none, 1, 2, 4 or 8 bytes | by the two highest digits, or magnitudes, then in tiles |
/// | 1 or 2 bytes, 2049 to 4864 | none, or 4 bytes | cub::DeviceRadixSort, in one block |
/// | any otherwise, up to 8192 | any one array, but not in place | one block, in its shared memory |
/// | any otherwise, 8193 to 2^21 - 1 | none, 1, 2, 4 or 8 bytes, or 16 with 8-byte keys below 2^16 and others | by digits of 8 bits, all in one kernel |
/// | 4 bytes, 2^21 to 2^22 | 1, 2, 4 or 8 bytes | by digits of 8 bits, all in one kernel |
/// | 4 bytes, 2^21 to 3 * 2^21 | none | by digits of 8 bits, all in one kernel |
/// | 1 or 2 bytes otherwise | none, 4 or 8 bytes | cub::DeviceRadixSort, with an encoding of the keys |
/// | 1 or 2 bytes otherwise | 1, 2 or 16 bytes | by digits of 8 bits |
/// | 4 or 8 bytes, by up to 16 bits | 16 bytes | by digits of 8 bits, below 2^21 in one kernel |
/// | 4 or 8 bytes, all bits, from 2^21 on to 2^28, if even | none, 1, 2, 4 or 8 bytes | by the two highest digits, or magnitudes, then in tiles |
/// | 4 or 8 bytes otherwise | 1 or 2 bytes | by digits of 8 bits |
/// | 4 bytes, from 2^22 + 1 on by some bits | 4 bytes | cub::DeviceRadixSort, with an encoding of the keys |
/// | 4 bytes unsigned, from 2^22 + 1 on, ascending by some bits | 8 bytes | cub::DeviceRadixSort |
/// | 8 bytes unsigned in DoubleBuffers, from 2^21 on, ascending by some bits | none, 4 or 8 bytes | cub::DeviceRadixSort |
/// | 4 bytes, up to 2^28 otherwise | none, 4 or 8 bytes | by digits of 8 bits |
/// | 4 or 8 bytes, by up to 8 bits, from 2^21 on | none, 4 or 8 bytes | one pass over a digit |
/// | 4 or 8 bytes, if uneven | none, 4 or 8 bytes | by digits of 8 bits |
/// | 4 or 8 bytes otherwise | none, 4 or 8 bytes | by ranges, as long segments are |
/// | any | other sizes, or not aligned to 2 or 16 bytes | as for their positions, by which the values are then gathered |
/// | any | several arrays, up to 8 bytes together | as for one value, packed before and unpacked after |
/// | any, out of place, from 2^24 on | several arrays, in up to 4 groups of 8 bytes | a sort for each group |
/// | any | several arrays otherwise | as for their positions, by which each array is then gathered |
///
/// From 2^22 + 1 keys of 4 bytes (alone 3 * 2^21 + 1, in place 2^21) and 2^16 of 8 bytes on, a
/// sample decides whether these are examined first: items in order or in reverse order are copied;
/// up to 512 distinct keys without values are counted; up to 256 with values are counted, and their
/// items moved in one pass, if all bits are compared. Keys are even if they span more than half of
/// all values, and no part of the sample is much larger than others; or if no range between two
/// powers of 2 has much more than its share of all such ranges, as for a density of 1/x, of the
/// keys encoded as unsigned integers: their magnitudes are then the digits. They are uneven if a
/// quarter of the sample is in one of 64 equal parts of its range, unless it has at most 256
/// distinct keys or is nearly in order, or if at most three of their bytes differ. Digits take one
/// pass each, digits in which all keys agree take none. Ranges are taken in place, and on GPUs with
/// less shared memory. One kernel that takes all digits checks the order of the keys while it
/// counts them, and copies an array in order, or in reverse order if the result is not in the
/// input.
///
/// With DoubleBuffers, passes alternate between the two buffers, where the table has ranges by
/// digits. Keys in order are then read once, and most stay where they are.
///
/// Temporary storage, without values or with values of 1, 2, 4, 8 or more bytes: at most as much as
/// cub::DeviceRadixSort of CUDA 13.0 takes on a GPU of compute capability 9.0 for the same types,
/// bits, buffers and type of the number of items; up to 0.6 % more for more than 2^28 items of keys
/// of 4 or 8 bytes that are not in DoubleBuffers. Out of place that is a copy of keys and values
/// and a few per cent, with DoubleBuffers those few per cent, and a byte for arrays in one block,
/// whatever values they have. In place at most 36 MiB more than out of place. Keys that are
/// counted: at most 1 MiB. Less than 2^21 keys of up to 4 bytes with values of 4 bytes that are
/// sorted out of place by more than 8 bits take what CUB takes for a number of items of 64 bits:
/// for one of 32 bits up to 0.8 % more. Of values of more than 8 bytes, positions of 4 bytes (8
/// from 2^32 items on) are in the output of the values, and in the place of a copy of them, until
/// the values are gathered. Values of 3, 5, 6 or 7 bytes, and several arrays of values: in place of
/// the copy of the values, three arrays of positions or of packed values. Positions: two arrays of
/// them, and two of the keys.
///
/// CUB is faster in some cases: on an H100, pairs of 4-byte keys from 2^22 + 1 items on that are
/// sorted by digits take up to 1.2 times its time, and 1.5 times if the sample does not show that
/// they are; 4-byte keys alone from 3 * 2^21 + 1 on up to 1.1 times; 2^21 keys of 8 bytes that are
/// sorted by digits 1.3 times; 2^21 + 1 to 2^22 pairs with 100 distinct keys and a number of items
/// of 32 bits 1.1 times.
///
/// Complexity: by ranges one pass over the items for each factor of 256 to 512 in their number, at
/// most one for each 4 bits of the key; by digits at most one for each 8 bits.
///
/// Source of the sort by digits: Adinets, Merrill: Onesweep (arXiv:2206.01784).
struct DeviceSort {
  /// @name SortKeys
  /// @{
  template <DeviceSortKey Key, std::integral NumItems>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              const Key* d_keys_in, Key* d_keys_out, NumItems num_items,
                              int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                              cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                request(d_keys_in, d_keys_out, num_items, Order::ascending, begin_bit, end_bit),
                stream);
  }
  template <DeviceSortKey Key, std::integral NumItems>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              DoubleBuffer<Key>& d_keys, NumItems num_items, int begin_bit = 0,
                              int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                request(d_keys.Current(), d_keys.Alternate(), num_items, Order::ascending,
                        begin_bit, end_bit),
                stream, d_keys);
  }
  template <DeviceSortKey Key, std::integral NumItems>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        const Key* d_keys_in, Key* d_keys_out, NumItems num_items,
                                        int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                                        cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                request(d_keys_in, d_keys_out, num_items, Order::descending, begin_bit, end_bit),
                stream);
  }
  template <DeviceSortKey Key, std::integral NumItems>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, NumItems num_items,
                                        int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                                        cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                request(d_keys.Current(), d_keys.Alternate(), num_items, Order::descending,
                        begin_bit, end_bit),
                stream, d_keys);
  }
  /// @}

  /// @name SortPairs
  /// @{
  template <DeviceSortKey Key, class Value, std::integral NumItems>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                               Value* d_values_out, NumItems num_items, int begin_bit = 0,
                               int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {
    return sort(
        d_temp_storage, temp_storage_bytes,
        with_values(request(d_keys_in, d_keys_out, num_items, Order::ascending, begin_bit, end_bit),
                    d_values_in, d_values_out),
        stream);
  }
  template <DeviceSortKey Key, class Value, std::integral NumItems>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                               NumItems num_items, int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                               cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                with_values(request(d_keys.Current(), d_keys.Alternate(), num_items,
                                    Order::ascending, begin_bit, end_bit),
                            d_values.Current(), d_values.Alternate()),
                stream, d_keys, d_values);
  }
  template <DeviceSortKey Key, class Value, std::integral NumItems>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         const Key* d_keys_in, Key* d_keys_out,
                                         const Value* d_values_in, Value* d_values_out,
                                         NumItems num_items, int begin_bit = 0,
                                         int end_bit = sizeof(Key) * 8,
                                         cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                with_values(request(d_keys_in, d_keys_out, num_items, Order::descending, begin_bit,
                                    end_bit),
                            d_values_in, d_values_out),
                stream);
  }
  template <DeviceSortKey Key, class Value, std::integral NumItems>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                         NumItems num_items, int begin_bit = 0,
                                         int end_bit = sizeof(Key) * 8,
                                         cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                with_values(request(d_keys.Current(), d_keys.Alternate(), num_items,
                                    Order::descending, begin_bit, end_bit),
                            d_values.Current(), d_values.Alternate()),
                stream, d_keys, d_values);
  }
  /// @}

  /// @name SortPairs with several arrays of values
  /// `d_values` is read during the call:
  ///
  ///     const std::array values{DeviceValues(x_in, x_out), DeviceValues(y_in, y_out)};
  ///     DeviceSort::SortPairs(storage, bytes, keys_in, keys_out, values, n);
  /// @{
  template <DeviceSortKey Key, std::integral NumItems>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Key* d_keys_in, Key* d_keys_out,
                               std::span<const DeviceValues> d_values, NumItems num_items,
                               int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                               cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                with_several(
                    request(d_keys_in, d_keys_out, num_items, Order::ascending, begin_bit, end_bit),
                    d_values),
                stream);
  }
  template <DeviceSortKey Key, std::integral NumItems>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         const Key* d_keys_in, Key* d_keys_out,
                                         std::span<const DeviceValues> d_values, NumItems num_items,
                                         int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                                         cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                with_several(request(d_keys_in, d_keys_out, num_items, Order::descending, begin_bit,
                                     end_bit),
                             d_values),
                stream);
  }
  /// @}

  /// @name SortPositions
  /// Argsort: writes where each item of the sorted array is in the input. The keys stay as they
  /// are.
  /// \param d_positions_out  `num_items` integers of 4 bytes (fewer than 2^32 items) or 8 bytes
  /// @{
  template <DeviceSortKey Key, std::integral Position, std::integral NumItems>
  static cudaError_t SortPositions(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   const Key* d_keys_in, Position* d_positions_out,
                                   NumItems num_items, int begin_bit = 0,
                                   int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                with_positions(request(d_keys_in, static_cast<Key*>(nullptr), num_items,
                                       Order::ascending, begin_bit, end_bit),
                               d_positions_out),
                stream);
  }
  template <DeviceSortKey Key, std::integral Position, std::integral NumItems>
  static cudaError_t SortPositionsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                             const Key* d_keys_in, Position* d_positions_out,
                                             NumItems num_items, int begin_bit = 0,
                                             int end_bit = sizeof(Key) * 8,
                                             cudaStream_t stream = nullptr) {
    return sort(d_temp_storage, temp_storage_bytes,
                with_positions(request(d_keys_in, static_cast<Key*>(nullptr), num_items,
                                       Order::descending, begin_bit, end_bit),
                               d_positions_out),
                stream);
  }
  /// @}

 private:
  template <class Key>
  static segsort::ArrayRequest request(const Key* keys_in, Key* keys_out,
                                       std::integral auto num_items, Order order, int begin_bit,
                                       int end_bit) {
    segsort::ArrayRequest r;
    r.key_bytes = static_cast<int>(sizeof(Key));
    r.kind = segsort::device_key_kind<Key>();
    r.order = order;
    r.begin_bit = begin_bit;
    r.end_bit = end_bit;
    r.keys_in = keys_in;
    r.keys_out = keys_out;
    r.num_items = static_cast<std::int64_t>(num_items);
    r.has_narrow_count = sizeof(num_items) <= 4;
    return r;
  }
  template <class Value>
  static segsort::ArrayRequest with_values(segsort::ArrayRequest r, const Value* values_in,
                                           Value* values_out) {
    static_assert(std::is_trivially_copyable_v<Value>);
    r.value_bytes = sizeof(Value);
    r.values_in = values_in;
    r.values_out = values_out;
    return r;
  }
  static segsort::ArrayRequest with_several(segsort::ArrayRequest r,
                                            std::span<const DeviceValues> values) {
    r.several_values = values;
    return r;
  }
  template <class Position>
  static segsort::ArrayRequest with_positions(segsort::ArrayRequest r, Position* positions) {
    static_assert(sizeof(Position) == 4 || sizeof(Position) == 8);
    r.value_bytes = sizeof(Position);
    r.values_out = positions;
    r.are_positions = true;
    return r;
  }
  static cudaError_t sort(void* temp, std::size_t& temp_bytes, const segsort::ArrayRequest& r,
                          cudaStream_t stream) {
    return segsort::sort_array_on_device(temp, temp_bytes, r, stream);
  }
  /// Sorts buffers of keys and, if there are any, of values, and sets the selectors.
  template <class Key, class... Value>
  static cudaError_t sort(void* temp, std::size_t& temp_bytes, segsort::ArrayRequest r,
                          cudaStream_t stream, DoubleBuffer<Key>& keys,
                          DoubleBuffer<Value>&... values) {
    segsort::ResultPlace result;
    r.input_is_scratch = true;
    r.result = &result;
    const cudaError_t status = segsort::sort_array_on_device(temp, temp_bytes, r, stream);
    if (temp == nullptr || status != cudaSuccess) return status;
    if (!result.keys_in_input) keys.selector ^= 1;
    if (!result.values_in_input) ((values.selector ^= 1), ...);
    return status;
  }
};

}  // namespace sortie
