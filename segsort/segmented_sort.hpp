#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sortie/core/context.hpp"
#include "sortie/segsort/key_types.hpp"

namespace sortie {

/// How to sort each segment.
struct SegmentedSortOptions {
  Order order = Order::ascending;
  bool stable = false;  ///< Equal keys keep their order.
  int begin_bit = 0;    ///< Lowest bit compared; other than 0 only for unsigned keys.
  int end_bit = -1;     ///< One past the highest bit compared; -1: all bits. Unsigned keys only.
};

namespace segsort {

/// Offsets of any supported integer type, type erased.
struct OffsetArray {
  const void* data = nullptr;
  int bytes = 8;           ///< 4 or 8 bytes an offset
  std::uint64_t size = 0;  ///< number of offsets

  [[nodiscard]] std::uint64_t operator[](std::uint64_t i) const {
    return bytes == 4 ? static_cast<const std::uint32_t*>(data)[i]
                      : static_cast<const std::uint64_t*>(data)[i];
  }
};

/// One segmented sort on host memory, in place, type erased: what the backends implement.
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

/// Checks a request, chooses the backend and runs it.
void sort(const Context& context, const Request& request);

/// The backends. `request` has been checked by sort(); its offsets are checked by sort() for CUDA,
/// and by sort_on_host() before it changes anything.
void sort_on_host(const Context& context, const Request& request);
void sort_on_cuda(const Context& context, const Request& request);

template <SegmentOffset Offset>
[[nodiscard]] OffsetArray erase(std::span<const Offset> offsets) {
  return {offsets.data(), static_cast<int>(sizeof(Offset)), offsets.size()};
}

}  // namespace segsort

/// Sorts the keys of many independent segments of one array, in place.
///
/// Segment i is keys[begin_offsets[i] .. end_offsets[i]); segments may be empty, may leave gaps
/// between them (items in gaps keep their place) and may stand in any order, but must not overlap.
///
/// \param context        backend, device, stream, threads, memory budget
/// \param keys           all keys; on return each segment is in order
/// \param begin_offsets  first item of each segment
/// \param end_offsets    one past the last item of each segment; same size as begin_offsets
/// \param options        direction, stability, bit range
/// \throws Error (usage)  offsets of different sizes, bit range outside the key or on a signed or
///                        floating-point key
/// \throws Error (input)  an offset beyond keys.size(), or an end before its begin
/// \throws Error (out_of_memory, unavailable, device)
///
/// Complexity: O(sum n_i log n_i) on CUDA (sorting and merge networks), and on the host, where
/// longer segments are radix sorted in O(n_i). Extra memory: host, one copy of the longest segment
/// for each thread (of a giant that all threads share: one copy), and with a bit range 2 copies of
/// keys alone, of pairs of 4 bytes 12 bytes an item, else 8 and a copy of both; CUDA, two copies on
/// the device, about 4 bytes a segment. On the host always stable, alike for any number of threads.
/// Source: Hou, Liu, Wang, Feng: Fast Segmented Sort on GPUs (ICS 2017), section 3.
template <SortKey Key, SegmentOffset Offset>
void segmented_sort(const Context& context, std::span<Key> keys,
                    std::span<const Offset> begin_offsets, std::span<const Offset> end_offsets,
                    const SegmentedSortOptions& options = {}) {
  segsort::sort(context, {keys.data(), key_type_of<Key>(), keys.size(), nullptr, 0,
                          segsort::erase(begin_offsets), segsort::erase(end_offsets), options});
}

/// As above, with a value that travels with each key.
/// \throws Error (usage) also when values.size() differs from keys.size()
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
  if (values.size() != keys.size()) request.value_bytes = -1;  // refused by sort()
  segsort::sort(context, request);
}

}  // namespace sortie
