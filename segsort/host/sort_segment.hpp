// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

#include "primitives/simd/vector_sort.hpp"
#include "segsort/host/radix_sort.hpp"
#include "segsort/host/short/packed_sort.hpp"
#include "segsort/host/short/short_sort.hpp"

namespace sortie::segsort {

namespace detail {

/// Sorts pairs in place by packed_sort(). \pre 0 < n <= longest_packed, has_vector_sort()
template <std::unsigned_integral UKey, class Value>
void packed_sort_in_place(Items<UKey, Value> items, Items<UKey, Value> scratch, std::size_t n) {
  const UKey differing = differing_bits(items.keys, n);
  if (differing == 0) return;
  copy_items(items, n, scratch);
  packed_sort(scratch.keys, scratch.values, n, differing, items.keys, items.values);
}

}  // namespace detail

/// Sorts one segment of pairs by ascending unsigned key, on the calling thread.
///
/// Stable. Does not allocate and does not throw, so it may be called inside a parallel loop. The
/// run time depends on the number of bits in which the keys differ, so narrowing the keys
/// beforehand gains nothing.
///
/// \param keys, values  n items each, sorted in place
/// \param key_scratch, value_scratch  n items each, overwritten; must not overlap the input
/// \tparam Value  trivially copyable, of any size
///
/// Up to 16 items are sorted by counting ranks. Beyond that, with AVX-512, keys alone are sorted by
/// sort_words() in O(n log n), and pairs up to longest_packed by packed_sort() (32 to 64 KiB of
/// stack). Other processors merge on the stack up to longest_merged items (160 for 32-bit keys,
/// 1024 for 64-bit keys; 36 KiB, plus 1024 values where these are larger than keys). Longer
/// segments are radix sorted in O(n * differing bits / 8).
///
/// One Zen 5 core, random u32 keys and u32 values, nanoseconds per pair (std::sort of pairs in
/// brackets): 2.4 (7.9) at 16 items, 4.5 (18) at 64, 5.6 (24) at 256, 4.7 (33) at 2048, 8.5 (66) at
/// 2^24.
template <std::unsigned_integral UKey, class Value>
void sort_segment(UKey* keys, Value* values, std::size_t n, UKey* key_scratch,
                  Value* value_scratch) {
  const Items<UKey, Value> items{keys, values};
  const Items<UKey, Value> scratch{key_scratch, value_scratch};
  if (n <= detail::rank_block_size)
    return detail::with_size<detail::rank_block_size>(
        n, [&](auto size) { detail::rank_sort<size()>(keys, values); });
  if (has_vector_sort()) {
    if constexpr (!has_values<Value>) {
      return sort_words(keys, n);
    } else if (n <= detail::longest_packed) {
      return detail::packed_sort_in_place(items, scratch, n);
    }
  }
  if (n <= detail::longest_merged<UKey>) {
    detail::merge_sort_segment(items, n);
  } else {
    detail::radix_sort(items, scratch, n);
  }
}

/// Sorts one segment of keys, as above. `key_scratch` holds n items.
template <std::unsigned_integral UKey>
void sort_segment(UKey* keys, std::size_t n, UKey* key_scratch) {
  sort_segment<UKey, NoValue>(keys, nullptr, n, key_scratch, nullptr);
}

}  // namespace sortie::segsort
