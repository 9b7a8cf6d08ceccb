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
        break;
      }
      const std::uint64_t last = order_.size() - 1;
      round([this, last, agreed](std::uint64_t position) -> const std::uint32_t* {
        return position + agreed <= last ? &ranks_[position + agreed] : nullptr;
      });
    }
    for_each_index(0, order_.size(),
                   [to = order_.data()](std::uint64_t i) { to[i] &= ~last_of_group; });
  }

 private:
  /// Marks an entry of the order that is the last one of its group.
  static constexpr std::uint32_t last_of_group = std::uint32_t{1} << 31;
  static constexpr std::uint64_t chunk_entries = 4096;

  /// Some entries of the order. A thread sorts the groups that begin in them.
  struct Chunk {
    std::uint64_t first = 0;    ///< the begin of the first group
    std::uint64_t members = 0;  ///< of all groups, 0 if there are none
  };
  struct Group {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] std::uint64_t size() const { return end - begin; }
  };

  /// Ranks and groups of an order by words.
  void first_groups() {
    chunks_.resize((order_.size() + chunk_entries - 1) / chunk_entries);
    for_each_task(chunks_.size(), [&](std::uint64_t chunk) {
      std::uint64_t begin = chunk * chunk_entries;
      const std::uint64_t end = chunk_end(chunk);
      while (begin < end && begin > 0 && words_[begin - 1] == words_[begin]) ++begin;
      while (begin < end) {
        std::uint64_t next = begin + 1;
        while (next < order_.size() && words_[next] == words_[begin]) ++next;
        make_group({begin, next});
        begin = next;
      }
    });
    count_members();
  }

  /// Sorts the suffixes of each group by keys. \param key_at  where the key of a suffix is; null: less than
  /// all others
  template <class KeyAt>
  void round(const KeyAt& key_at) {
    std::vector<std::vector<Group>> large(chunks_.size());
    for_each_task(chunks_.size(), [&](std::uint64_t chunk) {
      if (chunks_[chunk].members == 0) return;
      for_each_group(chunk, [&](const Group& group) {
        if (is_large(group)) return;
        for (std::uint64_t i = group.begin; i < group.end; ++i)
          __builtin_prefetch(key_at(position_at(i)));
      });
      for_each_group(chunk, [&](const Group& group) {
        if (is_large(group)) {
          large[chunk].push_back(group);
          return;
        }
        for (std::uint64_t i = group.begin; i < group.end; ++i)
          words_[i] = word(position_at(i), key_at);
        sort_members(words_.subspan(group.begin, group.size()));
      });
    });
    for (const std::vector<Group>& groups : large)
      for (const Group& group : groups) sort_large(group, key_at);
    // All have read the ranks.
    for_each_task(chunks_.size(), [&](std::uint64_t chunk) {
      if (chunks_[chunk].members == 0) return;
      for_each_group(chunk, [&](const Group& group) {
        if (!is_large(group)) divide_group(group, group.begin, group.end);
      });
    });
    for (const std::vector<Group>& groups : large)
      for (const Group& group : groups)
        for_each_share(thread_shares(group.size()),
                       [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
                         divide_group(group, group.begin + begin, group.begin + end);
                       });
    count_members();
  }

  /// Finds the first group of each chunk, and how many suffixes are left.
  void count_members() {
    for_each_task(chunks_.size(), [&](std::uint64_t index) {
      Chunk& chunk = chunks_[index];
      const std::uint64_t end = chunk_end(index);
      chunk.first = index * chunk_entries;
      chunk.members = 0;
      if (chunk.first > 0 && (order_[chunk.first - 1] & last_of_group) == 0) {
        while (chunk.first < end && (order_[chunk.first] & last_of_group) == 0) ++chunk.first;
        ++chunk.first;
      }
      while (chunk.first < end && (order_[chunk.first] & last_of_group) != 0) ++chunk.first;
      for_each_group(index, [&chunk](const Group& group) { chunk.members += group.size(); });
    });
    left_ = 0;
    for (const Chunk& chunk : chunks_) left_ += chunk.members;
  }

  [[nodiscard]] std::uint64_t chunk_end(std::uint64_t chunk) const {
    return std::min<std::uint64_t>(order_.size(), (chunk + 1) * chunk_entries);
  }

  /// Calls visit(group) for the groups of several suffixes that begin in a chunk. It may divide them.
  template <class Visit>
  void for_each_group(std::uint64_t chunk, const Visit& visit) {
    const std::uint64_t end = chunk_end(chunk);
    for (Group group{chunks_[chunk].first, 0}; group.begin < end; group.begin = group.end) {
      group.end = group.begin;
      while ((order_[group.end] & last_of_group) == 0) ++group.end;
      if (++group.end - group.begin > 1) visit(group);
    }
  }

  /// Whether all threads sort a group. Each such sort takes new memory, whose pages 16 threads clear slowly
  /// at a time, so not more than one group of a round.
  [[nodiscard]] bool is_large(const Group& group) const {
    return worker_threads() > 1 && group.size() > order_.size() / 2;
  }

  [[nodiscard]] std::uint32_t position_at(std::uint64_t i) const {
    return order_[i] & ~last_of_group;
  }

  template <class KeyAt>
  static std::uint64_t word(std::uint64_t position, const KeyAt& key_at) {
    const std::uint32_t* const key = key_at(position);
    return (key == nullptr ? 0 : std::uint64_t{*key} << 32) | position;
  }

  template <class KeyAt>
  void sort_large(const Group& group, const KeyAt& key_at) {
    for_each_share(thread_shares(group.size()),
                   [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
                     constexpr std::uint64_t ahead = 32;
                     for (std::uint64_t i = group.begin + begin; i < group.begin + end; ++i) {
                       if (i + ahead < group.end)
                         __builtin_prefetch(key_at(position_at(i + ahead)));
                       words_[i] = word(position_at(i), key_at);
                     }
                   });
    sortie::sort(context_, words_.subspan(group.begin, group.size()));
  }

  /// Writes the order of a group, and divides it, from its words: the parts that begin in [begin, end).
  void divide_group(const Group& group, std::uint64_t begin, std::uint64_t end) {
    const auto key = [this](std::uint64_t i) { return words_[i] >> 32; };
    while (begin < end && begin > group.begin && key(begin - 1) == key(begin)) ++begin;
    while (begin < end) {
      std::uint64_t next = begin + 1;
      while (next < group.end && key(next) == key(begin)) ++next;
      for (std::uint64_t i = begin; i < next; ++i)
        order_[i] = static_cast<std::uint32_t>(words_[i]);
      make_group({begin, next});
      begin = next;
    }
  }

  /// Ranks are above 0, which is the rank of the end.
  void make_group(const Group& group) {
    for (std::uint64_t i = group.begin; i < group.end; ++i)
      ranks_[order_[i]] = static_cast<std::uint32_t>(group.begin + 1);
    order_[group.end - 1] |= last_of_group;
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
  std::vector<Chunk> chunks_;
  std::uint64_t left_ = 0;  ///< suffixes in groups of several
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
