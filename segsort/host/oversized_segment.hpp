// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
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
  OversizedSegment(UKey* keys, Value* values, EqualShares parts)
      : keys_(keys), values_(values), parts_(parts) {}

  /// Partitions the items by the highest digit in which any keys differ.
  /// \param key_scratch, value_scratch  as many items as the segment has
  /// \return the end of the items of each digit value; empty if all keys are equal
  [[nodiscard]] std::vector<std::uint64_t> split(UKey* key_scratch, Value* value_scratch) const {
    const UKey differing = differing_bits();
    if (differing == 0) return {};
    const detail::Digit digit = detail::highest_digit(differing);
    std::vector<detail::DigitStarts> starts(parts_.count);
    for_each_task(parts_.count, [&](std::uint64_t part) {
      starts[part].fill(0);
      detail::count_digits(keys_ + parts_.begin(part), parts_.size(part), digit, starts[part]);
    });
    std::vector<std::uint64_t> ends = counts_to_starts(starts);
    for_each_task(parts_.count, [&](std::uint64_t part) {
      const std::uint64_t first = parts_.begin(part);
      detail::scatter_far(keys_ + first, value_at(values_, first), parts_.size(part), digit,
                          starts[part], key_scratch, value_scratch);
    });
    for_each_share(parts_, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
      detail::copy_items(key_scratch + first, value_at(value_scratch, first), end - first,
                         keys_ + first, value_at(values_, first));
    });
    return ends;
  }

 private:
  [[nodiscard]] static Value* value_at(Value* values, std::uint64_t i) {
    return values + (has_values<Value> ? i : 0);
  }

  /// Bits in which the keys differ.
  [[nodiscard]] UKey differing_bits() const {
    std::vector<UKey> differing(parts_.count);
    for_each_task(parts_.count, [&](std::uint64_t part) {
      const UKey* const keys = keys_ + parts_.begin(part);
      differing[part] = detail::differing_bits(keys, parts_.size(part)) | (keys[0] ^ keys_[0]);
    });
    UKey all = 0;
    for (const UKey bits : differing) all |= bits;
    return all;
  }

  /// Turns counts[part][digit value] into starts; returns the end of each digit value.
  [[nodiscard]] static std::vector<std::uint64_t> counts_to_starts(
      std::vector<detail::DigitStarts>& counts) {
    std::vector<std::uint64_t> ends;
    ends.reserve(detail::digit_values);
    std::uint64_t sum = 0;
    for (std::size_t value = 0; value < detail::digit_values; ++value) {
      for (detail::DigitStarts& part : counts) sum += std::exchange(part[value], sum);
      ends.push_back(sum);
    }
    return ends;
  }

  UKey* keys_;
  Value* values_;
  EqualShares parts_;
};

}  // namespace sortie::segsort
