#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sortie/apps/suffix_array/host/element_sort.hpp"
#include "sortie/apps/suffix_array/host/prefix_plan.hpp"

namespace sortie::suffix_array::host {

/// Leading digits of the keys of the first sort that spread them evenly.
///
/// Keys are numbers in base sigma + 1, in which the end of a record and rare letters hold as much
/// room as others: of 1024 values of leading bits, keys of DNA with N and ends use a quarter. So
/// the leading symbols are looked up in a table of what share of all keys is smaller, if symbols
/// were drawn by their frequencies: in order, and filled evenly.
class KeyDigits {
 public:
  /// Counters of 32 KiB. With 2^11 digits chrX, of 17 000 elements a bucket, takes 4 to 9 % longer.
  static constexpr int most_bits = 13;
  static constexpr std::uint32_t most_digits = 1U << most_bits;

  explicit KeyDigits(const PrefixPlan& plan) {
    // As many symbols as a table in the L1 cache has room for.
    constexpr std::uint64_t most_entries = std::uint64_t{1} << 14;
    std::uint64_t entries = plan.base;
    int symbols = 1;
    while (symbols < plan.key_symbols && entries * plan.base <= most_entries) {
      entries *= plan.base;
      ++symbols;
    }
    // Multiplying by it and keeping the upper half of the product divides an element by what one
    // entry spans; a last bit lost moves where entries begin, the same way for all elements.
    std::uint64_t entry_keys = 1;
    for (int i = symbols; i < plan.key_symbols; ++i) entry_keys *= plan.base;
    // An entry of one element would make this 2^64.
    const DoubleWord span = static_cast<DoubleWord>(entry_keys) << plan.position_bits;
    factor_ = static_cast<std::uint64_t>((static_cast<DoubleWord>(1) << 64) / span);
    table_.reserve(entries);
    fill(plan, symbols, 0.0, 1.0);
  }

  [[nodiscard]] int bits() const { return most_bits; }

  /// The first `bits` bits of the digit of an element.
  [[nodiscard]] std::uint32_t of(std::uint64_t element, int bits) const {
    const auto entry =
        static_cast<std::uint64_t>((static_cast<DoubleWord>(element) * factor_) >> 64);
    return static_cast<std::uint32_t>(table_[entry]) >> (most_bits - bits);
  }

 private:
  /// The entries of all keys that begin with the same symbols, `smaller` of all being below them
  /// and `share` among them.
  void fill(const PrefixPlan& plan, int symbols, double smaller, double share) {
    if (symbols == 0) {
      const auto digit =
          static_cast<std::uint16_t>(std::min<double>(smaller * most_digits, most_digits - 1));
      // Sums that should be equal may differ in their last bits; digits must ascend all the same.
      table_.push_back(table_.empty() ? digit : std::max(table_.back(), digit));
      return;
    }
    for (std::uint64_t code = 0; code < plan.base; ++code) {
      const double of_code = share * plan.share[code];
      fill(plan, symbols - 1, smaller, of_code);
      smaller += of_code;
    }
  }

  std::uint64_t factor_;
  std::vector<std::uint16_t> table_;
};

}  // namespace sortie::suffix_array::host
