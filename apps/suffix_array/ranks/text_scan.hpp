// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "apps/suffix_array/host/text/coded_text.hpp"
#include "apps/suffix_array/ranks/packed_text.hpp"

namespace sortie::suffix_array::on_ranks {

/// PrefixRoll over a packed text, of which it unpacks a block at a time.
class TextScan {
 public:
  explicit TextScan(const PackedText& text)
      : text_(text), depth_(text.plan().depth()), roll_(plan_of_codes(text.plan())) {}

  /// As PrefixRoll::for_each(), but a run may be visited in several ranges, and its end is not
  /// given. Extra memory: a block.
  template <class Visit, class VisitRun>
  void for_each(std::uint64_t begin, std::uint64_t end, const Visit& visit,
                const VisitRun& visit_run) const {
    constexpr std::uint64_t unpacked_at_once = 8;
    std::vector<std::uint8_t> symbols(block + depth_ + 1 + unpacked_at_once);
    std::vector<std::uint64_t> separators;
    auto separator = std::ranges::lower_bound(text_.separators(), begin);
    for (; begin < end; begin += block) {
      const std::uint64_t last = std::min(begin + block, end);
      // As many symbols behind the block as the first sort compares.
      const std::uint64_t size = std::min(last + depth_ + 1, text_.size()) - begin;
      text_.stream().unpack(begin, size, symbols.data());
      while (separator != text_.separators().end() && *separator < begin) ++separator;
      separators.clear();
      for (auto other = separator; other != text_.separators().end() && *other < begin + size;
           ++other)
        separators.push_back(*other - begin);
      roll_.for_each(
          TextView{{symbols.data(), size}, separators}, 0, last - begin,
          [=](std::uint64_t position, std::uint64_t bucket, std::uint64_t key) {
            visit(begin + position, bucket, key);
          },
          [=](std::uint64_t from, std::uint64_t to, std::uint64_t run_end) {
            visit_run(begin + from, begin + to, begin + run_end);
          });
    }
  }

 private:
  static constexpr std::uint64_t block = std::uint64_t{1} << 15;

  /// The plan for symbols that are codes, less one.
  static host::PrefixPlan plan_of_codes(host::PrefixPlan plan) {
    for (std::size_t byte = 0; byte < plan.code.size(); ++byte) {
      const std::size_t code = byte + 1;
      plan.code[byte] = static_cast<std::uint16_t>(code < plan.base ? code : 0);
    }
    return plan;
  }

  const PackedText& text_;
  std::uint64_t depth_;
  host::PrefixRoll roll_;
};

}  // namespace sortie::suffix_array::on_ranks
