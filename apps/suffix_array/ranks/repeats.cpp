// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/group_sorts.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/build/text_rounds.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

constexpr std::uint64_t first_words = 16;
constexpr std::uint64_t more_words = 4;
/// Reading a word costs some nanoseconds, and the exchanges of prefix doubling as much for each
/// slot as some eight words.
constexpr std::uint64_t most_words_a_slot = 8;
/// Slots of a task, a multiple of the bits of a word of BitSet.
constexpr std::uint64_t task_slots = std::uint64_t{1} << 14;

/// Calls visit(first, last) for the groups of at least two slots that begin in [begin, end) and
/// that no other rank shares.
template <Position Pos, class Visit>
void for_each_own_group(const SlotShare<Pos>& share, std::uint64_t begin, std::uint64_t end,
                        const Visit& visit) {
  share.order.joined.for_each_joined(begin, end, share.size,
                                     [&](std::uint64_t first, std::uint64_t last) {
                                       if (last + share.after > share.size) return;
                                       visit(first, last);
                                     });
}

template <Position Pos>
std::uint64_t members(const SlotShare<Pos>& share) {
  std::atomic<std::uint64_t> sum = 0;
  for_each_range(share.size, task_slots, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t mine = 0;
    for_each_own_group(share, begin, end,
                       [&](std::uint64_t first, std::uint64_t last) { mine += last - first; });
    sum += mine;
  });
  return sum;
}

/// Sorts all own groups, whose suffixes agree in `depth` symbols, by those up to `limit`.
template <Position Pos>
void sort_groups(const PackedText& text, SlotShare<Pos>& share, std::uint64_t depth,
                 std::uint64_t limit) {
  host::BitSet next(share.size + 1);
  next.set_range(0, share.before);
  if (share.after > 0) next.set_range(share.size - share.after + 1, share.size + 1);
  for_each_range(share.size, task_slots, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> elements;
    std::vector<std::uint64_t> scratch(std::min(share.size, task_slots));
    const host::TextRounds rounds(text.stream(), text.plan(), std::span(scratch), limit);
    for_each_own_group(share, begin, end, [&](std::uint64_t first, std::uint64_t last) {
      const std::uint64_t size = last - first;
      Pos* const suffixes = share.order.suffixes.data() + first;
      elements.assign(suffixes, suffixes + size);
      rounds.sort(elements.data(), 0, size, depth, [&](std::uint64_t from, std::uint64_t to) {
        next.set_range(first + from + 1, first + to);
      });
      for (std::uint64_t i = 0; i < size; ++i)
        suffixes[i] = static_cast<Pos>(text.plan().position_of(elements[i]));
    });
  });
  std::swap(share.order.joined, next);
}

}  // namespace

template <Position Pos>
std::uint64_t sort_repeats(const PackedText& text, SlotShare<Pos>& share) {
  const auto step = static_cast<std::uint64_t>(text.stream().symbols());
  std::uint64_t depth = host::TextRounds::depth_limit(text.plan(), text.stream());
  for (std::uint64_t words = first_words;; words *= more_words) {
    const std::uint64_t in_groups = members(share);
    if (in_groups == 0) return std::numeric_limits<std::uint64_t>::max();
    if (in_groups * words > share.size * most_words_a_slot) return depth;
    const std::uint64_t limit = depth + words * step;
    sort_groups(text, share, depth, limit);
    depth = limit;
  }
}

SORTIE_FOR_BOTH_POSITIONS(sort_repeats);

}  // namespace sortie::suffix_array::on_ranks
