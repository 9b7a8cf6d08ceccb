// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/samples/sample_rounds.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/bit_set.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Items of a task: groups are added until they have at least this many together.
constexpr std::uint64_t task_items = std::uint64_t{1} << 13;
/// Items that a task may always use as scratch.
constexpr std::uint64_t least_scratch_items = std::uint64_t{1} << 14;

}  // namespace

template <Position Pos>
SampleRanks part_of_samples(std::span<const Pos> ranks, std::uint64_t number, std::uint64_t parts) {
  constexpr int bucket_bits = 14;
  constexpr std::uint64_t buckets = std::uint64_t{1} << bucket_bits;
  const EqualShares chunks = thread_shares(ranks.size());
  std::vector<Pos> greatest(chunks.count);
  std::vector<std::uint64_t> counts(chunks.count * buckets);
  for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      greatest[chunk] = std::max(greatest[chunk], ranks[i]);
  });
  const int shift =
      std::max<int>(static_cast<int>(std::bit_width(std::ranges::max(greatest))) - bucket_bits, 0);
  for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) ++counts[chunk * buckets + (ranks[i] >> shift)];
  });
  // A bucket is of the part in which its first sample would be.
  const EqualShares shares{ranks.size(), parts};
  SampleRanks part{parts, buckets, 0, 0};
  std::uint64_t before = 0;
  for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
    std::uint64_t count = 0;
    for (std::uint64_t chunk = 0; chunk < chunks.count; ++chunk)
      count += counts[chunk * buckets + bucket];
    if (count > 0 && before >= shares.begin(number) && before < shares.begin(number + 1)) {
      part.low = std::min(part.low, bucket);
      part.high = bucket;
      part.count += count;
    }
    before += count;
  }
  part.low <<= shift;
  part.high = ((part.high + 1) << shift) - 1;
  return part;
}

template <Position Pos>
UndecidedSamples<Pos>::UndecidedSamples(std::span<Pos> ranks, std::span<Pos> steps,
                                        const SampleRanks& own)
    : ranks_(ranks), steps_(steps), items_(allocate_array<Item>(own.count)), starts_({0}) {
  if (own.processes > 1) numbers_ = allocate_array<Pos>(own.count);
  if (own.count == 0) return;
  const EqualShares chunks = thread_shares(ranks.size());
  const auto is_own = [=](Pos rank) { return rank >= own.low && rank <= own.high; };
  std::vector<std::uint64_t> counts(chunks.count);
  for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t last) {
    counts[chunk] = static_cast<std::uint64_t>(
        std::ranges::count_if(ranks.subspan(first, last - first), is_own));
  });
  const std::vector<std::uint64_t> begins = begins_of(counts);
  for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t last) {
    std::uint64_t next = begins[chunk];
    for (std::uint64_t number = first; number < last; ++number)
      if (is_own(ranks[number])) items_[next++] = static_cast<Pos>(number);
  });
  starts_.push_back(static_cast<Pos>(own.count));
  divide_groups([&](Pos number) { return ranks_[number]; }, Keys::ranks);
}

template <Position Pos>
bool UndecidedSamples<Pos>::sort_by_runs() {
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

template <Position Pos>
void UndecidedSamples<Pos>::sort_by_steps() {
  divide_groups([&](Pos number) { return ranks_[steps_[number]]; });
  // All steps are read before any changes: a doubled step is two single steps.
  const std::uint64_t size = starts_.back();
  const auto doubled = allocate_array<Pos>(size);
  for_each_index(0, size,
                 [&](std::uint64_t i) { doubled[i] = steps_[steps_[number_of(items_[i])]]; });
  for_each_index(0, size, [&](std::uint64_t i) { steps_[number_of(items_[i])] = doubled[i]; });
}

/// Sorts all groups by key_of(number), gives the samples their new ranks, and drops samples whose
/// ranks are unique.
template <Position Pos>
template <class KeyOf>
void UndecidedSamples<Pos>::divide_groups(const KeyOf& key_of, Keys keys) {
  sorted_ = starts_.back();
  if (numbers_ != nullptr) {
    // In ascending order: the other processes write their ranks and steps with few cache misses.
    const bool alone = host_threads() == 1;
    BitSet sorted(ranks_.size());
    for_each_index(0, sorted_, [&](std::uint64_t i) {
      const Pos number = number_of(items_[i]);
      alone ? sorted.set_alone(number) : sorted.set(number);
    });
    NumberedSet<Pos>(sorted).for_each(
        [&](std::uint64_t number, Pos i) { numbers_[i] = static_cast<Pos>(number); });
  }
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
      kept = keep_equal(group, kept, keys, ends[task]);
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
/// following items. Every part gets a rank of its own: the first one that of the group, or
/// its key if the keys are ranks. Samples
/// that leave get their rank here; for those that stay, it replaces the key.
/// \return the end of the parts
template <Position Pos>
std::uint64_t UndecidedSamples<Pos>::keep_equal(std::uint64_t group, std::uint64_t kept, Keys keys,
                                                std::vector<Pos>& ends) {
  const std::uint64_t group_begin = starts_[group];
  const std::uint64_t group_end = starts_[group + 1];
  const Pos group_rank = ranks_[number_of(items_[group_begin])];
  for (std::uint64_t begin = group_begin; begin < group_end;) {
    const Item key = items_[begin] >> pos_bits;
    std::uint64_t end = begin + 1;
    while (end < group_end && items_[end] >> pos_bits == key) ++end;
    const auto of_part =
        static_cast<Pos>(keys == Keys::ranks ? key : group_rank + (begin - group_begin));
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

template <Position Pos>
void UndecidedSamples<Pos>::list_changes(std::uint64_t first,
                                         std::span<SampleChange<Pos>> changes) const {
  for_each_index(0, changes.size(), [&](std::uint64_t i) {
    const Pos number = numbers_[first + i];
    changes[i] = {number, ranks_[number], steps_[number]};
  });
}

template <Position Pos>
void UndecidedSamples<Pos>::apply(std::span<const SampleChange<Pos>> changes) {
  for_each_index(0, changes.size(), [&](std::uint64_t i) {
    ranks_[changes[i].number] = changes[i].rank;
    steps_[changes[i].number] = changes[i].step;
  });
}

template <Position Pos>
std::uint64_t double_steps(std::span<Pos> ranks, std::span<Pos> steps) {
  UndecidedSamples<Pos> undecided(ranks, steps, {.count = ranks.size()});
  if (undecided.empty()) return 0;
  std::uint64_t rounds = undecided.sort_by_runs() ? 1 : 0;
  for (; !undecided.empty(); ++rounds) undecided.sort_by_steps();
  return rounds;
}

template class UndecidedSamples<std::uint32_t>;
template class UndecidedSamples<std::uint64_t>;
SORTIE_FOR_BOTH_POSITIONS(part_of_samples);
SORTIE_FOR_BOTH_POSITIONS(double_steps);

}  // namespace sortie::suffix_array::host
