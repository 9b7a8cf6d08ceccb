// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// How rows are divided into consecutive blocks. Pure arithmetic: all ranks compute the same.
namespace sortie::cluster {

/// Consecutive rows that stay together, from `first_row` to that of the next group.
struct RowGroup {
  std::int64_t first_row = 0;
  std::uint64_t weight = 0;
};

/// Groups per rank that weights are divided by: the largest share is then at most 2/256 of the mean
/// above the least one.
inline constexpr std::uint64_t groups_per_rank = 256;

/// Joins rows to groups of at most `most` each; a row of more weight is a group of its own.
/// \param first_row  number of the first row
[[nodiscard]] std::vector<RowGroup> group_rows(std::int64_t first_row,
                                               std::span<const std::uint64_t> weights,
                                               std::uint64_t most);

/// Divides groups into `parts` of consecutive ones, so that the heaviest part is as light as
/// possible. If no group has weight, the parts get equal numbers of rows.
/// \param groups  ascending; all rows, those without weight included
/// \return first row of each part, then the number of rows
/// Complexity: O(groups log(weight)).
[[nodiscard]] std::vector<std::int64_t> divide_rows(std::span<const RowGroup> groups,
                                                    std::int64_t rows, int parts);

/// Equal numbers of rows.
[[nodiscard]] std::vector<std::int64_t> equal_rows(std::int64_t rows, int parts);

}  // namespace sortie::cluster
