#include "sortie/apps/suffix_array/host/sample_rounds.hpp"

#include <algorithm>
#include <memory>

#include "sortie/apps/suffix_array/host/arrays.hpp"
#include "sortie/apps/suffix_array/host/element_sort.hpp"
#include "sortie/apps/suffix_array/host/pieces.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Groups of a task have so many items together, or one more group.
constexpr std::uint64_t task_items = std::uint64_t{1} << 13;

/// Samples that are not told apart yet, by group.
template <Position Pos>
class UndecidedSamples {
 public:
  using Item = Wide<Pos>;  ///< a key above the number of a sample

  UndecidedSamples(std::span<Pos> ranks, std::span<Pos> steps) : ranks_(ranks), steps_(steps) {
    items_ = allocate<Item>(ranks.size());
    for (std::uint64_t number = 0; number < ranks.size(); ++number) {
      items_[number] = item(ranks[number], static_cast<Pos>(number));
    }
    const std::uint64_t room = scratch_items(ranks.size());
    const auto scratch = allocate<Item>(room);
    sort_elements(items_.get(), ranks.size(), std::span(scratch.get(), room));
    starts_ = {0, static_cast<Pos>(ranks.size())};
    keep_equal([](std::uint64_t, std::uint64_t) {});
  }

  [[nodiscard]] bool empty() const { return starts_.size() == 1; }

  /// Sorts all groups by the ranks one step further on.
  void sort() {
    const std::uint64_t groups = starts_.size() - 1;
    std::vector<std::uint64_t> tasks = {0};
    for (std::uint64_t group = 0; group < groups; ++group) {
      if (starts_[group + 1] - starts_[tasks.back()] >= task_items) tasks.push_back(group + 1);
    }
    if (tasks.back() != groups) tasks.push_back(groups);
    for_each_task(tasks.size() - 1, [&](std::uint64_t task) {
      std::uint64_t largest = 0;
      for (std::uint64_t group = tasks[task]; group < tasks[task + 1]; ++group) {
        largest = std::max<std::uint64_t>(largest, starts_[group + 1] - starts_[group]);
      }
      const std::uint64_t room = scratch_items(largest);
      const auto scratch = allocate<Item>(room);
      const std::uint64_t end = starts_[tasks[task + 1]];
      for (std::uint64_t i = starts_[tasks[task]]; i < end; ++i) {
        const Pos number = number_of(items_[i]);
        items_[i] = item(ranks_[steps_[number]], number);
      }
      for (std::uint64_t group = tasks[task]; group < tasks[task + 1]; ++group) {
        const std::uint64_t begin = starts_[group];
        sort_elements(items_.get() + begin, starts_[group + 1] - begin,
                      std::span(scratch.get(), room));
      }
    });
  }

  /// Gives the samples their new ranks, drops those that have their own, and doubles the steps.
  void advance() {
    keep_equal([&](std::uint64_t begin, std::uint64_t end) {
      // The rank of the whole group is that of its first part, which comes first and keeps it.
      if (begin == group_begin_) group_rank_ = ranks_[number_of(items_[begin])];
      const auto rank = static_cast<Pos>(group_rank_ + (begin - group_begin_));
      for (std::uint64_t i = begin; i < end; ++i) ranks_[number_of(items_[i])] = rank;
    });
    // All are read before any changes: a step of two is two steps of one.
    const std::uint64_t size = starts_.back();
    const auto doubled = allocate<Pos>(size);
    constexpr std::uint64_t stretch = task_items;
    for_each_stretch(size, stretch, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        doubled[i] = steps_[steps_[number_of(items_[i])]];
      }
    });
    for_each_stretch(size, stretch, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) steps_[number_of(items_[i])] = doubled[i];
    });
  }

 private:
  static constexpr int pos_bits = 8 * sizeof(Pos);

  /// Scratch to sort `items`: of all threads together, a quarter of the samples at most.
  [[nodiscard]] std::uint64_t scratch_items(std::uint64_t items) const {
    constexpr std::uint64_t least = std::uint64_t{1} << 14;
    const auto threads = static_cast<std::uint64_t>(std::max(host_threads(), 1));
    return std::min(items, std::max(least, ranks_.size() / (4 * threads)));
  }

  static Item item(Pos key, Pos number) { return Item{key} << pos_bits | number; }
  static Pos number_of(Item item) { return static_cast<Pos>(item); }

  /// Replaces the groups by their parts with equal keys of two or more.
  /// \param visit  called with every part, [begin, end) of the items, before it may move
  template <class Visit>
  void keep_equal(const Visit& visit) {
    std::vector<Pos> starts = {0};
    Pos kept = 0;
    for (std::size_t group = 0; group + 1 < starts_.size(); ++group) {
      group_begin_ = starts_[group];
      const std::uint64_t group_end = starts_[group + 1];
      for (std::uint64_t begin = group_begin_; begin < group_end;) {
        const Item key = items_[begin] >> pos_bits;
        std::uint64_t end = begin + 1;
        while (end < group_end && items_[end] >> pos_bits == key) ++end;
        visit(begin, end);
        if (end - begin > 1) {
          std::copy(items_.get() + begin, items_.get() + end, items_.get() + kept);
          kept += static_cast<Pos>(end - begin);
          starts.push_back(kept);
        }
        begin = end;
      }
    }
    starts_ = std::move(starts);
  }

  std::span<Pos> ranks_;
  std::span<Pos> steps_;
  Array<Item> items_;
  std::vector<Pos> starts_;  ///< of the groups among the items, and the end of the last
  std::uint64_t group_begin_ = 0;
  Pos group_rank_ = 0;
};

}  // namespace

template <Position Pos>
std::uint64_t double_steps(std::span<Pos> ranks, std::span<Pos> steps) {
  std::uint64_t rounds = 0;
  for (UndecidedSamples<Pos> undecided(ranks, steps); !undecided.empty(); ++rounds) {
    undecided.sort();
    undecided.advance();
  }
  return rounds;
}

template std::uint64_t double_steps(std::span<std::uint32_t>, std::span<std::uint32_t>);
template std::uint64_t double_steps(std::span<std::uint64_t>, std::span<std::uint64_t>);

}  // namespace sortie::suffix_array::host
