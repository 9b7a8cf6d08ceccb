// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/key_types.hpp"

namespace sortie::bench {

/// A shape of segments: segment i is the items offsets[i] .. offsets[i + 1].
struct SegmentCase {
  std::string name;
  std::vector<std::uint64_t> offsets;  ///< one more than there are segments; ends with the items

  [[nodiscard]] std::uint64_t items() const { return offsets.back(); }
  [[nodiscard]] std::uint64_t segments() const { return offsets.size() - 1; }
};

/// The parameters of a case. The segments of a shape are the same on every backend.
struct SegmentShape {
  enum class Kind : std::uint8_t {
    equal,      ///< all of length `length`, except for the last
    power_law,  ///< P(length) ~ length^-exponent for lengths 1..longest
    skew,       ///< segments of 1..64 items, and `huge_segments` segments of 1/64 of all items
  };
  Kind kind = Kind::equal;
  std::uint64_t length = 0;
  double exponent = 0;
  std::uint64_t longest = 0;
  std::uint64_t huge_segments = 0;

  /// No segment among `items` items is longer.
  [[nodiscard]] std::uint64_t longest_of(std::uint64_t items) const;
};

/// The shape with the given name: one of segment_case_names(), or "length N" or "power law a=X max
/// N" with other numbers. \throws Error (usage) unknown name
[[nodiscard]] SegmentShape parse_segment_case(std::string_view name);

/// Prefix sums of the weights length^-exponent for lengths 1..longest. A length is drawn as one
/// plus the number of sums that do not exceed a uniform number times the last sum.
[[nodiscard]] std::vector<double> cumulative_power_law(const SegmentShape& shape);

/// Names of all published cases, in the order of the published tables: equal lengths 1, 2, 4, ...
/// 65536 and 2^20, one segment, power laws, two skews.
[[nodiscard]] std::vector<std::string> segment_case_names();

/// Generates the case of this name with `items` items in total; the last segment may be shorter
/// than the others. \throws Error (usage) as parse_segment_case()
[[nodiscard]] SegmentCase make_segment_case(const std::string& name, std::uint64_t items,
                                            std::uint64_t seed);
/// Generates the case of a shape.
[[nodiscard]] SegmentCase make_segment_case(std::string name, const SegmentShape& shape,
                                            std::uint64_t items, std::uint64_t seed);

/// `items` random keys, as bytes: integers uniform over all values, floating-point keys uniform in
/// [-1, 1).
[[nodiscard]] std::vector<std::byte> random_keys(KeyType type, std::uint64_t items,
                                                 std::uint64_t seed);

/// Checks that index_values() can represent the indices of all items. \throws Error (usage)
void require_countable(int value_bytes, std::uint64_t items);

/// 0, 1, 2, ... as values of `value_bytes` (4 or 8) bytes each: the original index of the key.
/// \throws Error (usage) as require_countable()
[[nodiscard]] std::vector<std::byte> index_values(int value_bytes, std::uint64_t items);

/// Checks a result: keys ascend in every segment, and the values are a permutation of the indices
/// of their segment under which each key has its original value (with value_bytes 0: the keys of
/// each segment are the same multiset). O(items), or O(items log) without values.
/// \param input   the keys before sorting, `items` of them
/// \param keys    the keys after sorting
/// \param values  made by index_values() and moved with the keys; null when value_bytes is 0
[[nodiscard]] bool is_sorted_result(const SegmentCase& segments, KeyType type, const void* input,
                                    const void* keys, const void* values, int value_bytes);

}  // namespace sortie::bench
