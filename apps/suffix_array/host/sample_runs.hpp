#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "sortie/apps/suffix_array/host/arrays.hpp"
#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Runs of samples with equal ranks: where a text repeats a word shorter than the window of its
/// samples (sampling.hpp), every repetition has one sample, and all look alike for as many rounds
/// of doubling as their number has bits. They are told apart as runs of one letter are
/// (runs.hpp), at once.
///
/// A sample of rank r begins a run of l more samples of rank r, one step from each to the next, and
/// then comes its **exit**, of another rank. Of two samples of rank r the shorter run meets its
/// exit where the other still has r. So runs with an exit below r sort before those with one
/// above, shorter ones first; of the others, longer ones first. Where side and length are equal
/// too, exits decide, which are at equal distances then.
///
/// Memory: P bytes a sample, for positions of P bytes.
template <Position Pos>
class SampleRuns {
 public:
  /// Finds all runs, and makes all samples of runs step to their exits. O(s), sequential.
  /// \param ranks  of all samples, by number; equal for those that are not told apart yet
  /// \param steps  of those that are not told apart, the number of a later sample, at an equal
  ///               distance for equal ranks
  SampleRuns(std::span<const Pos> ranks, std::span<Pos> steps) : ranks_(ranks), steps_(steps) {
    lengths_ = allocate<Pos>(ranks.size());
    for (std::uint64_t number = ranks.size(); number-- > 0;) {
      const Pos next = steps[number];
      // What has a rank of its own may step anywhere, but never to its rank, save to itself.
      const bool goes_on = next > number && ranks[next] == ranks[number];
      lengths_[number] = goes_on ? static_cast<Pos>(lengths_[next] + 1) : Pos{0};
      if (goes_on) steps[number] = steps[next];
      any_ = any_ || goes_on;
    }
  }

  [[nodiscard]] bool any() const { return any_; }

  /// By which the samples of one rank sort: their sides and lengths.
  [[nodiscard]] Pos key(Pos number) const {
    const bool below = ranks_[steps_[number]] < ranks_[number];
    // The two do not mix: different runs have no more samples together than there are.
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
