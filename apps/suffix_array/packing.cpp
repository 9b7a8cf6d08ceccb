#include "sortie/apps/suffix_array/packing.hpp"

#include <algorithm>
#include <bit>

namespace sortie::suffix_array {

PackingPlan plan_packing(const std::array<bool, 256>& occurs) {
  PackingPlan plan;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (occurs[byte]) plan.code[byte] = static_cast<std::uint16_t>(++plan.sigma);
  }
  plan.base = static_cast<std::uint64_t>(std::max(plan.sigma + 1, 2));
  plan.symbols = 1;
  plan.top_weight = 1;
  while (plan.top_weight <= (~std::uint64_t{0} / plan.base) / plan.base) {
    plan.top_weight *= plan.base;
    ++plan.symbols;
  }
  plan.word_bits = static_cast<int>(std::bit_width(plan.top_weight * plan.base - 1));
  return plan;
}

PackingPlan plan_packing(const TextView& text) {
  // Separators may carry a byte that is a letter elsewhere, so letters are counted, not marked.
  std::array<std::uint64_t, 256> counts{};
  for (const std::uint8_t symbol : text.symbols) ++counts[symbol];
  for (const std::uint64_t separator : text.separators) --counts[text.symbols[separator]];
  std::array<bool, 256> occurs{};
  std::transform(counts.begin(), counts.end(), occurs.begin(),
                 [](std::uint64_t count) { return count != 0; });
  return plan_packing(occurs);
}

std::uint64_t pack_word(const PackingPlan& plan, const TextView& text, std::uint64_t position) {
  const auto next = std::lower_bound(text.separators.begin(), text.separators.end(), position);
  const std::uint64_t end = next == text.separators.end() ? text.size() : *next;
  std::uint64_t word = 0;
  for (int i = 0; i < plan.symbols; ++i, ++position) {
    word = word * plan.base + (position < end ? plan.code[text.symbols[position]] : 0);
  }
  return word;
}

}  // namespace sortie::suffix_array
