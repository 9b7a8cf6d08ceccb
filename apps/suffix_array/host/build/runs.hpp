// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "apps/suffix_array/host/text/coded_text.hpp"

namespace sortie::suffix_array::host {

/// A maximal run of one letter, at least as long as the depth of the first sort. Its **members**
/// are the suffixes that begin within the run with at least that many equal letters. They are
/// neither sorted nor compared.
template <Position Pos>
struct LongRun {
  Pos begin;  ///< first member
  Pos end;    ///< position after the run: the suffix there orders runs of equal length
};

/// The slots that the members of all long runs of one letter take.
struct RunSlots {
  std::uint64_t code;   ///< of the letter
  std::uint64_t begin;  ///< first slot
  std::uint64_t size;
};

/// The order of the suffixes that begin with a long run of one letter: gaps of N, or texts of one
/// letter.
///
/// Such a suffix is c^l followed by a rest that does not start with c. Among rests below c (or an
/// end), shorter runs are smaller; among rests above c, longer runs are smaller. Within one length
/// the order is that of the rests, the same for every length that a run contains. So runs are
/// sorted once by their rests, and the slots are filled length by length.
///
/// Memory: 8 bytes a run for the caller's list and 24 here, with 32-bit positions; a run has at
/// least as many letters as the first sort compares.
template <Position Pos>
class RunOrder {
 public:
  /// \param size   symbols of the text
  /// \param runs   ascending
  /// \param slots  of each letter that has runs
  RunOrder(const SymbolStream& stream, std::uint64_t size, const PrefixPlan& plan,
           std::span<const LongRun<Pos>> runs, std::span<const RunSlots> slots)
      : depth_(plan.depth()), runs_(runs), order_(runs.size()), first_slots_(runs.size()) {
    // Sorted by letter, then side (rests below the letter first), then length.
    std::vector<std::uint64_t> sides(runs.size());
    for (std::uint64_t i = 0; i < runs.size(); ++i) {
      const std::uint64_t end = runs[i].end;
      const std::uint64_t code = stream.code(runs[i].begin);
      const bool above = end < size && stream.code(end) > code;
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
      const auto letter = std::ranges::find(slots, side / 2, &RunSlots::code);
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
          first_slots_[order_[begin]] =
              below ? letter->begin + before : slots_end - before - taking;
        }
        shorter = before + taking;
        done = next;
      }
    }
  }

  /// The first slot of the members that have the letter and length of the whole run `i` and a rest
  /// on the same side: the rank of the suffix at the begin of the run before the rests are ordered.
  [[nodiscard]] std::uint64_t first_slot(std::uint64_t i) const { return first_slots_[i]; }

  /// Writes all members to their slots.
  /// \param rests     for each run a number; these compare as the rests do, and are distinct
  /// \param suffixes  slots from `begin` on: only members of these are written
  /// O(slots + lengths of runs + runs log runs), sequential.
  void place(std::span<const Pos> rests, std::span<Pos> suffixes, std::uint64_t begin = 0) const {
    const std::uint64_t end = begin + suffixes.size();
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
          const std::uint64_t first = side.below ? slot : side.slots_begin;
          const std::uint64_t members = run.end - run.begin - done;
          const std::uint64_t from = std::clamp(begin, first, first + members);
          const std::uint64_t to = std::clamp(end, first, first + members);
          for (std::uint64_t at = from; at < to; ++at) {
            const std::uint64_t before = side.below ? first + members - 1 - at : at - first;
            suffixes[at - begin] = static_cast<Pos>(run.begin + before);
          }
          break;
        }
        for (std::uint64_t of_length = done + 1; of_length <= shortest; ++of_length) {
          if (!side.below) slot -= by_rest.size();
          const std::uint64_t to = std::clamp(end, slot, slot + by_rest.size());
          for (std::uint64_t at = std::clamp(begin, slot, to); at < to; ++at)
            suffixes[at - begin] = static_cast<Pos>(runs_[by_rest[at - slot]].end - of_length);
          if (side.below) slot += by_rest.size();
        }
        done = shortest;
        i += std::erase_if(by_rest, [&](std::uint64_t run) { return length(run) == shortest; });
      }
    }
  }

 private:
  /// The runs of one letter whose rests are on one side of it: a range of `order_`, by length.
  struct Side {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t slots_begin;
    std::uint64_t slots_end;
    bool below;
  };

  [[nodiscard]] std::uint64_t length(std::uint64_t i) const {
    return runs_[i].end - runs_[i].begin;
  }

  std::uint64_t depth_;
  std::span<const LongRun<Pos>> runs_;
  std::vector<Side> sides_;
  std::vector<std::uint64_t> order_;
  std::vector<std::uint64_t> first_slots_;
};

}  // namespace sortie::suffix_array::host
