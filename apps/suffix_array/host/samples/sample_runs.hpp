// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "apps/suffix_array/host/arrays.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Runs of samples with equal ranks. Where a text repeats a word shorter than the window of its
/// samples (sampling.hpp), every repetition has one sample, and all have equal ranks: plain
/// doubling takes log2(repetitions) rounds to separate them. As with runs of one letter (runs.hpp),
/// one round by run lengths is enough.
///
/// A sample of rank r begins a run of l more samples of rank r, one step from each to the next;
/// then comes the **exit**, a sample of another rank. Of two samples of rank r, the shorter run
/// meets its exit where the other still has rank r. So runs with an exit below r sort before those
/// with an exit above, shorter ones first; of the others, longer ones first. Where side and length
/// are equal too, the exits decide, which are then at equal distances.
///
/// Memory: P bytes a sample, for positions of P bytes.
template <Position Pos>
class SampleRuns {
 public:
  /// Finds all runs, and lets all samples of runs step to their exits. O(s), sequential.
  /// \param ranks  ranks of all samples, by number; equal for samples that are not separated yet
  /// \param steps  for samples that are not separated, the number of a later sample, at an equal
  ///               distance for equal ranks
  SampleRuns(std::span<const Pos> ranks, std::span<Pos> steps) : ranks_(ranks), steps_(steps) {
    lengths_ = allocate<Pos>(ranks.size());
    for (std::uint64_t number = ranks.size(); number-- > 0;) {
      const Pos next = steps[number];
      // A sample of unique rank may have any step; the only sample of equal rank is the sample
      // itself.
      const bool goes_on = next > number && ranks[next] == ranks[number];
      lengths_[number] = goes_on ? static_cast<Pos>(lengths_[next] + 1) : Pos{0};
      if (goes_on) steps[number] = steps[next];
      any_ = any_ || goes_on;
    }
  }

  [[nodiscard]] bool any() const { return any_; }

  /// The sort key among samples of one rank: side and length.
  [[nodiscard]] Pos key(Pos number) const {
    const bool below = ranks_[steps_[number]] < ranks_[number];
    // The ranges of both sides are disjoint: lengths of different runs add up to at most the number
    // of samples.
    return below ? lengths_[number]
                 : static_cast<Pos>(std::numeric_limits<Pos>::max() - lengths_[number]);
  }

 private:
  std::span<const Pos> ranks_;
  std::span<Pos> steps_;
  Array<Pos> lengths_;
  bool any_ = false;
};

}  // namespace sortie::suffix_array::host
