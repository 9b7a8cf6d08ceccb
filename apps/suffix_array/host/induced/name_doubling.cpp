// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/induced/name_doubling.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "primitives/host/parallel.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "sortie/sort.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Entries [begin, end) of the order, whose suffixes agree so far.
struct Group {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Groups of some thousand suffixes, which a thread sorts at a time.
struct GroupTask {
  std::size_t begin = 0;      ///< the first group
  std::size_t end = 0;        ///< behind the last one
  std::uint64_t members = 0;  ///< of all groups before
};

std::vector<GroupTask> tasks_of(const std::vector<Group>& groups) {
  constexpr std::uint64_t most_members = 4096;
  std::vector<GroupTask> tasks;
  std::uint64_t members = 0;
  for (std::size_t begin = 0; begin < groups.size();) {
    GroupTask task{begin, begin, members};
    while (task.end < groups.size() && members - task.members < most_members) {
      members += groups[task.end].end - groups[task.end].begin;
      ++task.end;
    }
    begin = task.end;
    tasks.push_back(task);
  }
  return tasks;
}

/// Sorts words by their high halves. Most groups have a few.
void sort_members(std::span<std::uint64_t> words) {
  constexpr std::size_t few = 24;
  if (words.size() > few) {
    if (has_vector_sort()) {
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
               std::span<std::uint64_t> words)
      : order_(order), ranks_(ranks), words_(words) {}

  /// Ranks and groups of an order by names.
  void begin(std::span<const std::uint32_t> sorted_names) {
    const EqualShares shares = thread_shares(order_.size());
    std::vector<std::vector<Group>> found(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      // The share has the groups that begin in it.
      while (begin < end && begin > 0 && sorted_names[begin - 1] == sorted_names[begin]) ++begin;
      while (begin < end) {
        std::uint64_t next = begin + 1;
        while (next < order_.size() && sorted_names[next] == sorted_names[begin]) ++next;
        add_group(begin, next, found[share]);
        begin = next;
      }
    });
    join(found);
  }

  /// Sorts the suffixes of each group, which agree in `step` names, by the next names.
  void round(std::uint64_t step) {
    const std::vector<GroupTask> tasks = tasks_of(groups_);
    for_each_task(tasks.size(), [&](std::uint64_t task) { sort_groups(tasks[task], step); });
    // All have read the ranks.
    std::vector<std::vector<Group>> found(tasks.size());
    for_each_task(tasks.size(),
                  [&](std::uint64_t task) { divide_groups(tasks[task], found[task]); });
    join(found);
  }

  [[nodiscard]] bool is_done() const { return groups_.empty(); }

 private:
  /// Ranks are above 0, which is the rank of the end.
  void add_group(std::uint64_t begin, std::uint64_t end, std::vector<Group>& groups) {
    for (std::uint64_t i = begin; i < end; ++i)
      ranks_[order_[i]] = static_cast<std::uint32_t>(begin + 1);
    if (end - begin > 1)
      groups.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  }

  void join(const std::vector<std::vector<Group>>& found) {
    groups_.clear();
    for (const std::vector<Group>& part : found)
      groups_.insert(groups_.end(), part.begin(), part.end());
  }

  /// The words of a task: the rank of the suffix `step` names later above the position.
  void sort_groups(const GroupTask& task, std::uint64_t step) {
    const std::uint64_t last = order_.size() - 1;
    for (std::size_t g = task.begin; g < task.end; ++g)
      for (std::uint64_t i = groups_[g].begin; i < groups_[g].end; ++i)
        __builtin_prefetch(&ranks_[std::min(order_[i] + step, last)]);
    std::uint64_t* words = words_.data() + task.members;
    for (std::size_t g = task.begin; g < task.end; ++g) {
      const std::uint64_t members = groups_[g].end - groups_[g].begin;
      for (std::uint64_t i = 0; i < members; ++i) {
        const std::uint64_t position = order_[groups_[g].begin + i];
        const std::uint64_t rank = position + step <= last ? ranks_[position + step] : 0;
        words[i] = rank << 32 | position;
      }
      sort_members({words, members});
      words += members;
    }
  }

  void divide_groups(const GroupTask& task, std::vector<Group>& found) {
    const std::uint64_t* words = words_.data() + task.members;
    for (std::size_t g = task.begin; g < task.end; ++g) {
      const std::uint64_t first = groups_[g].begin;
      const std::uint64_t members = groups_[g].end - first;
      for (std::uint64_t i = 0; i < members; ++i)
        order_[first + i] = static_cast<std::uint32_t>(words[i]);
      for (std::uint64_t begin = 0; begin < members;) {
        std::uint64_t end = begin + 1;
        while (end < members && words[end] >> 32 == words[begin] >> 32) ++end;
        add_group(first + begin, first + end, found);
        begin = end;
      }
      words += members;
    }
  }

  std::span<std::uint32_t> order_;
  std::span<std::uint32_t> ranks_;  ///< of each suffix, the first entry of its group, from 1 on
  std::span<std::uint64_t> words_;
  std::vector<Group> groups_;
};

}  // namespace

void sort_by_doubling(const HostContext& context, std::span<const std::uint32_t> names,
                      std::span<std::uint32_t> order, ScratchStack& scratch) {
  const ScratchStack::Scope scope(scratch);
  const auto ranks = scratch.take<std::uint32_t>(names.size());
  const auto words = scratch.take<std::uint64_t>(names.size());
  const std::span<std::uint32_t> sorted(reinterpret_cast<std::uint32_t*>(words.data()),
                                        names.size());
  for_each_index(0, names.size(), [=](std::uint64_t i) {
    sorted[i] = names[i];
    order[i] = static_cast<std::uint32_t>(i);
  });
  Context sorting;
  sorting.backend = Backend::host;
  sorting.threads = context.threads;
  sortie::sort(sorting, sorted, order);
  NameDoubling doubling(order, ranks, words);
  doubling.begin(sorted);
  for (std::uint64_t step = 1; !doubling.is_done(); step *= 2) doubling.round(step);
}

}  // namespace sortie::suffix_array::host
