// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/window_sort.hpp"

#include <algorithm>
#include <bit>

namespace sortie::genomes {
namespace {

constexpr std::uint64_t key_letters = 32;

}  // namespace

std::span<const std::uint16_t> WindowSorter::sort(std::span<const std::uint8_t> codes) {
  sort_by_keys(codes);
  find_groups(codes.size());
  for (std::uint64_t agreed = key_letters; !groups_.empty(); agreed *= 2) double_prefixes(agreed);
  return suffixes_;
}

/// Places elements by the leading bits of their keys, as many as there are about letters, and sorts
/// those that agree in them.
void WindowSorter::sort_by_keys(std::span<const std::uint8_t> codes) {
  const std::uint64_t n = codes.size();
  const int shift = 64 - std::clamp(static_cast<int>(std::bit_width(n)), 4, 16);
  keys_.resize(n);
  places_.assign((std::uint64_t{1} << (64 - shift)) + 1, 0);
  std::uint64_t key = ~std::uint64_t{0};
  for (std::uint64_t i = n; i-- > 0;) {
    key = key >> 2 | static_cast<std::uint64_t>(codes[i]) << 62;
    keys_[i] = key;
    ++places_[(key >> shift) + 1];
  }
  for (std::size_t i = 1; i < places_.size(); ++i) places_[i] += places_[i - 1];
  elements_.resize(n);
  for (std::uint64_t i = 0; i < n; ++i)
    elements_[places_[keys_[i] >> shift]++] = {keys_[i], static_cast<std::uint16_t>(i)};
  // Elements are placed by position. Those of equal keys have to be: of two suffixes of which one
  // ends within its key, the one that ends first is greater.
  const auto is_less = [](const Element& a, const Element& b) {
    return a.key != b.key ? a.key < b.key : a.position < b.position;
  };
  for (std::uint64_t begin = 0, end = 0; begin < n; begin = end) {
    end = places_[elements_[begin].key >> shift];
    if (end - begin > 1)
      std::sort(elements_.begin() + static_cast<std::ptrdiff_t>(begin),
                elements_.begin() + static_cast<std::ptrdiff_t>(end), is_less);
  }
}

/// Finds the groups of suffixes that agree in all letters of their keys.
void WindowSorter::find_groups(std::uint64_t letters) {
  suffixes_.resize(letters + 1);
  ranks_.resize(letters + 1);
  groups_.clear();
  std::uint64_t first = 0;
  const auto has_whole_key = [&](std::uint64_t row) {
    return elements_[row].position + key_letters <= letters;
  };
  for (std::uint64_t row = 0; row < letters; ++row) {
    if (row == 0 || elements_[row].key != elements_[row - 1].key || !has_whole_key(row))
      first = row;
    suffixes_[row] = elements_[row].position;
    ranks_[suffixes_[row]] = static_cast<std::uint16_t>(first);
    if (first == row) continue;
    if (first + 1 == row) groups_.push_back({static_cast<std::uint32_t>(first), 0});
    groups_.back().end = static_cast<std::uint32_t>(row + 1);
  }
  suffixes_[letters] = static_cast<std::uint16_t>(letters);
  ranks_[letters] = static_cast<std::uint16_t>(letters);
}

/// Sorts the suffixes of each group, which agree in `agreed` letters, by the ranks of the suffixes
/// that follow these letters. A rank is the first row of the suffix's group.
void WindowSorter::double_prefixes(std::uint64_t agreed) {
  refined_.clear();
  for (const Group& group : groups_) {
    members_.clear();
    for (std::uint32_t row = group.begin; row < group.end; ++row)
      members_.push_back(static_cast<std::uint32_t>(ranks_[suffixes_[row] + agreed]) << 16 |
                         suffixes_[row]);
    std::ranges::sort(members_);
    std::uint32_t first = group.begin;
    for (std::uint32_t row = group.begin; row < group.end; ++row) {
      const std::uint32_t member = members_[row - group.begin];
      if (row > group.begin && member >> 16 != members_[row - group.begin - 1] >> 16) first = row;
      suffixes_[row] = static_cast<std::uint16_t>(member);
      ranks_[suffixes_[row]] = static_cast<std::uint16_t>(first);
      if (first == row) continue;
      if (first + 1 == row) refined_.push_back({first, 0});
      refined_.back().end = row + 1;
    }
  }
  groups_.swap(refined_);
}

}  // namespace sortie::genomes
