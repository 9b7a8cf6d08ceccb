// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/build/first_sort.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/build/text_rounds.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "apps/suffix_array/host/text/coded_text.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Elements of a task: enough to amortise its cost, few enough to balance the threads.
constexpr std::uint64_t task_elements = std::uint64_t{1} << 15;
/// Scratch of a thread: 256 KiB, and more where buckets are large, as in texts with few distinct
/// words; at most half a byte a symbol for all threads together.
constexpr std::uint64_t least_scratch = std::uint64_t{1} << 15;
std::uint64_t most_scratch(std::uint64_t size) {
  return std::max(least_scratch, size / (16 * worker_threads()));
}

/// Sorts ranges of elements and writes them to the suffix array.
template <Position Pos>
class RangeSorter {
 public:
  RangeSorter(const PrefixPlan& plan, const SymbolStream& stream, FirstOrder<Pos>& order)
      : plan_(plan), key_digits_(plan), stream_(stream), order_(order) {}

  /// Sorts on all host threads. `ranges` follow each other; large ones are divided first.
  void sort(std::uint64_t* elements, std::vector<ElementRange> ranges) {
    if (ranges.empty()) return;
    if (worker_threads() > 1) ranges = divided(elements, ranges);
    const std::vector<std::uint64_t> tasks = tasks_of_at_least(
        task_elements, ranges.size(), [&](std::uint64_t first, std::uint64_t end) {
          return ranges[end - 1].end - ranges[first].begin;
        });
    for_each_task(tasks.size() - 1, [&](std::uint64_t task) {
      sort_on_this_thread(elements,
                          std::span(ranges).subspan(tasks[task], tasks[task + 1] - tasks[task]));
    });
  }

 private:
  /// Divides ranges that would occupy one thread for long by their leading digits, if their keys
  /// differ.
  [[nodiscard]] std::vector<ElementRange> divided(std::uint64_t* elements,
                                                  const std::vector<ElementRange>& ranges) const {
    const std::uint64_t total = ranges.back().end - ranges.front().begin;
    const std::uint64_t limit = std::max(2 * task_elements, total / (8 * worker_threads()));
    const auto is_large = [=](const ElementRange& range) { return range.size() > limit; };
    if (std::none_of(ranges.begin(), ranges.end(), is_large)) return ranges;
    std::vector<std::vector<ElementRange>> parts(ranges.size());
    for_each_task(ranges.size(),
                  [&](std::uint64_t i) { divide(elements, ranges[i], limit, parts[i]); });
    std::vector<ElementRange> all;
    for (const auto& of_range : parts) all.insert(all.end(), of_range.begin(), of_range.end());
    return all;
  }

  void divide(std::uint64_t* elements, ElementRange range, std::uint64_t limit,
              std::vector<ElementRange>& parts) const {
    std::uint64_t* const first = elements + range.begin;
    const std::uint64_t differing = range.size() <= limit ? 0 : differing_bits(first, range.size());
    if (differing >> plan_.position_bits == 0) return parts.push_back(range);
    const Digit digit =
        Digit::highest(differing, detail::widest_digit_in_place, plan_.position_bits);
    detail::divide_in_place(
        first, range.size(), digit, [&](std::uint64_t begin, std::uint64_t end) {
          divide(elements, {range.begin + begin, range.begin + end, range.slot + begin}, limit,
                 parts);
        });
  }

  void sort_on_this_thread(std::uint64_t* elements, std::span<const ElementRange> ranges) {
    const std::uint64_t largest = std::ranges::max(ranges, {}, &ElementRange::size).size();
    const std::uint64_t capacity = std::min(largest, most_scratch(order_.suffixes.size()));
    const auto memory = allocate_array<std::uint64_t>(capacity);
    const std::span<std::uint64_t> scratch(memory.get(), capacity);
    const TextRounds rounds(stream_, plan_, scratch);
    BitSet marks(largest);
    BitSet differing(largest);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> groups;
    std::uint64_t in_equal_prefixes = 0;
    std::uint64_t in_groups = 0;
    for (const ElementRange& range : ranges) {
      std::uint64_t* const first = elements + range.begin;
      const std::uint64_t size = range.size();
      sort_by_keys(plan_, key_digits_, first, size, scratch);
      // Groups: equal keys that contain no end. Elements whose keys contain one are put in their
      // final order.
      groups.clear();
      mark_equal_keys(first, size, plan_.position_bits, marks.data());
      marks.for_each_joined(0, size, size, [&](std::uint64_t begin, std::uint64_t end) {
        if (plan_.contains_end(plan_.key_of(first[begin]))) {
          return sort_elements(first + begin, end - begin, scratch);
        }
        for (std::uint64_t member = begin; member < end; ++member) {
          rounds.prefetch(plan_.position_of(first[member]));
        }
        groups.emplace_back(begin, end);
      });
      mark_differing_texts(stream_, plan_, TextRounds::rounds, first, size, marks.data(),
                           differing.data());
      const auto leave = [&](std::uint64_t begin, std::uint64_t end) {
        order_.joined.set_range(range.slot + begin + 1, range.slot + end);
        in_groups += end - begin;
      };
      for (const auto& [begin, end] : groups) {
        in_equal_prefixes += end - begin;
        if (differing.next_set(begin + 1, end) == end) {
          leave(begin, end);
        } else {
          rounds.sort(first, begin, end, plan_.depth(), leave);
        }
      }
      write_positions(first, size, plan_.position_bits, order_.suffixes.data() + range.slot);
    }
    std::atomic_ref(order_.in_equal_prefixes).fetch_add(in_equal_prefixes);
    std::atomic_ref(order_.in_groups).fetch_add(in_groups);
  }

  const PrefixPlan& plan_;
  KeyDigits key_digits_;
  const SymbolStream& stream_;
  FirstOrder<Pos>& order_;
};

/// Ranges of elements for buckets [first, last). The bucket of a letter with runs is divided where
/// the members of its runs belong. `elements` holds these buckets.
template <Position Pos>
std::vector<ElementRange> ranges_of_buckets(const PrefixPlan& plan, const BucketCounts<Pos>& counts,
                                            std::uint64_t first, std::uint64_t last,
                                            std::uint64_t* elements,
                                            std::vector<RunSlots>& run_slots) {
  const std::uint64_t base = counts.starts[first];
  std::uint64_t slot_of_element = base;
  const std::uint64_t run_bucket = plan.run_bucket(1);  // for each code
  auto letter = run_slots.begin();
  for (; letter != run_slots.end() && letter->code * run_bucket < first; ++letter) {
    slot_of_element += letter->size;
  }
  std::vector<ElementRange> ranges;
  for (std::uint64_t bucket = first; bucket < last; ++bucket) {
    std::uint64_t begin = counts.starts[bucket] - base;
    const std::uint64_t end = counts.starts[bucket + 1] - base;
    if (letter != run_slots.end() && letter->code * run_bucket == bucket) {
      const std::uint64_t key = plan.run_key(letter->code);
      std::uint64_t* const middle =
          std::partition(elements + begin, elements + end,
                         [&](std::uint64_t element) { return plan.key_of(element) < key; });
      const auto split = static_cast<std::uint64_t>(middle - elements);
      if (begin < split) ranges.push_back({begin, split, begin + slot_of_element});
      letter->begin = split + slot_of_element;
      slot_of_element += letter->size;
      begin = split;
      ++letter;
    }
    if (begin < end) ranges.push_back({begin, end, begin + slot_of_element});
  }
  return ranges;
}

}  // namespace

template <Position Pos>
BucketCounts<Pos> count_buckets(const TextView& text, const PrefixPlan& plan) {
  const PrefixRoll roll(plan);
  const EqualShares chunks = thread_shares(text.size());
  BucketCounts<Pos> counts;
  counts.next = allocate_vector<Pos>(chunks.count * plan.buckets);
  std::vector<std::vector<LongRun<Pos>>> runs(chunks.count);
  for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t begin, std::uint64_t end) {
    Pos* const count = counts.next.data() + chunk * plan.buckets;
    roll.for_each(
        text, begin, end,
        [=](std::uint64_t, std::uint64_t bucket, std::uint64_t) { ++count[bucket]; },
        [&](std::uint64_t first, std::uint64_t, std::uint64_t run_end) {
          runs[chunk].push_back({static_cast<Pos>(first), static_cast<Pos>(run_end)});
        });
  });
  for (const auto& of_chunk : runs) {
    for (const LongRun<Pos>& run : of_chunk) {
      // A run that crosses the boundaries of chunks has a part in each.
      if (counts.runs.empty() || counts.runs.back().end != run.end) counts.runs.push_back(run);
    }
  }
  finish_counts(
      plan, [&](std::uint64_t position) { return plan.code[text.symbols[position]]; }, counts);
  return counts;
}

template <Position Pos>
void sort_buckets(const TextView& text, const PrefixPlan& plan, const SymbolStream& stream,
                  BucketCounts<Pos>& counts, std::uint64_t first, std::uint64_t last,
                  std::uint64_t* elements, std::uint64_t first_slot, FirstOrder<Pos>& order) {
  const std::uint64_t base = counts.starts[first];
  const PrefixRoll roll(plan);
  for_each_share(
      thread_shares(text.size()), [&](std::uint64_t chunk, std::uint64_t begin, std::uint64_t end) {
        Pos* const next = counts.next.data() + chunk * plan.buckets;
        const std::uint64_t wanted = last - first;
        const auto fill = [&](auto all) {
          roll.for_each(
              text, begin, end,
              [=, position_bits = plan.position_bits](std::uint64_t position, std::uint64_t bucket,
                                                      std::uint64_t key) {
                if (!all && bucket - first >= wanted) return;
                elements[next[bucket]++ - (all ? 0 : base)] = key << position_bits | position;
              },
              [](std::uint64_t, std::uint64_t, std::uint64_t) {});
        };
        wanted == plan.buckets ? fill(std::true_type()) : fill(std::false_type());
      });
  std::vector<ElementRange> ranges =
      ranges_of_buckets(plan, counts, first, last, elements, counts.run_slots);
  for (ElementRange& range : ranges) range.slot -= first_slot;
  RangeSorter<Pos>(plan, stream, order).sort(elements, std::move(ranges));
}

template <Position Pos>
FirstOrder<Pos> sort_first(const TextView& text, const PrefixPlan& plan, const SymbolStream& stream,
                           BucketCounts<Pos> counts, std::uint64_t most_elements) {
  FirstOrder<Pos> order;
  order.suffixes = allocate_vector<Pos>(text.size());
  order.joined = BitSet(text.size());
  const auto memory = allocate_array<std::uint64_t>(std::min(most_elements, counts.elements()));
  for (std::uint64_t first = 0; first < plan.buckets;) {
    const std::uint64_t last = counts.end_of_buckets(first, most_elements);
    sort_buckets(text, plan, stream, counts, first, last, memory.get(), 0, order);
    first = last;
  }
  order.runs = std::move(counts.runs);
  order.run_slots = std::move(counts.run_slots);
  return order;
}

template <Position Pos>
void sort_ranges(const PrefixPlan& plan, const SymbolStream& stream, std::uint64_t* elements,
                 std::vector<ElementRange> ranges, FirstOrder<Pos>& order) {
  RangeSorter<Pos>(plan, stream, order).sort(elements, std::move(ranges));
}

SORTIE_FOR_BOTH_POSITIONS(sort_ranges);
SORTIE_FOR_BOTH_POSITIONS(count_buckets);
SORTIE_FOR_BOTH_POSITIONS(sort_buckets);
SORTIE_FOR_BOTH_POSITIONS(sort_first);

}  // namespace sortie::suffix_array::host
