// SPDX-License-Identifier: Apache-2.0

// Prefix doubling of names. The suffixes are sorted by as many names as fit 64 bits, then groups that agree
// so far by the ranks of the suffixes as many names later, round by round.
//
// A task has the groups that begin in some thousand entries of the order, in all rounds. So no list of all
// groups is made between rounds, which one thread would do:
//
//   order    | g0 | g1 |  | g2          |  g3 | ...       gaps are suffixes that are in place
//            task 0            task 1
//   words    from the first entry of a task on: its members in a round
//   groups   from half of that on: there are at most half as many groups as entries
//
// | array      | elements     | bytes each | lifetime |
// |------------|--------------|------------|----------|
// | words      | names        | 8          | all; at first, keys of names |
// | ranks      | names        | 4          | rounds   |
// | groups     | names / 2    | 8          | rounds, twice: of this one and of the next |
#include "apps/suffix_array/host/induced/name_doubling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "primitives/host/parallel.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "sortie/sort.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Names of a key, by which the suffixes are sorted at first.
constexpr int most_names = 3;

/// Entries [begin, end) of the order, whose suffixes agree so far.
struct Group {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Groups that a thread sorts at a time.
struct GroupTask {
  std::uint32_t first = 0;    ///< entry of the order at which the first group began
  std::uint32_t groups = 0;   ///< how many
  std::uint32_t members = 0;  ///< of all groups

  /// The first group in the array of groups: those before are fewer than half of the entries before.
  [[nodiscard]] std::uint32_t place() const { return first / 2 + first % 2; }
};

/// Sorts words by their high halves. Most groups have a few.
void sort_members(std::span<std::uint64_t> words) {
  constexpr std::size_t few = 24;
  if (words.size() > few) {
    if (has_fast_word_sort()) {
      sort_words(words.data(), words.size(), 32);
    } else {
      std::sort(words.begin(), words.end());
    }
    return;
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::uint64_t word = words[i];
    std::size_t at = i;
    for (; at > 0 && words[at - 1] > word; --at) words[at] = words[at - 1];
    words[at] = word;
  }
}

class NameDoubling {
 public:
  NameDoubling(std::span<std::uint32_t> order, std::span<std::uint32_t> ranks,
               std::span<std::uint64_t> words, ScratchStack& scratch)
      : order_(order),
        ranks_(ranks),
        words_(words),
        groups_(scratch.take<Group>(order.size() / 2 + 1)),
        next_groups_(scratch.take<Group>(order.size() / 2 + 1)) {}

  /// Ranks and groups of an order by keys.
  void begin(std::span<const std::uint64_t> sorted_keys) {
    constexpr std::uint64_t entries = 8192;
    const EqualShares shares{order_.size(), order_.size() / entries + 1};
    tasks_.resize(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      // The share has the groups that begin in it.
      while (begin < end && begin > 0 && sorted_keys[begin - 1] == sorted_keys[begin]) ++begin;
      GroupTask& task = tasks_[share];
      task.first = static_cast<std::uint32_t>(begin);
      while (begin < end) {
        std::uint64_t next = begin + 1;
        while (next < order_.size() && sorted_keys[next] == sorted_keys[begin]) ++next;
        set_ranks(begin, next);
        add_group(begin, next, task);
        begin = next;
      }
    });
    end_round();
  }

  /// Sorts the suffixes of each group, which agree in `step` names, by the next names.
  void round(std::uint64_t step) {
    for_each_task(tasks_.size(), [&](std::uint64_t task) { sort_groups(tasks_[task], step); });
    // All have read the ranks.
    for_each_task(tasks_.size(), [&](std::uint64_t task) { divide_groups(tasks_[task]); });
    end_round();
  }

  [[nodiscard]] bool is_done() const { return tasks_.empty(); }

 private:
  /// Ranks are above 0, which is the rank of the end.
  void set_ranks(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i)
      ranks_[order_[i]] = static_cast<std::uint32_t>(begin + 1);
  }
  void add_group(std::uint64_t begin, std::uint64_t end, GroupTask& task) {
    if (end - begin == 1) return;
    next_groups_[task.place() + task.groups++] = {static_cast<std::uint32_t>(begin),
                                                  static_cast<std::uint32_t>(end)};
    task.members += static_cast<std::uint32_t>(end - begin);
  }

  void end_round() {
    std::swap(groups_, next_groups_);
    std::erase_if(tasks_, [](const GroupTask& task) { return task.groups == 0; });
    // Those that take longest begin first.
    constexpr std::uint32_t large = 1 << 15;
    std::partition(tasks_.begin(), tasks_.end(),
                   [](const GroupTask& task) { return task.members > large; });
  }

  [[nodiscard]] std::span<const Group> groups_of(const GroupTask& task) const {
    return groups_.subspan(task.place(), task.groups);
  }

  /// The words of a task: the rank of the suffix `step` names later above the position.
  void sort_groups(const GroupTask& task, std::uint64_t step) {
    const std::uint64_t last = order_.size() - 1;
    for (const Group& group : groups_of(task))
      for (std::uint64_t i = group.begin; i < group.end; ++i)
        __builtin_prefetch(&ranks_[std::min(order_[i] + step, last)]);
    std::uint64_t* words = words_.data() + task.first;
    for (const Group& group : groups_of(task)) {
      const std::uint64_t members = group.end - group.begin;
      std::uint64_t different = 0;
      for (std::uint64_t i = 0; i < members; ++i) {
        const std::uint64_t position = order_[group.begin + i];
        const std::uint64_t rank = position + step <= last ? ranks_[position + step] : 0;
        words[i] = rank << 32 | position;
        different |= words[i] ^ words[0];
      }
      if (different >> 32 != 0) sort_members({words, members});
      words += members;
    }
  }

  void divide_groups(GroupTask& task) {
    const std::span<const Group> groups = groups_of(task);
    const std::uint64_t* words = words_.data() + task.first;
    task.groups = 0;
    task.members = 0;
    for (const Group& group : groups) {
      const std::uint64_t members = group.end - group.begin;
      for (std::uint64_t i = 0; i < members; ++i)
        order_[group.begin + i] = static_cast<std::uint32_t>(words[i]);
      for (std::uint64_t begin = 0; begin < members;) {
        std::uint64_t end = begin + 1;
        while (end < members && words[end] >> 32 == words[begin] >> 32) ++end;
        // The first ones keep their rank: in long repeats, these are most.
        if (begin > 0) set_ranks(group.begin + begin, group.begin + end);
        add_group(group.begin + begin, group.begin + end, task);
        begin = end;
      }
      words += members;
    }
  }

  std::span<std::uint32_t> order_;
  std::span<std::uint32_t> ranks_;  ///< of each suffix, the first entry of its group, from 1 on
  std::span<std::uint64_t> words_;
  std::span<Group> groups_;
  std::span<Group> next_groups_;
  std::vector<GroupTask> tasks_;
};

}  // namespace

void sort_by_doubling(const HostContext& context, std::span<const std::uint32_t> names,
                      std::uint32_t distinct, std::span<std::uint32_t> order,
                      ScratchStack& scratch) {
  const ScratchStack::Scope scope(scratch);
  const auto words = scratch.take<std::uint64_t>(names.size());
  const int bits = std::bit_width(distinct);
  const int length = std::min(most_names, 64 / bits);
  for_each_index(0, names.size(), [=, size = names.size()](std::uint64_t i) {
    std::uint64_t key = 0;
    for (int k = 0; k < length; ++k)
      key = key << bits | (i + k < size ? names[i + k] + std::uint64_t{1} : 0);
    words[i] = key;
    order[i] = static_cast<std::uint32_t>(i);
  });
  Context sorting;
  sorting.backend = Backend::host;
  sorting.threads = context.threads;
  sortie::sort(sorting, words, order);
  // Taken now, so that they need no memory besides that of the sort.
  const auto ranks = scratch.take<std::uint32_t>(names.size());
  NameDoubling doubling(order, ranks, words, scratch);
  doubling.begin(words);
  for (std::uint64_t step = static_cast<std::uint64_t>(length); !doubling.is_done(); step *= 2)
    doubling.round(step);
}

}  // namespace sortie::suffix_array::host
