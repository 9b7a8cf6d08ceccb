// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/text/prefix_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {
namespace {

/// A bucket and its scratch just fit in an L1 cache of 48 KiB: sorting 2800 elements of DNA takes 6
/// ns each, 4500 take 11, 17 000 (chrX) 14. The write positions of all buckets, a cache line each,
/// fit in L2.
constexpr double wanted_bucket = 3072;
constexpr std::uint64_t most_buckets = std::uint64_t{1} << 17;

}  // namespace

LetterCounts count_letters(const TextView& text) {
  const EqualShares chunks = thread_shares(text.size());
  // Eight counters for each byte value, so that a run of one letter is not a chain of dependent
  // additions.
  constexpr std::uint64_t ways = 8;
  std::vector<std::array<LetterCounts, ways>> counted(chunks.count);
  for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t begin, std::uint64_t end) {
    std::array<LetterCounts, ways>& counts = counted[chunk];
    std::uint64_t i = begin;
    for (; i + ways <= end; i += ways) {
      std::uint64_t symbols;
      std::memcpy(&symbols, text.symbols.data() + i, sizeof(symbols));
      for (std::uint64_t way = 0; way < ways; ++way) ++counts[way][symbols >> (8 * way) & 0xFF];
    }
    for (; i < end; ++i) ++counts[0][text.symbols[i]];
  });
  LetterCounts sum{};
  for (const auto& chunk : counted) {
    for (const LetterCounts& way : chunk) {
      for (std::size_t byte = 0; byte < sum.size(); ++byte) sum[byte] += way[byte];
    }
  }
  for (const std::uint64_t separator : text.separators) --sum[text.symbols[separator]];
  return sum;
}

PrefixPlan plan_prefixes(const LetterCounts& counts, std::uint64_t size) {
  PrefixPlan plan;
  const double letters_in_all = std::accumulate(counts.begin(), counts.end(), 0.0);
  double entropy = 0;
  for (std::size_t byte = 0; byte < counts.size(); ++byte) {
    if (counts[byte] == 0) continue;
    plan.code[byte] = static_cast<std::uint16_t>(++plan.sigma);
    const double share = static_cast<double>(counts[byte]) / letters_in_all;
    plan.share[plan.code[byte]] = share;
    entropy -= share * std::log2(share);
  }
  plan.base = static_cast<std::uint64_t>(std::max(plan.sigma + 1, 2));
  plan.base_test = DivisibilityTest(plan.base);
  plan.position_bits = static_cast<int>(std::bit_width(size));

  // The number of equally frequent letters that would distribute suffixes as evenly.
  const double letters = std::exp2(entropy);
  // Keeps the table of buckets smaller than the text.
  const std::uint64_t limit = std::min(most_buckets, size / 8) / plan.base;
  plan.buckets = plan.base;
  for (double bucket = static_cast<double>(size) / letters;
       bucket > wanted_bucket && plan.buckets <= limit; bucket /= letters) {
    plan.buckets *= plan.base;
    ++plan.bucket_symbols;
  }
  const std::uint64_t greatest_key = ~std::uint64_t{0} >> plan.position_bits;
  plan.key_end = plan.base;
  while (plan.key_end <= greatest_key / plan.base) {
    plan.key_end *= plan.base;
    ++plan.key_symbols;
  }
  return plan;
}

}  // namespace sortie::suffix_array::host
