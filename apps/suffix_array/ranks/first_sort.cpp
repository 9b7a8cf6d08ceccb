// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/first_sort.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/ranks/borders.hpp"
#include "apps/suffix_array/ranks/text_scan.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

/// Elements that a thread has found and not yet put in their buckets. About half of all elements
/// are of this rank, or fewer, and a branch would often be mispredicted: they are collected without
/// one.
struct FoundElements {
  static constexpr std::uint32_t capacity = 1024;

  std::uint32_t count = 0;
  std::array<std::uint32_t, capacity> buckets;
  std::array<std::uint64_t, capacity> elements;
};

template <Position Pos>
class RankSort {
 public:
  RankSort(Exchanges& exchanges, const Context& context, const PackedText& text)
      : exchanges_(exchanges),
        ranks_(exchanges.ranks()),
        context_(context),
        text_(text),
        plan_(text.plan()),
        scan_(text) {}

  SlotShare<Pos> run(std::uint64_t elements_bytes) {
    count_buckets();
    const std::vector<Border> borders =
        find_borders<Pos>(ranks_, text_, scan_, counts_.starts, counts_.run_slots);
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    begin_ = borders[rank];
    end_ = borders[rank + 1];
    ranks_.together("sort buckets", [&] {
      share_.begin = begin_.slot;
      share_.size = end_.slot - begin_.slot;
      share_.before = std::min(begin_.group_end, end_.slot) - begin_.slot;
      share_.after = end_.slot - std::max(end_.group_begin, begin_.slot);
      sort(elements_bytes / sizeof(std::uint64_t));
    });
    place_runs();
    return std::move(share_);
  }

 private:
  static constexpr std::uint64_t no_bucket = ~std::uint64_t{0};

  /// Counts the suffixes of each bucket in each chunk of the text, a chunk for each thread: each
  /// rank counts those of its part of the text.
  void count_buckets() {
    const PhaseTimer timer(context_, "count");
    chunks_ = {text_.size(), ranks_.least(thread_shares(text_.size()).count)};
    std::vector<std::uint64_t> table;
    std::vector<host::LongRun<Pos>> runs;
    ranks_.together("count buckets", [&] {
      table.resize(chunks_.count * plan_.buckets);
      const EqualShares parts{text_.size(), static_cast<std::uint64_t>(ranks_.size())};
      const std::uint64_t part_begin = parts.begin(static_cast<std::uint64_t>(ranks_.rank()));
      const std::uint64_t part_end = parts.begin(static_cast<std::uint64_t>(ranks_.rank()) + 1);
      std::vector<std::vector<host::LongRun<Pos>>> found(chunks_.count);
      for_each_share(chunks_, [&](std::uint64_t chunk, std::uint64_t begin, std::uint64_t end) {
        std::uint64_t* const counts = table.data() + chunk * plan_.buckets;
        scan_.for_each(
            std::max(begin, part_begin), std::min(end, part_end),
            [=](std::uint64_t, std::uint64_t bucket, std::uint64_t) { ++counts[bucket]; },
            [&](std::uint64_t first, std::uint64_t last, std::uint64_t) {
              host::add_run<Pos>(
                  plan_, found[chunk],
                  {static_cast<Pos>(first), static_cast<Pos>(last + plan_.depth() - 1)});
            });
      });
      for (const auto& of_chunk : found) runs.insert(runs.end(), of_chunk.begin(), of_chunk.end());
    });
    ranks_.reduce_all(table, cluster::Reduction::sum);
    const auto all_runs = exchanges_.gather(std::span<const host::LongRun<Pos>>(runs));
    ranks_.together("finish counts", [&] {
      for (const host::LongRun<Pos>& run : all_runs) host::add_run(plan_, counts_.runs, run);
      counts_.next.assign(table.begin(), table.end());
      host::finish_counts(
          plan_, [&](std::uint64_t position) { return text_.stream().code(position); }, counts_);
    });
  }

  /// The first element of a bucket that this rank has.
  [[nodiscard]] std::uint64_t start_of(std::uint64_t bucket) const {
    return std::clamp<std::uint64_t>(counts_.starts[bucket], begin_.before, end_.before);
  }

  void sort(std::uint64_t most_elements) {
    host::FirstOrder<Pos>& order = share_.order;
    // More capacity, for the suffixes that equal_share() adds.
    order.suffixes = allocate_vector<Pos>(share_.size + share_.size / 32);
    order.suffixes.resize(share_.size);
    order.joined = host::BitSet(share_.size + 1);
    order.runs = std::move(counts_.runs);
    order.run_slots = std::move(counts_.run_slots);
    const std::uint64_t first_bucket = begin_.bucket;
    const std::uint64_t last_bucket = end_.bucket + (end_.element != 0 ? 1 : 0);
    for (std::uint64_t bucket = first_bucket; bucket < last_bucket; ++bucket)
      most_elements = std::max(most_elements, start_of(bucket + 1) - start_of(bucket));
    most_elements = std::min(most_elements, end_.before - begin_.before);
    elements_ = allocate_array<std::uint64_t>(most_elements);
    for (std::uint64_t first = first_bucket; first < last_bucket;) {
      std::uint64_t last = first + 1;
      while (last < last_bucket && start_of(last + 1) - start_of(first) <= most_elements) ++last;
      {
        const PhaseTimer timer(context_, "elements");
        fill(first, last);
      }
      const PhaseTimer timer(context_, "buckets");
      sort(first, last);
      first = last;
    }
    const std::uint64_t edges =
        share_.is_inside_group() ? share_.size : share_.before + share_.after;
    order.joined.set_range(0, share_.before);
    if (share_.after > 0) order.joined.set_range(share_.size - share_.after + 1, share_.size + 1);
    order.in_equal_prefixes += edges;
    order.in_groups += edges;
    elements_.reset();
  }

  /// Tells all ranks where the slots of runs begin. One rank at least knows.
  void place_runs() {
    std::vector<std::uint64_t> begins;
    for (const host::RunSlots& letter : share_.order.run_slots) begins.push_back(letter.begin);
    if (begins.empty()) return;
    ranks_.reduce_all(begins, cluster::Reduction::greatest);
    for (std::size_t i = 0; i < begins.size(); ++i) share_.order.run_slots[i].begin = begins[i];
  }

  /// The elements of this rank in buckets [first, last), by bucket.
  void fill(std::uint64_t first, std::uint64_t last) {
    const std::uint64_t base = start_of(first);
    next_low_ = begin_.element == 0 ? 0 : start_of(begin_.bucket) - base;
    next_high_ = end_.element == 0 ? 0 : start_of(end_.bucket) - base;
    for_each_share(chunks_, [&](std::uint64_t chunk, std::uint64_t begin, std::uint64_t end) {
      FoundElements found;
      const auto put = [&] {
        put_elements(found, base, counts_.next.data() + chunk * plan_.buckets);
      };
      scan_.for_each(
          begin, end,
          [=, &put, found = &found, position_bits = plan_.position_bits, wanted = last - first](
              std::uint64_t position, std::uint64_t bucket, std::uint64_t key) {
            const std::uint32_t at = found->count;
            found->buckets[at] = static_cast<std::uint32_t>(bucket);
            found->elements[at] = key << position_bits | position;
            found->count = at + (bucket - first < wanted ? 1 : 0);
            if (found->count == FoundElements::capacity) put();
          },
          [](std::uint64_t, std::uint64_t, std::uint64_t) {});
      put();
    });
  }

  /// Puts elements in their buckets. Not inlined: so that its variables are in registers.
  __attribute__((noinline)) void put_elements(FoundElements& found, std::uint64_t base, Pos* next) {
    const std::uint64_t low = begin_.element != 0 ? begin_.bucket : no_bucket;
    const std::uint64_t high = end_.element != 0 ? end_.bucket : no_bucket;
    std::uint64_t* const to = elements_.get();
    const std::uint32_t count = std::exchange(found.count, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t bucket = found.buckets[i];
      const std::uint64_t element = found.elements[i];
      if (bucket == low || bucket == high) [[unlikely]] {
        // Other ranks have elements of it.
        if (bucket == low && element < begin_.element) continue;
        if (bucket == high && element >= end_.element) continue;
        std::atomic_ref place(bucket == low ? next_low_ : next_high_);
        to[place.fetch_add(1, std::memory_order_relaxed)] = element;
      } else {
        to[next[bucket]++ - base] = element;
      }
    }
  }

  /// Sorts buckets [first, last), of which `elements_` has the elements.
  void sort(std::uint64_t first, std::uint64_t last) {
    host::FirstOrder<Pos>& order = share_.order;
    const std::uint64_t base = start_of(first);
    std::vector<host::ElementRange> ranges;
    std::uint64_t slot = first == begin_.bucket ? 0 : next_slot_;
    const auto add_edge = [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        order.suffixes[slot++] = static_cast<Pos>(plan_.position_of(elements_[i]));
    };
    const auto add_range = [&](std::uint64_t begin, std::uint64_t end) {
      if (begin < end) ranges.push_back({begin, end, slot});
      slot += end - begin;
    };
    const auto partition = [&](std::uint64_t begin, std::uint64_t end, const auto& comes_first) {
      return static_cast<std::uint64_t>(
          std::partition(elements_.get() + begin, elements_.get() + end,
                         [&](std::uint64_t item) { return comes_first(plan_.key_of(item)); }) -
          elements_.get());
    };
    for (std::uint64_t bucket = first; bucket < last; ++bucket) {
      std::uint64_t begin = start_of(bucket) - base;
      const std::uint64_t bucket_end = start_of(bucket + 1) - base;
      std::uint64_t end = bucket_end;
      if (bucket == begin_.bucket && share_.before > 0) {
        const std::uint64_t edge =
            partition(begin, end, [&](auto key) { return key == plan_.key_of(begin_.element); });
        add_edge(begin, edge);
        begin = edge;
      }
      if (bucket == end_.bucket && share_.after > 0 && slot < share_.size) {
        end = partition(begin, end, [&](auto key) { return key != plan_.key_of(end_.element); });
      }
      for (host::RunSlots& letter : order.run_slots) {
        if (plan_.run_bucket(letter.code) != bucket) continue;
        const std::uint64_t split =
            partition(begin, end, [&](auto key) { return key < plan_.run_key(letter.code); });
        add_range(begin, split);
        begin = split;
        const bool is_whole = (bucket != begin_.bucket || begin_.element == 0) &&
                              (bucket != end_.bucket || end_.element == 0);
        if (is_whole) letter.begin = share_.begin + slot;
        const auto own = [&](std::uint64_t at) {
          return std::clamp(at, share_.begin, share_.begin + share_.size);
        };
        slot += own(letter.begin + letter.size) - own(letter.begin);
      }
      add_range(begin, end);
      add_edge(end, bucket_end);
    }
    next_slot_ = slot;
    host::sort_ranges(plan_, text_.stream(), elements_.get(), std::move(ranges), order);
  }

  Exchanges& exchanges_;
  cluster::Ranks& ranks_;
  const Context& context_;
  const PackedText& text_;
  const host::PrefixPlan& plan_;
  TextScan scan_;
  EqualShares chunks_;
  host::BucketCounts<Pos> counts_;
  Border begin_;
  Border end_;
  SlotShare<Pos> share_;
  HostArray<std::uint64_t> elements_;
  std::uint64_t next_low_ = 0;   ///< place of the next element of the bucket that begin_ divides
  std::uint64_t next_high_ = 0;  ///< the same for end_
  std::uint64_t next_slot_ = 0;
};

}  // namespace

template <Position Pos>
SlotShare<Pos> sort_first(Exchanges& exchanges, const Context& context, const PackedText& text,
                          std::uint64_t elements_bytes) {
  return RankSort<Pos>(exchanges, context, text).run(elements_bytes);
}

SORTIE_FOR_BOTH_POSITIONS(sort_first);

}  // namespace sortie::suffix_array::on_ranks
