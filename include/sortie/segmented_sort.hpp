// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sortie/context.hpp"
#include "sortie/export.hpp"
#include "sortie/key_types.hpp"

namespace sortie {

/// How to sort each segment.
struct SegmentedSortOptions {
  Order order = Order::ascending;
  bool stable = false;  ///< Keep the order of equal keys.
  int begin_bit = 0;    ///< Lowest bit compared; other than 0 only for unsigned keys.
  int end_bit = -1;     ///< One past the highest bit compared; -1: all bits. Unsigned keys only.
};

namespace segsort {

/// Offsets of any supported integer type, type-erased.
struct OffsetArray {
  const void* data = nullptr;
  int bytes = 8;           ///< bytes per offset: 4 or 8
  std::uint64_t size = 0;  ///< number of offsets

  [[nodiscard]] std::uint64_t operator[](std::uint64_t i) const {
    return bytes == 4 ? static_cast<const std::uint32_t*>(data)[i]
                      : static_cast<const std::uint64_t*>(data)[i];
  }
};

/// One segmented sort on host memory, in place, type-erased. Each backend implements it.
struct Request {
  void* keys = nullptr;
  KeyType key_type = KeyType::u32;
  std::uint64_t num_items = 0;
  void* values = nullptr;
  int value_bytes = 0;  ///< 0 (keys only), 4 or 8
  OffsetArray begin_offsets;
  OffsetArray end_offsets;
  SegmentedSortOptions options;
};

/// Checks a request, selects the backend and runs it.
SORTIE_API void sort(const Context& context, const Request& request);

template <SegmentOffset Offset>
[[nodiscard]] OffsetArray erase(std::span<const Offset> offsets) {
  return {offsets.data(), static_cast<int>(sizeof(Offset)), offsets.size()};
}

}  // namespace segsort

/// Sorts the keys of many independent segments of one array, in place.
///
/// Segment i is keys[begin_offsets[i] .. end_offsets[i]). Segments may be empty, may be listed in
/// any order and may leave gaps between them (items in gaps are not moved), but must not overlap.
///
/// \param context        backend, device, stream, threads, memory budget
/// \param keys           all keys; on return the keys of each segment are sorted
/// \param begin_offsets  first item of each segment
/// \param end_offsets    one past the last item of each segment; same size as begin_offsets
/// \param options        direction, stability, bit range
/// \throws Error (usage)  begin and end offsets differ in number, the bit range exceeds the key, or
///                        a bit range is given for a signed or floating-point key
/// \throws Error (input)  an offset exceeds keys.size(), or an end precedes its begin
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity: O(sum n_i log n_i) on CUDA (sorting networks and merges). On the host, longer
/// segments are radix sorted in O(n_i).
/// Extra memory, host: one copy of the longest segment per thread, except that an oversized
/// segment, which all threads sort together, takes one copy. A bit range additionally takes 2
/// copies of the keys for keys alone, 12 bytes per item for pairs of 4-byte keys and values, and
/// otherwise 8 bytes per item and a copy of keys and values. Keys of 1 or 2 bytes are sorted as
/// integers of 4 bytes, in 4 bytes per item. Extra memory, CUDA: two copies on the
/// device, and about 4 bytes per segment.
/// On the host the sort is always stable, and its result does not depend on the number of threads.
/// Source: Hou, Liu, Wang, Feng: Fast Segmented Sort on GPUs (ICS 2017), section 3.
template <SortKey Key, SegmentOffset Offset>
void segmented_sort(const Context& context, std::span<Key> keys,
                    std::span<const Offset> begin_offsets, std::span<const Offset> end_offsets,
                    const SegmentedSortOptions& options = {}) {
  segsort::sort(context, {keys.data(), key_type_of<Key>(), keys.size(), nullptr, 0,
                          segsort::erase(begin_offsets), segsort::erase(end_offsets), options});
}

/// Sorts keys as above and moves the value of each key with it.
/// \throws Error (usage)  also when values.size() differs from keys.size()
template <SortKey Key, SortValue Value, SegmentOffset Offset>
void segmented_sort(const Context& context, std::span<Key> keys, std::span<Value> values,
                    std::span<const Offset> begin_offsets, std::span<const Offset> end_offsets,
                    const SegmentedSortOptions& options = {}) {
  segsort::Request request{keys.data(),
                           key_type_of<Key>(),
                           keys.size(),
                           values.data(),
                           static_cast<int>(sizeof(Value)),
                           segsort::erase(begin_offsets),
                           segsort::erase(end_offsets),
                           options};
  if (values.size() != keys.size()) request.value_bytes = -1;  // sort() throws on it
  segsort::sort(context, request);
}

}  // namespace sortie
