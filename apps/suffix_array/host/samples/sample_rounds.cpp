// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/samples/samples.hpp"

#include <algorithm>
#include <limits>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Items of a task: groups are added until they have at least this many together.
constexpr std::uint64_t task_items = std::uint64_t{1} << 13;
/// Items that a task may always use as scratch.
constexpr std::uint64_t least_scratch_items = std::uint64_t{1} << 14;

/// Samples with equal ranks, by group.
template <Position Pos>
class UndecidedSamples {
 public:
  using Item = Wide<Pos>;  ///< a key above the number of a sample

  UndecidedSamples(std::span<Pos> ranks, std::span<Pos> steps)
      : ranks_(ranks),
        steps_(steps),
        items_(allocate_array<Item>(ranks.size())),
        starts_({0, static_cast<Pos>(ranks.size())}) {
    for_each_index(0, ranks.size(),
                   [&](std::uint64_t number) { items_[number] = static_cast<Pos>(number); });
    divide_groups([&](Pos number) { return ranks_[number]; });
  }

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
  /// \return whether there were any
  bool sort_by_runs() {
    const auto lengths = allocate_array<Pos>(ranks_.size());
    bool any = false;
    for (std::uint64_t number = ranks_.size(); number-- > 0;) {
      const Pos next = steps_[number];
      // A sample of unique rank may have any step; the only sample of equal rank is the sample
      // itself.
      const bool goes_on = next > number && ranks_[next] == ranks_[number];
      lengths[number] = goes_on ? static_cast<Pos>(lengths[next] + 1) : Pos{0};
      if (goes_on) steps_[number] = steps_[next];
      any = any || goes_on;
    }
    if (!any) return false;
    divide_groups([&](Pos number) {
      const bool below = ranks_[steps_[number]] < ranks_[number];
      // The ranges of both sides are disjoint: lengths of different runs add up to at most the
      // number of samples.
      return below ? lengths[number]
                   : static_cast<Pos>(std::numeric_limits<Pos>::max() - lengths[number]);
    });
    return true;
  }

  /// One round that sorts by the ranks one step ahead, and then doubles the steps.
  void sort_by_steps() {
    divide_groups([&](Pos number) { return ranks_[steps_[number]]; });
    // All steps are read before any changes: a doubled step is two single steps.
    const std::uint64_t size = starts_.back();
    const auto doubled = allocate_array<Pos>(size);
    for_each_index(0, size,
                   [&](std::uint64_t i) { doubled[i] = steps_[steps_[number_of(items_[i])]]; });
    for_each_index(0, size, [&](std::uint64_t i) { steps_[number_of(items_[i])] = doubled[i]; });
  }

 private:
  static constexpr int pos_bits = 8 * sizeof(Pos);

  static Item item(Pos key, Pos number) { return Item{key} << pos_bits | number; }
  static Pos number_of(Item item) { return static_cast<Pos>(item); }

  /// Sorts all groups by key_of(number), gives the samples their new ranks, and drops samples whose
  /// ranks are unique.
  template <class KeyOf>
  void divide_groups(const KeyOf& key_of) {
    // Parallel over items, since a few groups may hold all of them.
    for_each_index(0, starts_.back(), [&](std::uint64_t i) {
      const Pos number = number_of(items_[i]);
      items_[i] = item(key_of(number), number);
    });
    // Each task moves the items that it keeps to the front of its items and records the ends of
    // their groups.
    const std::vector<std::uint64_t> tasks = tasks_of_at_least(
        task_items, starts_.size() - 1,
        [&](std::uint64_t first, std::uint64_t end) { return starts_[end] - starts_[first]; });
    std::vector<std::vector<Pos>> ends(tasks.size() - 1);
    for_each_task(tasks.size() - 1, [&](std::uint64_t task) {
      std::uint64_t largest = 0;
      for (std::uint64_t group = tasks[task]; group < tasks[task + 1]; ++group) {
        largest = std::max<std::uint64_t>(largest, starts_[group + 1] - starts_[group]);
      }
      // At most a quarter of the samples for all threads together.
      const std::uint64_t scratch_size =
          std::min(largest, std::max(least_scratch_items, ranks_.size() / (4 * worker_threads())));
      const auto scratch = allocate_array<Item>(scratch_size);
      std::uint64_t kept = starts_[tasks[task]];
      for (std::uint64_t group = tasks[task]; group < tasks[task + 1]; ++group) {
        sort_perhaps_ordered(items_.get() + starts_[group], starts_[group + 1] - starts_[group],
                             std::span(scratch.get(), scratch_size), pos_bits);
        kept = keep_equal(group, kept, ends[task]);
      }
    });
    std::vector<Pos> starts = {0};
    for (std::size_t task = 0; task < ends.size(); ++task) {
      const std::uint64_t begin = starts_[tasks[task]];
      const Pos to = starts.back();
      const std::uint64_t end = ends[task].empty() ? begin : ends[task].back();
      if (begin != to) std::copy(items_.get() + begin, items_.get() + end, items_.get() + to);
      for (const Pos of_group : ends[task]) {
        starts.push_back(static_cast<Pos>(to + (of_group - begin)));
      }
    }
    starts_ = std::move(starts);
    for_each_index(0, starts_.back(), [&](std::uint64_t i) {
      ranks_[number_of(items_[i])] = static_cast<Pos>(items_[i] >> pos_bits);
    });
  }

  /// Replaces a sorted group by its parts of at least two equal keys, which move to `kept` and the
  /// following items. Every part gets a rank of its own: the first one that of the group. Samples
  /// that leave get their rank here; for those that stay, it replaces the key.
  /// \return the end of the parts
  std::uint64_t keep_equal(std::uint64_t group, std::uint64_t kept, std::vector<Pos>& ends) {
    const std::uint64_t group_begin = starts_[group];
    const std::uint64_t group_end = starts_[group + 1];
    const Pos group_rank = ranks_[number_of(items_[group_begin])];
    for (std::uint64_t begin = group_begin; begin < group_end;) {
      const Item key = items_[begin] >> pos_bits;
      std::uint64_t end = begin + 1;
      while (end < group_end && items_[end] >> pos_bits == key) ++end;
      const auto of_part = static_cast<Pos>(group_rank + (begin - group_begin));
      if (end - begin == 1) {
        ranks_[number_of(items_[begin])] = of_part;
      } else {
        for (std::uint64_t i = begin; i < end; ++i, ++kept) {
          items_[kept] = item(of_part, number_of(items_[i]));
        }
        ends.push_back(static_cast<Pos>(kept));
      }
      begin = end;
    }
    return kept;
  }

  std::span<Pos> ranks_;
  std::span<Pos> steps_;
  HostArray<Item> items_;
  std::vector<Pos> starts_;  ///< first item of each group, and the end of the last group
};

}  // namespace

template <Position Pos>
std::uint64_t double_steps(std::span<Pos> ranks, std::span<Pos> steps) {
  UndecidedSamples<Pos> undecided(ranks, steps);
  if (undecided.empty()) return 0;
  std::uint64_t rounds = undecided.sort_by_runs() ? 1 : 0;
  for (; !undecided.empty(); ++rounds) undecided.sort_by_steps();
  return rounds;
}

SORTIE_FOR_BOTH_POSITIONS(double_steps);

}  // namespace sortie::suffix_array::host
