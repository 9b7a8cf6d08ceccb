// SPDX-License-Identifier: Apache-2.0

// Induction for a string of names on several threads. Both scans go over all entries in blocks; a block
// takes four steps:
//
// 1. gather   Each thread has a share of the block, and reads the name before each suffix.
// 2. inner    Entries that induce one in a bucket that reaches into this block are few. One thread takes
//             them in their order, together with the entries that they induce within the block.
// 3. sort     Each thread sorts the suffixes that its share induces in the other buckets by groups of
//             buckets, which have about as many entries each.
// 4. place    Each thread takes a group of buckets, and places these suffixes, share by share.
//
//   entries   |  before: final  |  block: share 0 | share 1 | ...  |  after: groups 3, 4, 5 ...   |
//                                    step 2: inner ----^        step 4: ----^   ^   ^
//
// An entry is the position of a suffix in the high 32 bits and the name before it in the low ones, or
// `unknown`. The first scan clears entries of LMS suffixes once they have been used, and marks those of
// type L that a suffix of type S precedes.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/suffix_array/host/induced/induction.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {
namespace {

constexpr std::uint32_t unknown = 0xffffffff;
constexpr std::uint64_t no_entry = 0xffffffffffffffff;
/// In the first scan, of an LMS suffix; afterwards, of one of type L whose predecessor is of type S.
constexpr std::uint64_t mark = std::uint64_t{1} << 63;

constexpr std::uint32_t position_of(std::uint64_t entry) {
  return static_cast<std::uint32_t>((entry & ~mark) >> 32);
}
constexpr std::uint32_t before(std::uint64_t entry) {
  return static_cast<std::uint32_t>(entry);
}
constexpr std::uint64_t entry_of(std::uint32_t position, std::uint32_t before) {
  return std::uint64_t{position} << 32 | before;
}

/// Which entries of a block have some property.
class BlockBits {
 public:
  explicit BlockBits(std::uint32_t block) : words_(block / 64 + 1) {}

  void set(std::uint32_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void set_word(std::uint32_t word, std::uint64_t bits) { words_[word] = bits; }

  /// Calls visit(i) for bits [begin, end), also for those that are set behind i meanwhile.
  /// \pre begin and end are multiples of 64
  template <class Visit>
  void visit_ascending(std::uint32_t begin, std::uint32_t end, const Visit& visit) const {
    for (std::uint32_t word = begin / 64; word < end / 64; ++word) {
      std::uint64_t done = 0;
      while (const std::uint64_t left = words_[word] & ~done) {
        const int bit = std::countr_zero(left);
        done |= (left & (0 - left)) * 2 - 1;
        visit(word * 64 + static_cast<std::uint32_t>(bit));
      }
    }
  }
  template <class Visit>
  void visit_descending(std::uint32_t begin, std::uint32_t end, const Visit& visit) const {
    for (std::uint32_t word = end / 64; word-- > begin / 64;) {
      std::uint64_t left_out = 0;
      while (const std::uint64_t left = words_[word] & ~left_out) {
        const int bit = 63 - std::countl_zero(left);
        left_out = ~std::uint64_t{0} << bit;
        visit(word * 64 + static_cast<std::uint32_t>(bit));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

class NameBlockInduction {
 public:
  NameBlockInduction(const SymbolString<std::uint32_t>& names, ScratchStack& scratch,
                     std::uint32_t block)
      : names_(names.symbols),
        entries_(scratch.take<std::uint64_t>(names.size())),
        begins_(scratch.take<std::uint32_t>(names.alphabet + 1)),
        next_(scratch.take<std::uint32_t>(names.alphabet)),
        share_(std::max<std::uint32_t>(
            64, static_cast<std::uint32_t>(block / worker_threads()) / 64 * 64)),
        shares_(static_cast<std::uint32_t>(worker_threads())),
        block_(share_ * shares_),
        inner_(block_),
        outer_(block_),
        inner_before_(block_),
        induced_(block_),
        group_ends_(std::uint64_t{shares_} * (groups + 1)) {
    count_names();
    group_names();
    for_each_index(0, entries_.size(),
                   [to = entries_.data()](std::uint64_t at) { to[at] = no_entry; });
  }

  /// \param firsts  memory for one number for each LMS suffix
  void place_lms(std::span<const LmsSuffix> lms, std::span<const std::uint32_t> order,
                 std::span<std::uint32_t> firsts) {
    // Behind the last one of each name in the order.
    const std::span<std::uint32_t> ends = next_;
    for_each_share(thread_shares(order.size()),
                   [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
                     for (std::uint64_t i = begin; i < end; ++i) {
                       if (i + ahead < end) __builtin_prefetch(&lms[order[i + ahead]]);
                       if (i + ahead / 2 < end)
                         __builtin_prefetch(&names_[lms[order[i + ahead / 2]].position]);
                       firsts[i] = names_[lms[order[i]].position];
                     }
                   });
    for_each_index(0, order.size(), [=, last = order.size() - 1](std::uint64_t i) {
      if (i == last || firsts[i] != firsts[i + 1])
        ends[firsts[i]] = static_cast<std::uint32_t>(i + 1);
    });
    for_each_share(thread_shares(order.size()),
                   [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
                     for (std::uint64_t i = begin; i < end; ++i) {
                       if (i + ahead < end) __builtin_prefetch(&lms[order[i + ahead]]);
                       const LmsSuffix& suffix = lms[order[i]];
                       const std::uint32_t name = firsts[i];
                       entries_[begins_[name + 1] - (ends[name] - i)] =
                           entry_of(suffix.position, suffix.before) | mark;
                     }
                   });
  }

  void scan_left_to_right() {
    for_each_index(0, next_.size(),
                   [to = next_, from = begins_](std::uint64_t name) { to[name] = from[name]; });
    const auto last = static_cast<std::uint32_t>(names_.size() - 1);
    entries_[next_[names_[last]]++] = entry_of(last, unknown);
    for (std::uint64_t begin = 0; begin < entries_.size(); begin += block_) {
      const std::uint64_t end = std::min<std::uint64_t>(entries_.size(), begin + block_);
      // Buckets of names below `limit` begin before the end of the block.
      auto limit = static_cast<std::uint32_t>(
          std::lower_bound(begins_.begin(), begins_.end() - 1, end) - begins_.begin());
      if (next_[limit - 1] >= end) --limit;
      const auto is_inner = [=](std::uint32_t name) { return name < limit; };
      gather(begin, end, is_inner, [this](std::uint64_t at, Found& found) {
        const std::uint64_t entry = entries_[at];
        const std::uint32_t position = position_of(entry);
        if (position == 0) return;
        if ((entry & mark) != 0) {
          found = {true, before(entry), position};
          return;
        }
        const std::uint32_t name = names_[position - 1];
        found = {name >= names_[position], name, position};
        entries_[at] = entry_of(position, name) | (found.induces ? 0 : mark);
      });
      inner_.visit_ascending(0, block_, [&](std::uint32_t i) {
        std::uint64_t& entry = entries_[begin + i];
        const std::uint32_t name = before(entry);
        const std::uint32_t position = position_of(entry) - 1;
        if ((entry & mark) != 0) entry = no_entry;
        const std::uint32_t to = next_[name]++;
        if (to >= end) {
          entries_[to] = entry_of(position, unknown);
          return;
        }
        const std::uint32_t known = inner_before_[i];
        entries_[to] = entry_of(position, known) | (position > 0 && known < name ? mark : 0);
        if (position > 0 && known >= name) add_induced(to - begin, is_inner(known), position);
      });
      sort_shares(
          [&](std::uint32_t first, std::uint32_t last, const auto& visit) {
            outer_.visit_ascending(first, last,
                                   [&](std::uint32_t i) { visit(entries_[begin + i]); });
          },
          [&](std::uint32_t first, std::uint32_t last) {
            outer_.visit_ascending(first, last, [&](std::uint32_t i) {
              if ((entries_[begin + i] & mark) != 0) entries_[begin + i] = no_entry;
            });
          });
      place_groups(true);
    }
  }

  void scan_right_to_left(std::span<std::uint32_t> suffixes) {
    for_each_index(0, next_.size(),
                   [to = next_, from = begins_](std::uint64_t name) { to[name] = from[name + 1]; });
    for (std::uint64_t end = entries_.size(); end > 0;) {
      const std::uint64_t begin = (end - 1) / block_ * block_;
      // Buckets of names from `limit` on end behind the begin of the block.
      auto limit = static_cast<std::uint32_t>(
          std::upper_bound(begins_.begin(), begins_.end(), begin) - begins_.begin() - 1);
      if (next_[limit] <= begin) ++limit;
      const auto is_inner = [=](std::uint32_t name) { return name >= limit; };
      gather(begin, end, is_inner, [this](std::uint64_t at, Found& found) {
        const std::uint64_t entry = entries_[at];
        const std::uint32_t position = position_of(entry);
        if (position == 0) return;
        if (before(entry) != unknown) {
          found = {(entry & mark) != 0, before(entry), position};
          return;
        }
        const std::uint32_t name = names_[position - 1];
        found = {name <= names_[position], name, position};
        entries_[at] = entry_of(position, name);
      });
      inner_.visit_descending(0, block_, [&](std::uint32_t i) {
        const std::uint64_t entry = entries_[begin + i];
        const std::uint32_t name = before(entry);
        const std::uint32_t position = position_of(entry) - 1;
        const std::uint32_t to = --next_[name];
        if (to < begin) {
          entries_[to] = entry_of(position, unknown);
          return;
        }
        const std::uint32_t known = inner_before_[i];
        entries_[to] = entry_of(position, known);
        if (position > 0 && known <= name) add_induced(to - begin, is_inner(known), position);
      });
      sort_shares(
          [&](std::uint32_t first, std::uint32_t last, const auto& visit) {
            outer_.visit_descending(first, last,
                                    [&](std::uint32_t i) { visit(entries_[begin + i]); });
          },
          [&](std::uint32_t first, std::uint32_t last) {
            const std::uint64_t stop = std::min<std::uint64_t>(begin + last, end);
            for (std::uint64_t at = begin + first; at < stop; ++at)
              suffixes[at] = position_of(entries_[at]);
          });
      place_groups(false);
      end = begin;
    }
  }

 private:
  static constexpr std::uint64_t ahead = 24;  ///< entries between a prefetch and its use
  static constexpr std::uint32_t groups = 256;

  /// What is known of an entry: whether it induces one, and the name of this.
  struct Found {
    bool induces = false;
    std::uint32_t name = 0;
    std::uint32_t position = 0;
  };

  void count_names() {
    const std::uint64_t names = begins_.size() - 1;
    for_each_index(0, begins_.size(), [to = begins_](std::uint64_t name) { to[name] = 0; });
    if (names * worker_threads() > names_.size()) {
      for (const std::uint32_t name : names_) ++begins_[name + 1];
    } else {
      const EqualShares shares = thread_shares(names_.size());
      const auto counts = allocate_array<std::uint32_t>(shares.count * names);
      for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
        std::uint32_t* const own = counts.get() + share * names;
        std::fill_n(own, names, 0);
        for (std::uint64_t i = begin; i < end; ++i) ++own[names_[i]];
      });
      for_each_index(0, names, [&, to = begins_](std::uint64_t name) {
        for (std::uint64_t share = 0; share < shares.count; ++share)
          to[name + 1] += counts[share * names + name];
      });
    }
    for (std::uint64_t name = 0; name < names; ++name) begins_[name + 1] += begins_[name];
  }

  /// Divides the names into groups, by whole ranges of names that are a power of two.
  void group_names() {
    constexpr int most_range_bits = 14;
    const std::uint64_t names = next_.size();
    range_shift_ = std::max(0, static_cast<int>(std::bit_width(names - 1)) - most_range_bits);
    for (std::uint64_t name = 0; name < names; name += std::uint64_t{1} << range_shift_)
      group_of_range_.push_back(static_cast<std::uint8_t>(std::min<std::uint64_t>(
          groups - 1, std::uint64_t{begins_[name]} * groups / names_.size())));
  }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t name) const {
    return group_of_range_[name >> range_shift_];
  }

  /// Calls work(begin, end) for the shares of a block.
  template <class Work>
  void for_each_share_once(const Work& work) const {
    for_each_task(shares_, [&](std::uint64_t share) {
      const auto begin = static_cast<std::uint32_t>(share) * share_;
      work(begin, begin + share_);
    });
  }

  /// Step 1. find(at, found) reads an entry that is not empty.
  template <class IsInner, class Find>
  void gather(std::uint64_t begin, std::uint64_t end, const IsInner& is_inner, const Find& find) {
    for_each_share_once([&](std::uint32_t first, std::uint32_t last) {
      const std::uint64_t stop = std::min<std::uint64_t>(begin + last, end);
      for (std::uint32_t word = first; word < last; word += 64) {
        std::uint64_t inner = 0;
        std::uint64_t outer = 0;
        for (std::uint32_t bit = 0; bit < 64; ++bit) {
          const std::uint64_t at = begin + word + bit;
          if (at + ahead < stop) prefetch(entries_[at + ahead]);
          if (at >= stop || entries_[at] == no_entry) continue;
          Found found;
          find(at, found);
          if (!found.induces) continue;
          if (is_inner(found.name)) {
            inner |= std::uint64_t{1} << bit;
            inner_before_[word + bit] = found.position > 1 ? names_[found.position - 2] : unknown;
          } else {
            outer |= std::uint64_t{1} << bit;
          }
        }
        inner_.set_word(word / 64, inner);
        outer_.set_word(word / 64, outer);
      }
    });
  }
  void prefetch(std::uint64_t entry) const {
    const std::uint32_t position = position_of(entry);
    if (before(entry) == unknown && position - 1 < names_.size())
      __builtin_prefetch(&names_[position - 1]);
  }

  /// Entry i of the block, which was induced in it, induces one. \param position  of its suffix
  void add_induced(std::uint64_t i, bool is_inner, std::uint32_t position) {
    if (is_inner) {
      inner_.set(static_cast<std::uint32_t>(i));
      inner_before_[i] = position > 1 ? names_[position - 2] : unknown;
    } else {
      outer_.set(static_cast<std::uint32_t>(i));
    }
  }

  /// Step 3. visit_share(begin, end, visit) calls visit(entry) for the outer entries of a share.
  /// finish(begin, end) is called for each share afterwards.
  template <class VisitShare, class Finish>
  void sort_shares(const VisitShare& visit_share, const Finish& finish) {
    for_each_task(shares_, [&](std::uint64_t share) {
      const auto begin = static_cast<std::uint32_t>(share) * share_;
      std::uint32_t* const ends = group_ends_.data() + share * (groups + 1);
      std::fill_n(ends, groups + 1, 0);
      visit_share(begin, begin + share_,
                  [&](std::uint64_t entry) { ++ends[group_of(before(entry)) + 1]; });
      ends[0] = begin;
      for (std::uint32_t group = 0; group < groups; ++group) ends[group + 1] += ends[group];
      // From here on, ends[group] is the next place of the group; at last, its end.
      visit_share(begin, begin + share_, [&](std::uint64_t entry) {
        induced_[ends[group_of(before(entry))]++] = entry_of(position_of(entry) - 1, before(entry));
      });
      finish(begin, begin + share_);
    });
  }

  /// Step 4.
  void place_groups(bool ascending) {
    for_each_task(groups, [&](std::uint64_t group) {
      for (std::uint32_t i = 0; i < shares_; ++i) {
        const std::uint32_t share = ascending ? i : shares_ - 1 - i;
        const std::uint32_t* const ends = group_ends_.data() + std::uint64_t{share} * (groups + 1);
        const std::uint32_t begin = group == 0 ? share * share_ : ends[group - 1];
        for (std::uint32_t item = begin; item < ends[group]; ++item) {
          constexpr std::uint32_t near = 8;
          if (item + near < ends[group]) prefetch_place(before(induced_[item + near]), ascending);
          const std::uint32_t name = before(induced_[item]);
          const std::uint32_t to = ascending ? next_[name]++ : --next_[name];
          entries_[to] = entry_of(position_of(induced_[item]), unknown);
        }
      }
    });
  }

  void prefetch_place(std::uint32_t name, bool ascending) const {
    __builtin_prefetch(entries_.data() + next_[name] - (ascending ? 0 : 1), 1);
  }

  std::span<const std::uint32_t> names_;
  std::span<std::uint64_t> entries_;
  std::span<std::uint32_t> begins_;  ///< of each bucket
  std::span<std::uint32_t> next_;    ///< of each bucket, as in the induction for a text
  std::uint32_t share_;              ///< entries of a share, a multiple of 64
  std::uint32_t shares_;
  std::uint32_t block_;  ///< entries of a block
  int range_shift_ = 0;
  std::vector<std::uint8_t> group_of_range_;
  // Of the entries of a block:
  BlockBits inner_;
  BlockBits outer_;                          ///< those that induce an entry in another bucket
  std::vector<std::uint32_t> inner_before_;  ///< of inner ones, the name two before the suffix
  std::vector<std::uint64_t> induced_;       ///< by shares and groups: positions and names
  std::vector<std::uint32_t> group_ends_;    ///< of each share
};

}  // namespace

void induce_by_blocks(const SymbolString<std::uint32_t>& names, std::span<const LmsSuffix> lms,
                      std::span<const std::uint32_t> order, std::span<std::uint32_t> suffixes,
                      ScratchStack& scratch, std::uint32_t block) {
  const ScratchStack::Scope scope(scratch);
  NameBlockInduction induction(names, scratch, block);
  if (!lms.empty()) induction.place_lms(lms, order, suffixes);
  induction.scan_left_to_right();
  induction.scan_right_to_left(suffixes);
}

}  // namespace sortie::suffix_array::host
