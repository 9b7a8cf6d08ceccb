#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/segsort/host/radix_sort.hpp"

namespace sortie::segsort {

/// Splits one long segment into segments that hold one value of a digit each, by all threads.
///
/// Every thread owns one part of the segment. It counts the digit values of its part; a scan over
/// (digit value, part) tells where the items of each part go; then every thread moves its part. The
/// order of parts within a digit value keeps the split stable, and so the same for any number of
/// threads.
template <std::unsigned_integral UKey, class Value>
class GiantSegment {
 public:
  GiantSegment(UKey* keys, Value* values, std::size_t n, int threads)
      : keys_(keys), values_(values), n_(n), parts_(static_cast<std::size_t>(threads)) {}

  /// Calls body(first, count) for each part, in parallel.
  template <class Body>
  void for_parts(Body body) const {
    for_each_part([&](std::size_t part) { body(begin(part), begin(part + 1) - begin(part)); });
  }

  /// Brings the items in order of the highest digit in which they differ.
  /// \param key_scratch, value_scratch  as many items as the segment has
  /// \return the end of each digit value's items; empty when all keys are equal
  [[nodiscard]] std::vector<std::uint64_t> split(UKey* key_scratch, Value* value_scratch) {
    const UKey differing = all_differing_bits();
    if (differing == 0) return {};
    const detail::Digit digit = detail::highest_digit(differing);
    std::vector<detail::DigitStarts> starts(parts_);
    for_each_part([&](std::size_t part) {
      starts[part].fill(0);
      detail::count_digits(keys_ + begin(part), size(part), digit, starts[part]);
    });
    std::vector<std::uint64_t> ends = scan(starts);
    for_each_part([&](std::size_t part) {
      detail::scatter(keys_ + begin(part), value_at(values_, begin(part)), size(part), digit,
                      starts[part], key_scratch, value_scratch);
    });
    for_each_part([&](std::size_t part) {
      detail::copy_items(key_scratch + begin(part), value_at(value_scratch, begin(part)),
                         size(part), keys_ + begin(part), value_at(values_, begin(part)));
    });
    return ends;
  }

 private:
  [[nodiscard]] std::size_t begin(std::size_t part) const {
    return part * (n_ / parts_) + part * (n_ % parts_) / parts_;
  }
  [[nodiscard]] std::size_t size(std::size_t part) const { return begin(part + 1) - begin(part); }

  [[nodiscard]] static Value* value_at(Value* values, std::size_t i) {
    return values + (detail::kHasValues<Value> ? i : 0);
  }

  template <class Body>
  void for_each_part(Body body) const {
    Kokkos::parallel_for("segsort giant",
                         Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, parts_),
                         [&](std::size_t part) { body(part); });
  }

  [[nodiscard]] UKey all_differing_bits() const {
    std::vector<UKey> differing(parts_);
    for_each_part([&](std::size_t part) {
      differing[part] = static_cast<UKey>(detail::differing_bits(keys_ + begin(part), size(part)) |
                                          (keys_[begin(part)] ^ keys_[0]));
    });
    UKey all = 0;
    for (const UKey part : differing) all |= part;
    return all;
  }

  /// Turns counts[part][digit value] into starts; returns the end of each digit value.
  [[nodiscard]] std::vector<std::uint64_t> scan(std::vector<detail::DigitStarts>& counts) const {
    std::vector<std::uint64_t> ends;
    ends.reserve(detail::kDigitValues);
    std::size_t sum = 0;
    for (std::size_t value = 0; value < detail::kDigitValues; ++value) {
      for (detail::DigitStarts& part : counts) sum += std::exchange(part[value], sum);
      ends.push_back(sum);
    }
    return ends;
  }

  UKey* keys_;
  Value* values_;
  std::size_t n_;
  std::size_t parts_;
};

}  // namespace sortie::segsort
