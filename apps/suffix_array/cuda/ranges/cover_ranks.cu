// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"

#include <algorithm>
#include <string>
#include <utility>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/ranges/ranges.hpp"
#include "apps/suffix_array/cuda/samples/samples.hpp"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

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

namespace {

/// Samples of the first keys, by which a cover is divided into parts: with four parts, these are
/// equal within 1 %.
constexpr std::uint64_t border_samples = 4096;

/// The positions of a cover, by number.
template <class Index>
struct CoverPositions {
  const std::uint16_t* residues;
  std::uint32_t elements;
  std::uint32_t period;

  __device__ Index operator()(Index number) const {
    return number / elements * period + residues[number % elements];
  }
};

/// The positions of a part of a cover.
/// \param count  positions of the whole cover
template <Position Index>
DeviceBuffer<Index> positions_of(const SymbolStream& text, const DifferenceCover& cover,
                                 std::uint64_t count, const TextPart& part, cudaStream_t stream) {
  const DeviceBuffer<std::uint16_t> residues(cover.elements, stream);
  const CoverPositions<Index> position{
      residues.data(), static_cast<std::uint32_t>(cover.elements.size()), cover.period()};
  if (part.parts == 1) {
    DeviceBuffer<Index> positions(count, stream);
    const auto write_position = [position, positions = positions.data()] __device__(Index number) {
      positions[number] = position(number);
    };
    for_each_item<Index>(count, write_position, stream);
    return positions;
  }

  const WindowKey key{text};
  std::vector<std::uint64_t> samples(std::min(border_samples, count));
  DeviceBuffer<std::uint64_t> device_samples(samples.size(), stream);
  const auto write_key = [key, position, distance = count / samples.size(),
                          samples = device_samples.data()] __device__(std::uint64_t i) {
    samples[i] = key(position(static_cast<Index>(i * distance)));
  };
  for_each_item<std::uint64_t>(samples.size(), write_key, stream);
  device_samples.copy_to(samples);
  check_cuda(cudaStreamSynchronize(stream));
  std::ranges::sort(samples);
  const auto border = [&](std::uint64_t number) {
    return number == 0 ? 0 : samples[samples.size() * number / part.parts];
  };
  const std::uint64_t begin = border(part.number);
  const bool is_last = part.number + 1 == part.parts;
  const std::uint64_t end = is_last ? 0 : border(part.number + 1);

  NumberedSetBuffer<Index> members(count, stream);
  const auto is_member = [key, position, begin, end, is_last] __device__(Index number) {
    const std::uint64_t own = key(position(number));
    return own >= begin && (is_last || own < end);
  };
  fill_set(members.set(), count, is_member, stream);
  DeviceBuffer<Index> positions(members.number_and_count(stream), stream);
  const auto list_member = [position, positions = positions.data()] __device__(
                               Index number, Index rank) { positions[rank] = position(number); };
  for_each_element(members.set(), count, list_member, stream);
  return positions;
}

}  // namespace

template <Position Index>
CoverRanking<Index>::CoverRanking(const SymbolStream& text, std::uint64_t symbols,
                                  std::uint32_t cover_order, cudaStream_t stream)
    : text_(text), cover_(cover_order), count_(cover_.positions_below(symbols)), stream_(stream) {}

template <Position Index>
CoverCounts CoverRanking<Index>::sort(const TextPart& part) {
  number_ = part.number;
  DeviceBuffer<Index> positions = positions_of<Index>(text_, cover_, count_, part, stream_);
  if (positions.size() != 0) {
    // One letter more than a period: then the symbol a period ahead is a letter as well.
    TextSorted<Index> sorted = sort_by_text(text_, std::move(positions), WindowKey{text_}.bits(),
                                            std::uint64_t{cover_.period()} + 1, false, stream_);
    sorted_ = std::move(sorted.suffixes);
    groups_ = std::move(sorted.groups);
  }
  check_cuda(cudaStreamSynchronize(stream_));
  return {sorted_.size(), groups_.members};
}

template <Position Index>
void CoverRanking<Index>::join(std::span<const CoverCounts> counts) {
  suffixes_ = {0};
  members_ = {0};
  for (const CoverCounts& part : counts) {
    suffixes_.push_back(suffixes_.back() + part.suffixes);
    members_.push_back(members_.back() + part.members);
  }
  if (suffixes_.back() != count_)
    throw Error(ErrorKind::device, "suffix array: found " + std::to_string(suffixes_.back()) +
                                       " suffixes of a cover sorted, expected " +
                                       std::to_string(count_));
  if (counts.size() == 1) return;
  DeviceBuffer<Index> suffixes(count_, stream_);
  SuffixGroups<Index> groups;
  groups.members = members_.back();
  groups.items = {groups.members, stream_};
  groups.slots = {groups.members, stream_};
  groups.heads = {groups.members, stream_};
  const auto copy = [&](auto& to, const auto& from, std::uint64_t begin, std::uint64_t size) {
    check_cuda(cudaMemcpyAsync(to.data() + begin, from.data(), size * sizeof(*from.data()),
                               cudaMemcpyDeviceToDevice, stream_));
  };
  copy(suffixes, sorted_, suffixes_[number_], sorted_.size());
  copy(groups.items, groups_.items, members_[number_], groups_.members);
  copy(groups.heads, groups_.heads, members_[number_], groups_.members);
  const auto write_slot = [before = static_cast<Index>(suffixes_[number_]),
                           from = groups_.slots.data(),
                           to = groups.slots.data() + members_[number_]] __device__(Index j) {
    to[j] = before + from[j];
  };
  for_each_item<Index>(groups_.members, write_slot, stream_);
  sorted_ = std::move(suffixes);
  groups_ = std::move(groups);
  check_cuda(cudaStreamSynchronize(stream_));
}

template <Position Index>
CoverMemory CoverRanking<Index>::part(std::uint64_t number) {
  const auto bytes = [&](auto& array, const std::vector<std::uint64_t>& begins) {
    return std::as_writable_bytes(
        std::span(array.data() + begins[number], begins[number + 1] - begins[number]));
  };
  return {bytes(sorted_, suffixes_), bytes(groups_.items, members_), bytes(groups_.slots, members_),
          bytes(groups_.heads, members_)};
}

template <Position Index>
RankedCover<Index> CoverRanking<Index>::rank() {
  const auto elements = static_cast<std::uint32_t>(cover_.elements.size());
  RankedCover<Index> ranked;
  ranked.places = {cover_.places, stream_};
  ranked.starts = {cover_.starts, stream_};
  ranked.ranks = {count_, stream_};
  ranked.view = {ranked.ranks.data(), ranked.places.data(), ranked.starts.data(), cover_.period(),
                 elements};
  const auto write_rank = [cover = ranked.view, suffixes = sorted_.data(),
                           ranks = ranked.ranks.data()] __device__(Index slot) {
    ranks[cover.number(suffixes[slot])] = slot;
  };
  for_each_item<Index>(count_, write_rank, stream_);
  sorted_.reset();
  SuffixGroups<Index>& list = groups_;
  if (list.members == 0) return ranked;
  {
    DeviceBuffer<Index> keys(list.members, stream_);
    // Replaces items by their numbers. A refinement by equal keys leaves groups unchanged.
    const auto number_item = [cover = ranked.view, items = list.items.data(),
                              keys = keys.data()] __device__(Index j) {
      items[j] = cover.number(items[j]);
      keys[j] = 1;
    };
    for_each_item<Index>(list.members, number_item, stream_);
    refine_samples(list, keys, ranked.ranks, stream_);
  }
  DeviceBuffer<Index> steps(count_, stream_);
  // If there is no position a period ahead, the step is to the item itself; such positions are in no
  // group, because members of groups have letters for more than a period.
  const auto write_step = [elements, count = count_,
                           steps = steps.data()] __device__(Index number) {
    steps[number] = count - number > elements ? number + elements : number;
  };
  for_each_item<Index>(count_, write_step, stream_);
  ranked.rounds = double_steps(std::move(list), ranked.ranks, std::move(steps),
                               8 * static_cast<int>(sizeof(Index)), 0, stream_);
  return ranked;
}

template class CoverRanking<std::uint32_t>;
template class CoverRanking<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
