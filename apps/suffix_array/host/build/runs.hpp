// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/suffix_array/host/text/prefix_plan.hpp"

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
  std::uint64_t bucket;  ///< of members of the letter's runs
  std::uint64_t key;     ///< of members of the letter's runs
  std::uint64_t begin;   ///< first slot
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
  /// \param runs   all long runs, ascending
  /// \param slots  the slots of each letter that has runs
  RunOrder(const TextView& text, const PrefixPlan& plan, std::span<const LongRun<Pos>> runs,
           std::span<const RunSlots> slots);

  /// The first slot of the members that have the letter and length of the whole run `i` and a rest
  /// on the same side: the rank of the suffix at the begin of the run before the rests are ordered.
  [[nodiscard]] std::uint64_t first_slot(std::uint64_t i) const { return first_slots_[i]; }

  /// Writes all members to their slots.
  /// \param rests  for each run a number; these compare as the rests do, and are distinct
  /// O(members + runs log runs), sequential.
  void place(std::span<const Pos> rests, std::span<Pos> suffixes) const;

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
