// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "core/host_memory.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// What a round has changed for a sample. The step means nothing if the rank is unique.
template <Position Pos>
struct SampleChange {
  Pos number;
  Pos rank;
  Pos step;
};

/// The samples that one of several processes sorts: `count` samples with ranks of [low, high].
struct SampleRanks {
  std::uint64_t processes = 1;
  std::uint64_t low = 0;
  std::uint64_t high = ~std::uint64_t{0};
  std::uint64_t count = 0;
};

/// Divides samples into parts of whole groups, equal but for large groups, on all threads. The same
/// on every process. Complexity: O(s). Memory: 128 KiB a thread.
template <Position Pos>
[[nodiscard]] SampleRanks part_of_samples(std::span<const Pos> ranks, std::uint64_t number,
                                          std::uint64_t parts);

/// Samples with equal ranks, by group, in the rounds of prefix doubling over samples
/// (double_steps()). Of several processes, each sorts some groups, and all hold the ranks and steps
/// of all samples: after each round, its changes() are sent to all others, which apply() them.
/// Groups are only divided, so they stay on their process.
///
/// Memory of s samples, of which q are sorted here, with positions of P bytes: 2 P s for ranks and
/// steps, P s during sort_by_runs(), and bytes().
template <Position Pos>
class UndecidedSamples {
 public:
  using Item = Wide<Pos>;  ///< a key above the number of a sample

  /// Items, groups, scratch, and, of several processes, numbers.
  [[nodiscard]] static std::uint64_t bytes(const SampleRanks& own) {
    return (own.processes > 1 ? 5 : 4) * sizeof(Pos) * own.count;
  }

  /// \param ranks, steps  as double_steps() has them
  /// \param own           what this process sorts
  UndecidedSamples(std::span<Pos> ranks, std::span<Pos> steps, const SampleRanks& own);

  [[nodiscard]] bool empty() const { return starts_.size() == 1; }

  /// One round that sorts by runs of samples with equal ranks, if there are any, and lets all
  /// samples of runs step to their exits. Where a text repeats a word shorter than the window of
  /// its samples (sampling.hpp), every repetition has one sample, and all have equal ranks: plain
  /// doubling takes log2(repetitions) rounds to separate them. As with runs of one letter
  /// (runs.hpp), one round by run lengths is enough.
  ///
  /// A sample of rank r begins a run of l more samples of rank r, one step from each to the next;
  /// then comes the **exit**, a sample of another rank. Of two samples of rank r, the shorter run
  /// meets its exit where the other still has rank r. So runs with an exit below r sort before
  /// those with an exit above, shorter ones first; of the others, longer ones first. Where side and
  /// length are equal too, the exits decide, which are then at equal distances.
  ///
  /// The search for runs is O(s), sequential. Memory: P bytes a sample, for positions of P bytes.
  /// \return whether there were any, the same on every process
  bool sort_by_runs();
  /// One round that sorts by the ranks one step ahead, and then doubles the steps.
  void sort_by_steps();

  /// Samples that the last round has sorted here.
  [[nodiscard]] std::uint64_t changes() const { return sorted_; }
  /// Those from `first` on.
  void list_changes(std::uint64_t first, std::span<SampleChange<Pos>> changes) const;
  void apply(std::span<const SampleChange<Pos>> changes);

 private:
  static constexpr int pos_bits = 8 * sizeof(Pos);

  static Item item(Pos key, Pos number) { return Item{key} << pos_bits | number; }
  static Pos number_of(Item item) { return static_cast<Pos>(item); }

  enum class Keys { of_round, ranks };
  template <class KeyOf>
  void divide_groups(const KeyOf& key_of, Keys keys = Keys::of_round);
  std::uint64_t keep_equal(std::uint64_t group, std::uint64_t kept, Keys keys,
                           std::vector<Pos>& ends);

  std::span<Pos> ranks_;
  std::span<Pos> steps_;
  HostArray<Item> items_;
  std::vector<Pos> starts_;   ///< first item of each group, and the end of the last group
  HostArray<Pos> numbers_;    ///< that the last round has sorted, ascending; of several processes
  std::uint64_t sorted_ = 0;  ///< samples of these
};

/// Prefix doubling over samples, with steps from sample to sample in place of symbols: round i
/// sorts by the rank of the sample 2^i steps ahead. A first round separates runs of samples with
/// equal ranks, which periodic texts have, by their lengths.
///
/// \param ranks  ranks of all samples, by number: equal for samples that are not separated yet, and
///               the gap to the next rank is at least the number of these; on return, all ranks are
///               distinct
/// \param steps  by number, the number of the next sample, at an equal distance for equal ranks;
///               any number for samples of unique rank. Overwritten.
/// \return number of rounds
///
/// A round reads all ranks before it changes any, so it does not depend on the order of groups, nor
/// on the number of threads. Complexity: O(s log s) for s samples, and O(u log r) for u samples of
/// equal ranks and repeats of r steps. Memory: 2 P bytes a sample and 5 P for a sample of equal
/// rank, with positions of P bytes.
template <Position Pos>
std::uint64_t double_steps(std::span<Pos> ranks, std::span<Pos> steps);

}  // namespace sortie::suffix_array::host
