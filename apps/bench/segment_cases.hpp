#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sortie/segsort/key_types.hpp"

namespace sortie::bench {

/// A shape of segments: segment i is the items offsets[i] .. offsets[i + 1].
struct SegmentCase {
  std::string name;
  std::vector<std::uint64_t> offsets;  ///< one more than there are segments; ends with the items

  [[nodiscard]] std::uint64_t items() const { return offsets.back(); }
  [[nodiscard]] std::uint64_t segments() const { return offsets.size() - 1; }
};

/// Names of all cases, in the order of the published tables: equal lengths 1, 2, 4, ... 65536 and
/// 2^20, one segment, power laws, two skews.
[[nodiscard]] std::vector<std::string> segment_case_names();

/// Makes the case of that name with `items` items in all; the last segment may be shorter than the
/// rest. \throws Error (usage) unknown name
[[nodiscard]] SegmentCase make_segment_case(const std::string& name, std::uint64_t items,
                                            std::uint64_t seed);

/// `items` random keys of a type, as bytes: integers uniform over all values, floating-point keys
/// uniform in [-1, 1).
[[nodiscard]] std::vector<std::byte> random_keys(KeyType type, std::uint64_t items,
                                                 std::uint64_t seed);

/// 0, 1, 2, ... as values of `value_bytes` (4 or 8) bytes each: a value tells where its key was.
/// \throws Error (usage) more items than 4 bytes can count
[[nodiscard]] std::vector<std::byte> index_values(int value_bytes, std::uint64_t items);

/// Checks a result: keys ascend in every segment, and the values are a permutation of their segment
/// that brings every key with its own value (with value_bytes 0: the keys of each segment are the
/// same multiset). O(items), or O(items log) without values.
/// \param input   the keys before sorting, `items` of them
/// \param keys    the keys after sorting
/// \param values  made by index_values() and moved with the keys; null when value_bytes is 0
[[nodiscard]] bool is_sorted_result(const SegmentCase& segments, KeyType type, const void* input,
                                    const void* keys, const void* values, int value_bytes);

}  // namespace sortie::bench
