// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/cover_ranks.hpp"

#include <utility>

#include "apps/suffix_array/cuda/build/refine.hpp"
#include "apps/suffix_array/cuda/ranges/difference_cover.hpp"
#include "apps/suffix_array/cuda/ranges/text_sort.hpp"
#include "apps/suffix_array/cuda/samples/sample_rounds.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
struct WriteCoverPositions {
  const std::uint16_t* elements;
  std::uint32_t count;
  std::uint32_t period;
  Index* positions;

  __device__ void operator()(Index number) const {
    positions[number] = number / count * period + elements[number % count];
  }
};

template <class Index>
struct RankBySlot {
  CoverRanks<Index> cover;
  const Index* suffixes;
  Index* ranks;

  __device__ void operator()(Index slot) const { ranks[cover.number(suffixes[slot])] = slot; }
};

/// Replaces items by their numbers, and sets all keys to the same value: a refinement by these keys
/// leaves groups unchanged.
template <class Index>
struct NumberItems {
  CoverRanks<Index> cover;
  Index* items;
  Index* keys;

  __device__ void operator()(Index j) const {
    items[j] = cover.number(items[j]);
    keys[j] = 1;
  }
};

/// The step by one period. If there is no position a period ahead, the step is to the item itself;
/// such positions are in no group, because members of groups have letters for more than a period.
template <class Index>
struct StepByPeriod {
  Index elements;
  Index count;
  Index* steps;

  __device__ void operator()(Index number) const {
    steps[number] = count - number > elements ? number + elements : number;
  }
};

}  // namespace

template <Position Index>
RankedCover<Index> rank_cover(const SymbolStream& text, std::uint64_t symbols,
                              std::uint32_t cover_order, cudaStream_t stream) {
  const DifferenceCover cover(cover_order);
  const std::uint64_t count = cover.positions_below(symbols);
  RankedCover<Index> ranked;
  ranked.places = {cover.places(), stream};
  ranked.starts = {cover.starts(), stream};
  ranked.period = cover.period();
  ranked.elements = static_cast<std::uint32_t>(cover.elements().size());

  TextSorted<Index> sorted;
  {
    const DeviceBuffer<std::uint16_t> elements(cover.elements(), stream);
    DeviceBuffer<Index> positions(count, stream);
    for_each_item<Index>(count,
                         WriteCoverPositions<Index>{elements.data(), ranked.elements, ranked.period,
                                                    positions.data()},
                         stream);
    // One letter more than a period: then the symbol a period ahead is a letter as well.
    sorted = sort_by_text(text, std::move(positions), WindowKey{text}.bits(),
                          TextSortEnd{std::uint64_t{ranked.period} + 1, false}, stream);
  }

  ranked.ranks = {count, stream};
  for_each_item<Index>(
      count, RankBySlot<Index>{ranked.view(), sorted.suffixes.data(), ranked.ranks.data()}, stream);
  sorted.suffixes.reset();
  SuffixGroups<Index>& list = sorted.groups;
  if (list.members == 0) return ranked;
  {
    DeviceBuffer<Index> keys(list.members, stream);
    for_each_item<Index>(list.members,
                         NumberItems<Index>{ranked.view(), list.items.data(), keys.data()}, stream);
    refine_samples(list, keys, ranked.ranks, stream);
  }
  DeviceBuffer<Index> steps(count, stream);
  for_each_item<Index>(count,
                       StepByPeriod<Index>{static_cast<Index>(ranked.elements),
                                           static_cast<Index>(count), steps.data()},
                       stream);
  ranked.rounds = double_steps(std::move(list), ranked.ranks, std::move(steps), stream);
  return ranked;
}

template decltype(rank_cover<std::uint32_t>) rank_cover<std::uint32_t>;
template decltype(rank_cover<std::uint64_t>) rank_cover<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
