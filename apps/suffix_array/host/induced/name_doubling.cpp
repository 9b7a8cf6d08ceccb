// SPDX-License-Identifier: Apache-2.0

// Prefix doubling for strings of names.
//
// 1. first sort  Suffixes by their first names, as many as a word of 64 bits holds.
// 2. rounds      Suffixes that agree in `agreed` names form a group. Each group is sorted by the ranks of the
//                suffixes `agreed` names later, so that then twice as many agree.
// 3. minimizers  Where many suffixes agree in eight names: those that begin at minimizers of these names, a
//                quarter, form a string of their own, whose names are the ranks of now. Its suffixes are
//                sorted by these steps, and their order is the key of one last round.
#include "apps/suffix_array/host/induced/name_doubling.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/suffix_array/host/minimizers/minimizers.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/simd/vector_sort.hpp"
#include "sortie/sort.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Names that suffixes agree in before minimizers are sorted, and their window.
constexpr std::uint64_t agreed_names = 8;
constexpr std::uint64_t name_window = agreed_names - 1;
/// Below this, a few rounds more take less time.
constexpr std::uint64_t least_minimized = 1 << 16;

/// Entries [begin, end) of the order, whose suffixes agree so far.
struct Group {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Groups of some thousand suffixes, which a thread sorts at a time, or one large group, which all threads
/// sort.
struct GroupTask {
  std::vector<Group> groups;
  std::uint64_t members = 0;
  std::uint64_t before = 0;  ///< members of all tasks before

  void add(Group group) {
    groups.push_back(group);
    members += group.end - group.begin;
  }
};

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

Context sorting_context(const HostContext& context) {
  Context sorting;
  sorting.backend = Backend::host;
  sorting.threads = context.threads;
  return sorting;
}

class NameDoubling {
 public:
  NameDoubling(const HostContext& context, std::span<std::uint32_t> order,
               std::span<std::uint64_t> words, ScratchStack& scratch)
      : context_(sorting_context(context)),
        order_(order),
        words_(words),
        scratch_(scratch),
        ranks_(scratch.take<std::uint32_t>(order.size())) {}

  /// \param agreed  names in a word, which are the keys of all suffixes by position
  /// \param names   empty if words are names
  void run(std::uint64_t agreed, std::span<const std::uint32_t> names) {
    for_each_index(0, order_.size(), [to = order_.data()](std::uint64_t i) {
      to[i] = static_cast<std::uint32_t>(i);
    });
    sortie::sort(context_, words_, order_);
    first_groups();
    // The values of minimizers are those of single names, so before ranks are those of several.
    const bool may_minimize = left_ >= least_minimized;
    Minimizers minimizers;
    if (may_minimize) minimizers = names.empty() ? minimizers_of(ranks_) : minimizers_of(names);
    for (; left_ > 0; agreed *= 2) {
      if (agreed >= agreed_names && may_minimize && left_ >= least_minimized &&
          left_ > minimizers.positions.size()) {
        sort_by_minimizers(minimizers);
        return;
      }
      const std::uint64_t last = order_.size() - 1;
      round([this, last, agreed](std::uint64_t position) -> const std::uint32_t* {
        return position + agreed <= last ? &ranks_[position + agreed] : nullptr;
      });
    }
  }

 private:
  /// Ranks and groups of an order by words.
  void first_groups() {
    constexpr std::uint64_t range = 1 << 14;
    std::vector<std::vector<GroupTask>> found(order_.size() / range + 1);
    for_each_range(order_.size(), range, [&](std::uint64_t begin, std::uint64_t end) {
      std::vector<GroupTask>& tasks = found[begin / range];
      // The range has the groups that begin in it.
      while (begin < end && begin > 0 && words_[begin - 1] == words_[begin]) ++begin;
      while (begin < end) {
        std::uint64_t next = begin + 1;
        while (next < order_.size() && words_[next] == words_[begin]) ++next;
        add_group(begin, next, tasks);
        begin = next;
      }
    });
    join(found);
  }

  /// Sorts the suffixes of each group by keys. \param key_at  where the key of a suffix is; null: less than
  /// all others
  template <class KeyAt>
  void round(const KeyAt& key_at) {
    const auto is_large = [this](const GroupTask& task) { return task.members >= large_group(); };
    for_each_task(tasks_.size(), [&](std::uint64_t task) {
      if (!is_large(tasks_[task])) sort_groups(tasks_[task], key_at);
    });
    for (const GroupTask& task : tasks_)
      if (is_large(task)) sort_large(task, key_at);
    // All have read the ranks.
    std::vector<std::vector<GroupTask>> found(tasks_.size());
    for_each_task(tasks_.size(), [&](std::uint64_t task) {
      if (!is_large(tasks_[task])) divide_groups(tasks_[task], found[task]);
    });
    for (std::size_t task = 0; task < tasks_.size(); ++task)
      if (is_large(tasks_[task])) found[task] = divide_large(tasks_[task]);
    join(found);
  }

  /// Members from which a group is one that all threads sort.
  [[nodiscard]] std::uint64_t large_group() const {
    if (worker_threads() == 1) return order_.size() + 1;
    return std::max<std::uint64_t>(order_.size() / (8 * worker_threads()), 1 << 15);
  }

  /// Ranks are above 0, which is the rank of the end.
  void add_group(std::uint64_t begin, std::uint64_t end, std::vector<GroupTask>& tasks) {
    constexpr std::uint64_t most_members = 4096;
    for (std::uint64_t i = begin; i < end; ++i)
      ranks_[order_[i]] = static_cast<std::uint32_t>(begin + 1);
    const std::uint64_t members = end - begin;
    if (members == 1) return;
    if (tasks.empty() || tasks.back().members >= most_members || members >= large_group())
      tasks.emplace_back();
    tasks.back().add({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  }

  /// The tasks of the next round; small ones are joined.
  void join(std::vector<std::vector<GroupTask>>& found) {
    constexpr std::uint64_t least_members = 1024;
    tasks_.clear();
    left_ = 0;
    for (std::vector<GroupTask>& part : found)
      for (GroupTask& task : part) {
        left_ += task.members;
        if (!tasks_.empty() && tasks_.back().members + task.members < least_members) {
          for (const Group& group : task.groups) tasks_.back().add(group);
        } else {
          task.before = left_ - task.members;
          tasks_.push_back(std::move(task));
        }
      }
  }

  template <class KeyAt>
  static std::uint64_t word(std::uint64_t position, const KeyAt& key_at) {
    const std::uint32_t* const key = key_at(position);
    return (key == nullptr ? 0 : std::uint64_t{*key} << 32) | position;
  }

  /// The words of a task: the key of the suffix above the position.
  template <class KeyAt>
  void sort_groups(const GroupTask& task, const KeyAt& key_at) {
    for (const Group& group : task.groups)
      for (std::uint64_t i = group.begin; i < group.end; ++i) __builtin_prefetch(key_at(order_[i]));
    std::uint64_t* words = words_.data() + task.before;
    for (const Group& group : task.groups) {
      const std::uint64_t members = group.end - group.begin;
      for (std::uint64_t i = 0; i < members; ++i) words[i] = word(order_[group.begin + i], key_at);
      sort_members({words, members});
      words += members;
    }
  }

  /// The same for one group on all threads.
  template <class KeyAt>
  void sort_large(const GroupTask& task, const KeyAt& key_at) {
    const std::uint64_t first = task.groups.front().begin;
    const std::span<std::uint64_t> words = words_.subspan(task.before, task.members);
    for_each_share(thread_shares(task.members),
                   [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
                     constexpr std::uint64_t ahead = 32;
                     for (std::uint64_t i = begin; i < end; ++i) {
                       if (i + ahead < end) __builtin_prefetch(key_at(order_[first + i + ahead]));
                       words[i] = word(order_[first + i], key_at);
                     }
                   });
    sortie::sort(context_, words);
  }

  void divide_groups(const GroupTask& task, std::vector<GroupTask>& found) {
    const std::uint64_t* words = words_.data() + task.before;
    for (const Group& group : task.groups) {
      const std::uint64_t members = group.end - group.begin;
      divide({words, members}, group.begin, 0, members, found);
      words += members;
    }
  }

  std::vector<GroupTask> divide_large(const GroupTask& task) {
    const EqualShares shares = thread_shares(task.members);
    std::vector<std::vector<GroupTask>> found(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      divide(words_.subspan(task.before, task.members), task.groups.front().begin, begin, end,
             found[share]);
    });
    std::vector<GroupTask> all;
    for (auto& part : found)
      all.insert(all.end(), std::move_iterator(part.begin()), std::move_iterator(part.end()));
    return all;
  }

  /// Writes the order of a group, and divides it, from its words: the parts that begin in [begin, end).
  void divide(std::span<const std::uint64_t> words, std::uint64_t first, std::uint64_t begin,
              std::uint64_t end, std::vector<GroupTask>& found) {
    while (begin < end && begin > 0 && words[begin - 1] >> 32 == words[begin] >> 32) ++begin;
    while (begin < end) {
      std::uint64_t next = begin + 1;
      while (next < words.size() && words[next] >> 32 == words[begin] >> 32) ++next;
      for (std::uint64_t i = begin; i < next; ++i)
        order_[first + i] = static_cast<std::uint32_t>(words[i]);
      add_group(first + begin, first + next, found);
      begin = next;
    }
  }

  [[nodiscard]] Minimizers minimizers_of(std::span<const std::uint32_t> names) {
    // Positions near the end agree with no others in eight names, and need no minimizers.
    const std::uint64_t size = names.size();
    const auto value = [names, size](std::uint64_t position) {
      return position < size ? names[position] * 0x9e3779b1 : 0xffffffff;
    };
    const EqualShares shares = thread_shares(size);
    std::vector<std::uint64_t> counts(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t count = 0;
      for_each_minimizer(begin, end, name_window, value,
                         [&](std::uint64_t, std::uint64_t) { ++count; });
      counts[share] = count;
    });
    const std::vector<std::uint64_t> places = begins_of(counts);
    const Minimizers found{scratch_.take<std::uint32_t>(places.back()),
                           scratch_.take<std::uint32_t>(places.back() + 1)};
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      std::uint64_t to = places[share];
      for_each_minimizer(begin, end, name_window, value,
                         [&](std::uint64_t suffix, std::uint64_t minimizer) {
                           found.first[to] = static_cast<std::uint32_t>(suffix);
                           found.positions[to++] = static_cast<std::uint32_t>(minimizer);
                         });
    });
    found.first[places.back()] = static_cast<std::uint32_t>(size);
    return found;
  }

  /// Sorts groups whose suffixes agree in at least eight names. Their order is final.
  void sort_by_minimizers(const Minimizers& minimizers) {
    const std::uint64_t count = minimizers.positions.size();
    const auto keys = scratch_.take<std::uint32_t>(order_.size());
    {
      const ScratchStack::Scope scope(scratch_);
      const auto names = scratch_.take<std::uint32_t>(count);
      const auto order = scratch_.take<std::uint32_t>(count);
      for_each_index(0, count, [this, names, from = minimizers.positions](std::uint64_t i) {
        names[i] = ranks_[from[i]];
      });
      sort_by_doubling(context_, names, order_.size() + 1, order, scratch_);
      for_each_index(0, count,
                     [=](std::uint64_t i) { names[order[i]] = static_cast<std::uint32_t>(i + 1); });
      for_each_index(0, count, [=, first = minimizers.first](std::uint64_t i) {
        std::fill(keys.begin() + first[i], keys.begin() + first[i + 1], names[i]);
      });
    }
    round([keys](std::uint64_t position) -> const std::uint32_t* { return &keys[position]; });
  }

  Context context_;
  std::span<std::uint32_t> order_;
  std::span<std::uint64_t> words_;
  ScratchStack& scratch_;
  std::span<std::uint32_t> ranks_;  ///< of each suffix, the first entry of its group, from 1 on
  std::vector<GroupTask> tasks_;
  std::uint64_t left_ = 0;  ///< members of all tasks
};

}  // namespace

void sort_by_doubling(const HostContext& context, std::span<const std::uint32_t> names,
                      std::uint64_t alphabet, std::span<std::uint32_t> order,
                      ScratchStack& scratch) {
  const ScratchStack::Scope scope(scratch);
  const auto words = scratch.take<std::uint64_t>(names.size());
  const int bits = std::bit_width(alphabet);
  const std::uint64_t in_word = std::min<std::uint64_t>(64 / static_cast<unsigned>(bits), 4);
  for_each_index(0, names.size(), [=, size = names.size()](std::uint64_t i) {
    std::uint64_t word = 0;
    for (std::uint64_t at = i; at < i + in_word; ++at)
      word = word << bits | (at < size ? names[at] + 1 : 0);
    words[i] = word;
  });
  NameDoubling(context, order, words, scratch).run(in_word, names);
}

void sort_by_doubling_of_keys(const HostContext& context, std::span<std::uint64_t> names,
                              std::span<std::uint32_t> order, ScratchStack& scratch) {
  const ScratchStack::Scope scope(scratch);
  NameDoubling(context, order, names, scratch).run(1, {});
}

}  // namespace sortie::suffix_array::host
