// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/build/runs.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace sortie::suffix_array::host {

template <Position Pos>
RunOrder<Pos>::RunOrder(const TextView& text, const PrefixPlan& plan,
                        std::span<const LongRun<Pos>> runs, std::span<const RunSlots> slots)
    : depth_(plan.depth()), runs_(runs), order_(runs.size()), first_slots_(runs.size()) {
  // Sorted by letter, then side (rests below the letter first), then length.
  std::vector<std::uint64_t> sides(runs.size());
  for (std::uint64_t i = 0; i < runs.size(); ++i) {
    const std::uint64_t end = runs[i].end;
    const std::uint64_t code = plan.code[text.symbols[runs[i].begin]];
    const bool at_end = end == text.size() ||
                        std::binary_search(text.separators.begin(), text.separators.end(), end);
    const bool above = !at_end && plan.code[text.symbols[end]] > code;
    sides[i] = 2 * code + (above ? 1 : 0);
  }
  std::iota(order_.begin(), order_.end(), std::uint64_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::uint64_t a, std::uint64_t b) {
    return std::tuple(sides[a], length(a), a) < std::tuple(sides[b], length(b), b);
  });

  for (std::uint64_t begin = 0; begin < order_.size();) {
    const std::uint64_t side = sides[order_[begin]];
    std::uint64_t end = begin;
    std::uint64_t members = 0;
    for (; end < order_.size() && sides[order_[end]] == side; ++end) {
      members += length(order_[end]) - depth_ + 1;
    }
    const auto letter = std::find_if(slots.begin(), slots.end(), [&](const RunSlots& candidate) {
      return candidate.key == plan.run_key(side / 2);
    });
    const bool below = side % 2 == 0;
    const std::uint64_t slots_end = letter->begin + letter->size;
    sides_.push_back({begin, end, below ? letter->begin : slots_end - members,
                      below ? letter->begin + members : slots_end, below});

    // Slots of shorter members: as many as all runs have up to the shorter length.
    std::uint64_t shorter = 0;
    std::uint64_t done = depth_ - 1;
    while (begin < end) {
      const std::uint64_t next = length(order_[begin]);
      const std::uint64_t taking = end - begin;
      const std::uint64_t before = shorter + taking * (next - 1 - done);
      for (; begin < end && length(order_[begin]) == next; ++begin) {
        first_slots_[order_[begin]] = below ? letter->begin + before : slots_end - before - taking;
      }
      shorter = before + taking;
      done = next;
    }
  }
}

template <Position Pos>
void RunOrder<Pos>::place(std::span<const Pos> rests, std::span<Pos> suffixes) const {
  std::vector<std::uint64_t> by_rest;
  for (const Side& side : sides_) {
    by_rest.assign(order_.begin() + static_cast<std::ptrdiff_t>(side.begin),
                   order_.begin() + static_cast<std::ptrdiff_t>(side.end));
    std::sort(by_rest.begin(), by_rest.end(),
              [&](std::uint64_t a, std::uint64_t b) { return rests[a] < rests[b]; });
    std::uint64_t done = depth_ - 1;
    std::uint64_t slot = side.below ? side.slots_begin : side.slots_end;
    for (std::uint64_t i = side.begin; i < side.end;) {
      // Up to the length of the shortest remaining run, every remaining run has a member of each
      // length.
      const std::uint64_t shortest = length(order_[i]);
      if (by_rest.size() == 1) {
        // The longest run: its members go upwards from `slot`, shortest first, or downwards.
        const LongRun<Pos>& run = runs_[by_rest.front()];
        const auto members =
            suffixes.subspan(side.below ? slot : side.slots_begin, run.end - run.begin - done);
        if (side.below) {
          std::iota(members.rbegin(), members.rend(), run.begin);
        } else {
          std::iota(members.begin(), members.end(), run.begin);
        }
        break;
      }
      for (std::uint64_t of_length = done + 1; of_length <= shortest; ++of_length) {
        if (!side.below) slot -= by_rest.size();
        Pos* to = suffixes.data() + slot;
        for (const std::uint64_t run : by_rest) {
          *to++ = static_cast<Pos>(runs_[run].end - of_length);
        }
        if (side.below) slot += by_rest.size();
      }
      done = shortest;
      i += std::erase_if(by_rest, [&](std::uint64_t run) { return length(run) == shortest; });
    }
  }
}

template class RunOrder<std::uint32_t>;
template class RunOrder<std::uint64_t>;

}  // namespace sortie::suffix_array::host
