// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"

#include <algorithm>
#include <utility>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/ranges/ranges.hpp"
#include "apps/suffix_array/cuda/samples/samples.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {

DifferenceCover::DifferenceCover(std::uint32_t order) {
  const std::uint32_t r = order;
  const std::uint32_t period_length = period(order);
  // Distances between neighbours, and the number of times each occurs.
  struct Steps {
    std::uint32_t distance;
    std::uint32_t times;
  };
  const Steps steps[] = {
      {1, r}, {r + 1, 1}, {2 * r + 1, r}, {4 * r + 3, 2 * r + 1}, {2 * r + 2, r + 1}, {1, r}};
  std::uint32_t element = 0;
  elements.push_back(0);
  for (const Steps& step : steps) {
    for (std::uint32_t i = 0; i < step.times; ++i) {
      element += step.distance;
      elements.push_back(static_cast<std::uint16_t>(element));
    }
  }

  for (std::uint32_t residue = 0; residue < period_length; ++residue) {
    const auto place = std::ranges::lower_bound(elements, residue) - elements.begin();
    places.push_back(static_cast<std::uint16_t>(place));
  }
  starts.resize(period_length);
  for (const std::uint16_t from : elements) {
    for (const std::uint16_t to : elements) {
      starts[(to + period_length - from) % period_length] = from;
    }
  }
}

std::uint64_t DifferenceCover::positions_below(std::uint64_t positions) const {
  return positions / period() * elements.size() + places[positions % period()];
}

template <Position Index>
RankedCover<Index> rank_cover(const SymbolStream& text, std::uint64_t symbols,
                              std::uint32_t cover_order, cudaStream_t stream) {
  const DifferenceCover cover(cover_order);
  const std::uint64_t count = cover.positions_below(symbols);
  const auto elements = static_cast<std::uint32_t>(cover.elements.size());
  RankedCover<Index> ranked;
  ranked.places = {cover.places, stream};
  ranked.starts = {cover.starts, stream};

  TextSorted<Index> sorted;
  {
    const DeviceBuffer<std::uint16_t> residues(cover.elements, stream);
    DeviceBuffer<Index> positions(count, stream);
    const auto write_position = [residues = residues.data(), elements, period = cover.period(),
                                 positions = positions.data()] __device__(Index number) {
      positions[number] = number / elements * period + residues[number % elements];
    };
    for_each_item<Index>(count, write_position, stream);
    // One letter more than a period: then the symbol a period ahead is a letter as well.
    sorted = sort_by_text(text, std::move(positions), WindowKey{text}.bits(),
                          std::uint64_t{cover.period()} + 1, false, stream);
  }

  ranked.ranks = {count, stream};
  ranked.view = {ranked.ranks.data(), ranked.places.data(), ranked.starts.data(), cover.period(),
                 elements};
  const auto write_rank = [cover = ranked.view, suffixes = sorted.suffixes.data(),
                           ranks = ranked.ranks.data()] __device__(Index slot) {
    ranks[cover.number(suffixes[slot])] = slot;
  };
  for_each_item<Index>(count, write_rank, stream);
  sorted.suffixes.reset();
  SuffixGroups<Index>& list = sorted.groups;
  if (list.members == 0) return ranked;
  {
    DeviceBuffer<Index> keys(list.members, stream);
    // Replaces items by their numbers. A refinement by equal keys leaves groups unchanged.
    const auto number_item = [cover = ranked.view, items = list.items.data(),
                              keys = keys.data()] __device__(Index j) {
      items[j] = cover.number(items[j]);
      keys[j] = 1;
    };
    for_each_item<Index>(list.members, number_item, stream);
    refine_samples(list, keys, ranked.ranks, stream);
  }
  DeviceBuffer<Index> steps(count, stream);
  // If there is no position a period ahead, the step is to the item itself; such positions are in no
  // group, because members of groups have letters for more than a period.
  const auto write_step = [elements, count, steps = steps.data()] __device__(Index number) {
    steps[number] = count - number > elements ? number + elements : number;
  };
  for_each_item<Index>(count, write_step, stream);
  ranked.rounds = double_steps(std::move(list), ranked.ranks, std::move(steps), stream);
  return ranked;
}

SORTIE_FOR_BOTH_POSITIONS(rank_cover);

}  // namespace sortie::suffix_array::cuda
