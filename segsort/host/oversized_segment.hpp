// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "primitives/host/parallel.hpp"
#include "segsort/host/radix_sort.hpp"

namespace sortie::segsort {

/// Splits one long segment into segments of equal digit value, with all threads.
///
/// Each thread owns one part of the segment and counts the digit values of its part. A scan over
/// (digit value, part) yields the destination of the items of each part; then each thread moves its
/// part. Within a digit value the parts keep their order, so the split is stable and its result
/// does not depend on the number of threads.
template <std::unsigned_integral UKey, class Value>
class OversizedSegment {
 public:
  using Range = Items<UKey, Value>;

  OversizedSegment(Range items, EqualShares parts) : items_(items), parts_(parts) {}

  /// Partitions the items by the highest digit in which any keys differ.
  /// \param scratch  as many items as the segment has
  /// \return the end of the items of each digit value; empty if all keys are equal
  [[nodiscard]] std::vector<std::uint64_t> split(Range scratch) const {
    const UKey differing = differing_bits();
    if (differing == 0) return {};
    const Digit digit = Digit::highest(differing, detail::digit_bits);
    std::vector<std::uint64_t> starts(parts_.count * detail::digit_values);
    const auto starts_of = [&](std::uint64_t part) {
      return starts.data() + part * detail::digit_values;
    };
    for_each_share(parts_, [&](std::uint64_t part, std::uint64_t first, std::uint64_t end) {
      count_keys(items_.keys + first, end - first, digit, starts_of(part));
    });
    counts_to_starts(starts.data(), detail::digit_values, parts_.count);
    for_each_share(parts_, [&](std::uint64_t part, std::uint64_t first, std::uint64_t end) {
      detail::scatter_far(items_.from(first), end - first, starts_of(part), digit, scratch);
    });
    for_each_share(parts_, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
      copy_items(scratch.from(first), end - first, items_.from(first));
    });
    return {starts.end() - detail::digit_values, starts.end()};
  }

 private:
  /// Bits in which the keys differ.
  [[nodiscard]] UKey differing_bits() const {
    std::vector<UKey> differing(parts_.count);
    for_each_share(parts_, [&](std::uint64_t part, std::uint64_t first, std::uint64_t end) {
      differing[part] = sortie::differing_bits(items_.keys + first, end - first, items_.keys[0]);
    });
    UKey all = 0;
    for (const UKey bits : differing) all |= bits;
    return all;
  }

  Range items_;
  EqualShares parts_;
};

}  // namespace sortie::segsort
