// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/ranks/row_division.hpp"

#include <algorithm>

#include "primitives/host/parallel.hpp"

namespace sortie::cluster {
namespace {

/// First rows of parts of at most `most` each, taken greedily; no group is heavier.
std::vector<std::int64_t> fill_parts(std::span<const RowGroup> groups, std::uint64_t most) {
  std::vector<std::int64_t> first_rows{0};
  std::uint64_t weight = 0;
  for (const RowGroup& group : groups) {
    if (weight + group.weight > most) {
      first_rows.push_back(group.first_row);
      weight = 0;
    }
    weight += group.weight;
  }
  return first_rows;
}

}  // namespace

std::vector<RowGroup> group_rows(std::int64_t first_row, std::span<const std::uint64_t> weights,
                                 std::uint64_t most) {
  std::vector<RowGroup> groups;
  for (const std::uint64_t weight : weights) {
    if (groups.empty() || groups.back().weight + weight > most) groups.push_back({first_row, 0});
    groups.back().weight += weight;
    ++first_row;
  }
  return groups;
}

std::vector<std::int64_t> equal_rows(std::int64_t rows, int parts) {
  const EqualShares shares{static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(parts)};
  std::vector<std::int64_t> first_rows;
  for (std::uint64_t part = 0; part <= shares.count; ++part)
    first_rows.push_back(static_cast<std::int64_t>(shares.begin(part)));
  return first_rows;
}

std::vector<std::int64_t> divide_rows(std::span<const RowGroup> groups, std::int64_t rows,
                                      int parts) {
  std::uint64_t total = 0;
  std::uint64_t heaviest = 0;
  for (const RowGroup& group : groups) {
    total += group.weight;
    heaviest = std::max(heaviest, group.weight);
  }
  if (total == 0) return equal_rows(rows, parts);
  const auto count = static_cast<std::uint64_t>(parts);
  std::uint64_t least = std::max(heaviest, (total + count - 1) / count);
  std::uint64_t most = total;
  while (least < most) {
    const std::uint64_t middle = least + (most - least) / 2;
    if (fill_parts(groups, middle).size() <= count) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  std::vector<std::int64_t> first_rows = fill_parts(groups, least);
  first_rows.resize(count + 1, rows);
  return first_rows;
}

}  // namespace sortie::cluster
