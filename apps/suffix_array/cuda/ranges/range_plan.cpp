// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/range_plan.hpp"

#include <algorithm>
#include <limits>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Bytes that do not grow with the text: scratch of the sorts, candidates for borders, tables.
constexpr std::uint64_t constant = std::uint64_t{3} << 20;

template <class Index>
constexpr std::uint64_t list_entry = SuffixGroups<Index>::bytes_a_member;

constexpr std::uint64_t key = sizeof(std::uint64_t);

/// Bytes a member of a range. Each step includes a byte for scratch.
template <class Index>
constexpr std::uint64_t bytes_a_member() {
  constexpr std::uint64_t index = sizeof(Index);
  const std::uint64_t first_sort = 2 * (key + index) + 1;
  const std::uint64_t groups = key + index + list_entry<Index> + 1;
  const std::uint64_t text_round =
      index + list_entry<Index> + key + std::max(key + index, list_entry<Index>) + 1;
  // Members of large groups: two arrays of pairs of group and position, and slots. Two sets.
  const std::uint64_t sets = index / 4 + 1;
  const std::uint64_t last_sort = index + list_entry<Index> + 5 * index + sets;
  return std::max({first_sort, groups, text_round, last_sort});
}

template <class Index>
constexpr std::uint64_t bytes_a_sample() {
  constexpr std::uint64_t index = sizeof(Index);
  // Ranks, two arrays of steps, the list, keys, and the memory of a sort or a refinement.
  const std::uint64_t doubling =
      4 * index + list_entry<Index> + std::max(2 * index + 1, list_entry<Index>) + 1;
  return std::max(bytes_a_member<Index>(), doubling);
}

template <class Index>
std::uint64_t member_bytes(const TextShape& shape) {
  return bytes_a_member<Index>() + static_cast<std::uint64_t>(shape.kept);
}

std::uint64_t packed_bytes(const TextShape& shape) {
  return (shape.symbols / 64 + 1) * static_cast<std::uint64_t>(shape.bits) * 8;
}

/// Bytes of the sort of a range.
template <class Index>
std::uint64_t bytes_to_sort(const TextShape& shape, const RangePlan& plan) {
  // A NumberedSet of the positions searched.
  const std::uint64_t chunk = std::max(least_searched_chunk, shape.symbols / searched_chunks + 1);
  const std::uint64_t set = chunk / 16 * sizeof(Index);
  return packed_bytes(shape) +
         DifferenceCover::most_positions(plan.cover_order, shape.symbols) * sizeof(Index) + set +
         plan.members * member_bytes<Index>(shape) + constant;
}

/// The plan with a given cover and the smallest ranges.
RangePlan least_plan(const TextShape& shape, std::uint32_t cover_order) {
  return {cover_order, (shape.symbols + most_ranges_wanted - 1) / most_ranges_wanted};
}

}  // namespace

template <Position Index>
std::uint64_t bytes_in_ranges(const TextShape& shape, const RangePlan& plan) {
  const std::uint64_t separators =
      shape.separators == 0 ? 0 : shape.separators * sizeof(std::uint64_t) + shape.symbols / 8;
  const std::uint64_t cover = DifferenceCover::most_positions(plan.cover_order, shape.symbols);
  return std::max({shape.symbols + separators + packed_bytes(shape) + constant,
                   packed_bytes(shape) + cover * bytes_a_sample<Index>() + constant,
                   bytes_to_sort<Index>(shape, plan)});
}

template <Position Index>
std::uint64_t least_bytes(const TextShape& shape) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t order = least_cover_order; order <= greatest_cover_order; ++order) {
    least = std::min(least, bytes_in_ranges<Index>(shape, least_plan(shape, order)));
  }
  return least;
}

template <Position Index>
RangePlan plan_ranges(const TextShape& shape, std::uint64_t budget) {
  for (std::uint32_t order = least_cover_order; order <= greatest_cover_order; ++order) {
    if (bytes_in_ranges<Index>(shape, least_plan(shape, order)) > budget) continue;
    const std::uint64_t rest = budget - bytes_to_sort<Index>(shape, {order, 0});
    return {order, std::min(shape.symbols, rest / member_bytes<Index>(shape))};
  }
  throw out_of_memory_error("the suffix array in ranges", least_bytes<Index>(shape), budget);
}

SORTIE_INSTANTIATE_FOR_POSITIONS(bytes_in_ranges);
SORTIE_INSTANTIATE_FOR_POSITIONS(least_bytes);
SORTIE_INSTANTIATE_FOR_POSITIONS(plan_ranges);

}  // namespace sortie::suffix_array::cuda
