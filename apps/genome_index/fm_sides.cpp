// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/fm_sides.hpp"

#include "primitives/host/parallel.hpp"

namespace sortie::genomes {
namespace {

constexpr std::uint64_t fm_strings = std::uint64_t{1} << 2 * fm_prefix_letters;

}  // namespace

std::vector<std::uint64_t> count_prefixes(std::span<const std::uint8_t> codes) {
  std::vector<std::uint64_t> sums(fm_strings);
  if (codes.size() < fm_prefix_letters) return sums;
  const std::uint64_t starts = codes.size() - fm_prefix_letters + 1;
  // Tables of 32 bits stay in the cache. Each thread has one; more than 8 take memory for little.
  constexpr std::uint64_t most_of_share = std::uint64_t{1} << 31;
  EqualShares shares = thread_shares(starts);
  shares.count = std::max(std::min<std::uint64_t>(shares.count, 8), starts / most_of_share + 1);
  std::vector<std::vector<std::uint32_t>> counts(shares.count);
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
    counts[share].resize(fm_strings);
    add_prefixes<std::uint32_t>(codes.subspan(begin, end - begin + fm_prefix_letters - 1),
                                fm_prefix_letters, counts[share]);
  });
  for_each_index(0, fm_strings, [&](std::uint64_t i) {
    for (const auto& of_share : counts) sums[i] += of_share[i];
  });
  return sums;
}

std::vector<std::uint64_t> reversed_prefixes(std::span<const std::uint64_t> counts) {
  std::vector<std::uint64_t> reversed(counts.size());
  for_each_index(0, counts.size(), [&](std::uint64_t i) {
    std::uint64_t string = 0;
    for (unsigned j = 0; j < fm_prefix_letters; ++j) string = string << 2 | (i >> 2 * j & 3);
    reversed[string] = counts[i];
  });
  return reversed;
}

void add_prefix_tables(std::span<const std::uint64_t> counts,
                       std::span<const std::uint64_t> short_rows, unsigned letters,
                       std::uint64_t word, std::string& bytes) {
  std::vector<std::uint64_t> shorter(short_rows.begin(), short_rows.end());
  std::ranges::sort(shorter);
  WordBytes table(word);
  table.bytes().reserve((counts.size() + 1 + 2 * letters) * word);
  std::vector<std::uint64_t> pairs;
  auto next = shorter.begin();
  std::uint64_t row = 0;
  for (std::uint64_t string = 0; string <= counts.size(); ++string) {
    const std::uint64_t count = string < counts.size() ? counts[string] : 0;
    const std::uint64_t without = row;
    if (string == counts.size() || count != 0)
      for (; next != shorter.end() && *next == row; ++next) ++row;
    if (row == without) {
      table.add(row);
    } else {
      table.add(~(pairs.size() / 2));
      pairs.insert(pairs.end(), {without, row});
    }
    row += count;
  }
  pairs.resize(2 * letters);
  for (const std::uint64_t number : pairs) table.add(number);
  bytes += table.bytes();
}

}  // namespace sortie::genomes
