// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sortie/context.hpp"
#include "sortie/export.hpp"
#include "sortie/key_types.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie {

struct TopKOptions {
  Order order = Order::descending;  ///< descending: the greatest keys; ascending: the least
  /// Results of a segment in this order, equal keys by position. Otherwise their order is
  /// unspecified; which items are selected does not depend on it.
  bool sorted = true;
};

namespace segsort {

/// One selection on host memory, type-erased. Each backend implements it.
struct TopKRequest {
  const void* keys = nullptr;
  KeyType key_type = KeyType::u32;
  std::uint64_t num_items = 0;
  OffsetArray begin_offsets;
  OffsetArray end_offsets;
  std::uint64_t k = 0;
  std::uint64_t* positions = nullptr;
  std::uint64_t num_positions = 0;
  TopKOptions options;
};

/// Checks a request, selects the backend and runs it.
SORTIE_API void select(const Context& context, const TopKRequest& request);

}  // namespace segsort

/// Positions of the k greatest or least keys of each of many segments of one array, of any SortKey.
///
/// The results of segment i are positions[i * k], ..., as positions in `keys`. A segment of fewer
/// than k items gives all of them; the places that remain are not written. Among equal keys, those
/// at the lowest positions are selected, so the selection is that of a stable sort. Floating-point
/// keys are ordered by IEEE 754 totalOrder (see KeyKind): +NaN is the greatest key.
///
/// \param context        backend, device, threads, memory budget
/// \param begin_offsets  first item of each segment, as for segmented_sort()
/// \param end_offsets    one past the last item of each segment; same size as begin_offsets
/// \param k              results per segment, from 0; may exceed the length of a segment
/// \param positions      k for each segment
/// \throws Error (usage)  begin and end offsets differ in number, or positions.size() is not k for
///                        each segment
/// \throws Error (input)  an offset exceeds keys.size(), or an end precedes its begin
/// \throws Error (out_of_memory, unavailable, device)
/// Complexity, host: O(n_i + k log k) expected for a segment of n_i items in any order. Segments of
/// more than 2^18 items are divided among the threads. If k is at least half of the mean length, whole
/// segments are sorted by segmented_sort(). CUDA: see DeviceTopK.
/// Extra memory, host: two buffers for each thread, of 16 bytes for each of max(2 k, k + 24) items,
/// at most the items of the longest segment; if whole segments are sorted, a copy of the keys, 8
/// bytes for each, and that of segmented_sort(). CUDA: keys, offsets and positions on the device
/// and the temporary storage of DeviceTopK.
/// The result does not depend on the number of threads.
/// Source: segsort/README.md; a buffer is reduced by introselect (Musser 1997, std::nth_element).
template <SortKey Key, SegmentOffset Offset>
void top_k(const Context& context, std::span<const Key> keys, std::span<const Offset> begin_offsets,
           std::span<const Offset> end_offsets, std::uint64_t k, std::span<std::uint64_t> positions,
           const TopKOptions& options = {}) {
  segsort::select(context,
                  {keys.data(), key_type_of<Key>(), keys.size(), segsort::erase(begin_offsets),
                   segsort::erase(end_offsets), k, positions.data(), positions.size(), options});
}

/// The same for one array, which is one segment.
/// \param positions  k numbers
template <SortKey Key>
void top_k(const Context& context, std::span<const Key> keys, std::uint64_t k,
           std::span<std::uint64_t> positions, const TopKOptions& options = {}) {
  const std::uint64_t begin = 0;
  const std::uint64_t end = keys.size();
  top_k(context, keys, std::span(&begin, 1), std::span(&end, 1), k, positions, options);
}

}  // namespace sortie
