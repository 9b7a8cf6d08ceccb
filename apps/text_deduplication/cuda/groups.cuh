// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/text_deduplication/cuda/items.cuh"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"

/// Which windows of items with equal hashes are equal. The items of a group are compared with the
/// first one, its leader.
namespace sortie::texts::cuda {

/// Items in the order of their hashes and, of equal ones, of the text.
struct ItemsView {
  const std::uint64_t* keys;
  const std::uint64_t* values;
  std::uint32_t size;

  [[nodiscard]] __device__ Anchor anchor(std::uint32_t i) const {
    return anchor_of(keys[i], values[i]);
  }
  [[nodiscard]] __device__ bool is_head(std::uint32_t i) const {
    return i == 0 || hash_of_key(keys[i - 1]) != hash_of_key(keys[i]);
  }
  /// Whether item i has windows that may be equal to others.
  [[nodiscard]] __device__ bool may_match(std::uint32_t i) const {
    return !is_head(i) || repeats_of_key(keys[i]) > 1 ||
           (i + 1 < size && hash_of_key(keys[i]) == hash_of_key(keys[i + 1]));
  }
};

/// Offsets [least, most] from an anchor back to windows; none if least > most.
struct Offsets {
  std::uint16_t least;
  std::uint16_t most;

  [[nodiscard]] __device__ bool empty() const { return least > most; }
};

/// A group of items: leaders[i] is the first item of the group of item i.
struct Groups {
  ItemsView items;
  const std::uint32_t* leaders;
};

/// Items of a text in memory: their positions are offsets of it.
struct TextSource {
  const std::uint8_t* text;

  /// The address of an item's k-gram.
  [[nodiscard]] __device__ const std::uint8_t* bytes(const Anchor& item) const {
    return text + item.position;
  }
  /// The item, at its offset in the text.
  [[nodiscard]] __device__ Anchor in_text(const Anchor& item) const { return item; }
  /// How often the windows occur.
  [[nodiscard]] __device__ std::uint64_t copies(const Anchor& item) const { return item.repeats; }
};

/// The offsets at which the windows of item i equal those of its leader. None for a leader.
template <class Source>
struct CompareWithLeader {
  Source source;
  std::uint32_t window;
  Groups groups;
  Offsets* matches;

  __device__ void operator()(std::uint32_t i) const { matches[i] = match(i); }

 private:
  [[nodiscard]] __device__ Offsets match(std::uint32_t i) const {
    constexpr Offsets none{1, 0};
    const std::uint32_t first = groups.leaders[i];
    if (first == i) return none;
    const Anchor leader = groups.items.anchor(first);
    const Anchor member = groups.items.anchor(i);
    std::uint32_t least = max(leader.least, member.least);
    std::uint32_t most = min(leader.most, member.most);
    if (least > most) return none;
    const std::uint8_t* const a = source.bytes(leader);
    const std::uint8_t* const b = source.bytes(member);
    const std::uint32_t limit = window - least;
    least += limit - common_after(a, b, limit);
    if (least > most) return none;
    most = common_before(a, b, most);
    if (least > most) return none;
    return {static_cast<std::uint16_t>(least), static_cast<std::uint16_t>(most)};
  }
};

/// What the next round compares: the items that are no leaders, without the windows that are done.
struct RemainingItems {
  Groups groups;
  const Offsets* matches;

  /// Number of the parts of item i.
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t i) const {
    if (i >= groups.items.size || groups.leaders[i] == i) return 0;
    const Offsets match = matches[i];
    if (match.empty()) return 1;
    const Anchor anchor = groups.items.anchor(i);
    return (anchor.least < match.least ? 1 : 0) + (match.most < anchor.most ? 1 : 0);
  }
  __device__ void write(std::uint32_t i, std::uint32_t place, std::uint64_t* keys,
                        std::uint64_t* values) const {
    if (groups.leaders[i] == i) return;
    const Anchor anchor = groups.items.anchor(i);
    const Offsets match = matches[i];
    const auto add = [&](std::uint32_t least, std::uint32_t most) {
      keys[place] = groups.items.keys[i];
      values[place++] = value_of(anchor.position, least, most);
    };
    if (match.empty()) return add(anchor.least, anchor.most);
    if (anchor.least < match.least) add(anchor.least, match.least - 1U);
    if (match.most < anchor.most) add(match.most + 1U, anchor.most);
  }
};

/// Items that are not alone.
struct MatchableItems {
  ItemsView items;

  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t i) const {
    return i < items.size && items.may_match(i) ? 1 : 0;
  }
  __device__ void write(std::uint32_t i, std::uint32_t place, std::uint64_t* keys,
                        std::uint64_t* values) const {
    if (!items.may_match(i)) return;
    keys[place] = items.keys[i];
    values[place] = items.values[i];
  }
};

/// Items with one window each, whose hash is that of all bytes of the window, in place of items.
template <class Source>
struct SingleWindows {
  Source source;
  std::uint32_t window;
  std::uint64_t power;  ///< factor to the power of `window` - 1
  ItemsView items;
  HashRange range;

  static constexpr std::uint64_t factor = 0xd1342543de82ef95ULL;

  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t i) const {
    if (i >= items.size) return 0;
    if (range.count == 1) {
      const Anchor anchor = items.anchor(i);
      return anchor.most - anchor.least + 1;
    }
    std::uint32_t count = 0;
    visit(i, [&](auto, auto, const Anchor&) { ++count; });
    return count;
  }
  __device__ void write(std::uint32_t i, std::uint32_t place, std::uint64_t* keys,
                        std::uint64_t* values) const {
    visit(i, [&](std::uint64_t hash, std::uint32_t offset, const Anchor& anchor) {
      keys[place] = key_of(hash, anchor.period, anchor.repeats);
      values[place++] = value_of(anchor.position, offset, offset);
    });
  }

 private:
  template <class Use>
  __device__ void visit(std::uint32_t i, const Use& use) const {
    const Anchor anchor = items.anchor(i);
    const std::uint8_t* begin = source.bytes(anchor) - anchor.most;
    std::uint64_t hash = 0;
    for (std::uint32_t j = 0; j + 1 < window; ++j) hash = hash * factor + begin[j] + 1;
    for (std::uint32_t j = 0; j <= anchor.most - anchor.least; ++j, ++begin) {
      hash = hash * factor + begin[window - 1] + 1;
      const std::uint64_t of_window = mixed(hash);
      if (range.contains(of_window)) use(of_window, anchor.most - j, anchor);
      hash -= (begin[0] + std::uint64_t{1}) * power;
    }
  }
};

/// Where marks go, and which windows get them.
struct MarkTargets {
  std::uint32_t* removed;  ///< one bit for each offset
  std::uint32_t* kept;     ///< null if they are not wanted
  bool keeps_first;
  bool has_other;
  std::uint64_t other_begin;
  // Windows that are first occurrences: their begin; copies and number of windows in one word.
  std::uint64_t* begins;
  std::uint64_t* windows;
  std::uint32_t capacity;
  std::uint32_t* count;  ///< of all, also of those beyond the capacity

  /// Bits of the number of windows, at most those of a tile.
  static constexpr int window_bits = field_bits;

  __device__ void add(std::uint32_t place, std::uint64_t begin, std::uint64_t copies,
                      std::uint32_t number) const {
    if (place >= capacity) return;
    begins[place] = begin;
    windows[place] = copies << window_bits | number;
  }
};

/// Sets the bits [first, last]. Most words have been set before where there are many copies.
__device__ inline void set_bits(std::uint32_t* words, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t end = last / 32;
  std::uint32_t mask = ~0U << first % 32;
  for (std::uint64_t word = first / 32; word <= end; ++word) {
    if (word == end) mask &= ~0U >> (31 - last % 32);
    if ((words[word] & mask) != mask) atomicOr(&words[word], mask);
    mask = ~0U;
  }
}

/// The same for the windows of an anchor at the offsets [least, most], from repeat `begin` on.
__device__ inline void set_bits(std::uint32_t* words, const Anchor& anchor, std::uint32_t least,
                                std::uint32_t most, std::uint32_t begin = 0) {
  if (begin >= anchor.repeats) return;
  const auto place = [&](std::uint32_t repeat) {
    return anchor.position + std::uint64_t{repeat} * anchor.period;
  };
  if (most - least + 1 == anchor.period)
    return set_bits(words, place(begin) - most, place(anchor.repeats - 1) - least);
  for (std::uint32_t i = begin; i < anchor.repeats; ++i)
    set_bits(words, place(i) - most, place(i) - least);
}

/// The marks of one group, by a warp: lane l takes the members l, l + 32, ... behind the leader.
///
/// Copies of the leader's windows are counted as differences to the window before. If all members
/// have all of its windows, there is one number.
template <class Source>
class GroupMarks {
 public:
  /// \param differences  shared memory of the warp: an element for each offset, and one more, twice
  ///                     if there is another corpus
  __device__ GroupMarks(const Source& source, const Groups& groups, const Offsets* matches,
                        std::uint32_t offsets, const MarkTargets& targets,
                        unsigned long long* differences)
      : source_(source),
        groups_(groups),
        matches_(matches),
        targets_(targets),
        copies_(differences),
        others_(differences + offsets + 1) {}

  __device__ void mark(std::uint32_t first) {
    first_ = first;
    const Anchor item = groups_.items.anchor(first);
    leader_ = source_.in_text(item);
    copies_of_leader_ = source_.copies(item);
    std::uint64_t copies = 0;
    std::uint64_t others = 0;
    bool is_partial = false;
    visit([&](const Anchor& member, std::uint64_t of_member, const Offsets& match) {
      copies += of_member;
      if (is_other(member)) others += of_member;
      is_partial |= match.least != leader_.least || match.most != leader_.most;
    });
    if (__any_sync(full_warp, is_partial) != 0) return mark_parts();
    copies = copies_of_leader_ + sum_in_warp(copies);
    others = sum_in_warp(others) + (is_other(leader_) ? copies_of_leader_ : 0);
    if (!is_duplicate(copies, others)) return;
    if (lane() == 0) {
      targets_.add(atomicAdd(targets_.count, 1U), leader_.position - leader_.most, copies,
                   leader_.most - leader_.least + 1);
      mark_leader(leader_.least, leader_.most);
    }
    visit([&](const Anchor& member, std::uint64_t, const Offsets& match) {
      set_bits(targets_.removed, member, match.least, match.most);
    });
  }

 private:
  /// Calls use(member, copies, match) for the members with windows that equal those of the leader.
  template <class Use>
  __device__ void visit(const Use& use) const {
    for (std::uint32_t base = first_ + 1;; base += 32) {
      const std::uint32_t i = base + lane();
      const bool is_member = i < groups_.items.size && groups_.leaders[i] == first_;
      if (is_member && !matches_[i].empty()) {
        const Anchor item = groups_.items.anchor(i);
        use(source_.in_text(item), source_.copies(item), matches_[i]);
      }
      if (__all_sync(full_warp, is_member) == 0) return;
    }
  }

  [[nodiscard]] __device__ bool is_other(const Anchor& anchor) const {
    return anchor.position >= targets_.other_begin;
  }
  [[nodiscard]] __device__ bool is_duplicate(std::uint64_t copies, std::uint64_t others) const {
    return copies > 1 && !(targets_.has_other && (others == 0 || others == copies));
  }

  __device__ void mark_leader(std::uint32_t least, std::uint32_t most) const {
    if (targets_.kept != nullptr)
      set_bits(targets_.kept, leader_.position - most, leader_.position - least);
    set_bits(targets_.removed, leader_, least, most, targets_.keeps_first ? 1 : 0);
  }

  /// Windows in the order of the text: window j has the offset most - j.
  __device__ void mark_parts() {
    const std::uint32_t width = leader_.most - leader_.least + 1;
    for (std::uint32_t j = lane(); j <= width; j += 32) {
      copies_[j] = 0;
      if (targets_.has_other) others_[j] = 0;
    }
    __syncwarp();
    visit([&](const Anchor& member, std::uint64_t of_member, const Offsets& match) {
      const unsigned long long repeats = of_member;
      const auto add = [&](unsigned long long* differences) {
        atomicAdd(&differences[leader_.most - match.most], repeats);
        atomicAdd(&differences[leader_.most - match.least + 1], ~repeats + 1);
      };
      add(copies_);
      if (targets_.has_other && is_other(member)) add(others_);
    });
    __syncwarp();
    unsigned long long copies_before = copies_of_leader_;
    unsigned long long others_before = is_other(leader_) ? copies_of_leader_ : 0;
    for (std::uint32_t begin = 0; begin < width; begin += 32) {
      const std::uint32_t j = begin + lane();
      const bool is_inside = j < width;
      const auto copies = copies_before + inclusive_sum_in_warp(is_inside ? copies_[j] : 0ULL);
      auto others = others_before;
      if (targets_.has_other) others += inclusive_sum_in_warp(is_inside ? others_[j] : 0ULL);
      copies_before = from_lane(copies, 31);
      others_before = from_lane(others, 31);
      const bool is_marked = is_inside && is_duplicate(copies, others);
      __syncwarp();
      if (is_inside) copies_[j] = is_marked ? 1 : 0;
      const auto previous = __shfl_up_sync(full_warp, copies, 1U);
      const bool differs = lane() == 0 || previous != copies;
      const unsigned marked = __ballot_sync(full_warp, is_marked);
      // A run ends before the next lane that is not marked or has another number of copies.
      const unsigned ends = __ballot_sync(full_warp, !is_marked || differs);
      const bool begins_run = is_marked && (differs || (marked >> (lane() - 1) & 1U) == 0);
      const unsigned runs = __ballot_sync(full_warp, begins_run);
      if (runs == 0) continue;
      std::uint32_t place = 0;
      if (lane() == 0) place = atomicAdd(targets_.count, lanes_of(runs));
      place = from_lane(place, 0);
      if (!begins_run) continue;
      const unsigned behind = lane() == 31 ? 0 : ends >> (lane() + 1);
      const std::uint32_t number =
          behind == 0 ? 32 - lane() : static_cast<std::uint32_t>(first_lane(behind)) + 1;
      const std::uint64_t window = leader_.position - leader_.most + j;
      targets_.add(place + rank_among(runs), window, copies, number);
      mark_leader(leader_.most - j - (number - 1), leader_.most - j);
    }
    __syncwarp();
    visit([&](const Anchor& member, std::uint64_t, const Offsets& match) {
      if (!targets_.has_other) {
        set_bits(targets_.removed, member, match.least, match.most);
        return;
      }
      for (std::uint32_t offset = match.least; offset <= match.most; ++offset) {
        if (copies_[leader_.most - offset] != 0) set_bits(targets_.removed, member, offset, offset);
      }
    });
    __syncwarp();
  }

  Source source_;
  Groups groups_;
  const Offsets* matches_;
  const MarkTargets& targets_;
  unsigned long long* copies_;
  unsigned long long* others_;
  std::uint32_t first_ = 0;
  Anchor leader_{};
  std::uint64_t copies_of_leader_ = 0;
};

/// Warps of a block of mark_groups_kernel, and its shared memory.
inline constexpr std::uint32_t marking_warps = 2;
[[nodiscard]] inline std::size_t marking_bytes(std::uint32_t offsets, bool has_other) {
  return std::size_t{marking_warps} * (has_other ? 2 : 1) * (offsets + 1) *
         sizeof(unsigned long long);
}

/// Marks the windows of all groups. Each warp takes the groups whose leaders are among 32 items.
template <class Source>
__global__ void __launch_bounds__(marking_warps * 32)
    mark_groups_kernel(Source source, Groups groups, const Offsets* matches, std::uint32_t offsets,
                       MarkTargets targets) {
  const std::uint32_t warp = threadIdx.x / 32;
  auto* const differences = reinterpret_cast<unsigned long long*>(dynamic_shared_memory()) +
                            warp * (targets.has_other ? 2 : 1) * (offsets + 1);
  const std::uint32_t base = (blockIdx.x * marking_warps + warp) * 32;
  const std::uint32_t i = base + lane();
  const bool is_leader =
      i < groups.items.size && groups.leaders[i] == i && groups.items.may_match(i);
  GroupMarks marks(source, groups, matches, offsets, targets, differences);
  for (unsigned leaders = __ballot_sync(full_warp, is_leader); leaders != 0; leaders &= leaders - 1)
    marks.mark(base + static_cast<std::uint32_t>(first_lane(leaders)));
}

}  // namespace sortie::texts::cuda
