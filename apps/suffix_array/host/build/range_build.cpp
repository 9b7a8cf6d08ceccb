// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/build/range_build.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/build/first_sort.hpp"
#include "apps/suffix_array/host/samples/samples.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Buckets that are sorted together, and their slots.
struct BucketRange {
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t slot;
  std::uint64_t slots;
};

/// Where the members of runs begin: after the elements of smaller buckets, those of smaller keys in
/// the bucket of the run, and the members of runs of smaller letters. O(n).
template <Position Pos>
void find_run_slots(const TextView& text, const PrefixPlan& plan, BucketCounts<Pos>& counts) {
  if (counts.run_slots.empty()) return;
  const PrefixRoll roll(plan);
  // Keys up to that of the run in its bucket; none in other buckets.
  std::vector<std::uint64_t> run_keys(plan.buckets);
  for (const RunSlots& letter : counts.run_slots)
    run_keys[plan.run_bucket(letter.code)] = plan.run_key(letter.code);
  const EqualShares chunks = thread_shares(text.size());
  std::vector<std::vector<std::uint64_t>> below(chunks.count,
                                                std::vector<std::uint64_t>(plan.base));
  for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t begin, std::uint64_t end) {
    roll.for_each(
        text, begin, end,
        [&](std::uint64_t, std::uint64_t bucket, std::uint64_t key) {
          if (key < run_keys[bucket]) ++below[chunk][bucket / plan.run_bucket(1)];
        },
        [](std::uint64_t, std::uint64_t, std::uint64_t) {});
  });
  std::uint64_t members = 0;
  for (RunSlots& letter : counts.run_slots) {
    letter.begin = counts.starts[plan.run_bucket(letter.code)] + members;
    for (const auto& of_chunk : below) letter.begin += of_chunk[letter.code];
    members += letter.size;
  }
}

template <Position Pos>
std::vector<BucketRange> divide_buckets(const PrefixPlan& plan, const BucketCounts<Pos>& counts,
                                        std::uint64_t most_suffixes) {
  const auto slot_of = [&](std::uint64_t bucket) {
    std::uint64_t slot = counts.starts[bucket];
    for (const RunSlots& letter : counts.run_slots)
      if (plan.run_bucket(letter.code) < bucket) slot += letter.size;
    return slot;
  };
  std::vector<BucketRange> ranges;
  for (std::uint64_t first = 0; first < plan.buckets;) {
    const std::uint64_t last = counts.end_of_buckets(first, most_suffixes);
    const std::uint64_t slot = slot_of(first);
    const std::uint64_t slots = slot_of(last) - slot;
    if (slots != 0) ranges.push_back({first, last, slot, slots});
    first = last;
  }
  return ranges;
}

}  // namespace

template <Position Pos>
void build_in_ranges(const Context& context, const TextView& text, bool descending,
                     const VisitEntries<Pos>& visit) {
  const std::uint64_t size = text.size();
  HostMemoryBudget budget(context);
  budget.require("suffix array in ranges", size / 2);
  report_progress(context, "pack", 0, size);
  PhaseTimer pack(context, "pack");
  const PrefixPlan plan = plan_prefixes(count_letters(text), size);
  BucketCounts<Pos> counts = count_buckets<Pos>(text, plan);
  const std::vector<Pos> next = counts.next;
  find_run_slots(text, plan, counts);
  const std::uint64_t lasting =
      SymbolStream::bytes(size, plan) + size / 2 + size * sizeof(Pos) / 32;
  budget.require("suffix array in ranges", lasting);
  const SymbolStream stream(text, plan);
  FirstOrder<Pos> order;
  order.runs = counts.runs;
  SampleOrder<Pos> samples(SampledText{stream, plan, size, text.separators.size()}, order,
                           counts.run_slots, true);
  samples.mark_all(text.separators);
  const std::uint64_t held = lasting + samples.find_samples();
  constexpr std::uint64_t bytes_a_suffix = sizeof(std::uint64_t) + sizeof(Pos) + 1;
  const std::uint64_t least = counts.largest_bucket();
  budget.require("suffix array in ranges", held + least * bytes_a_suffix);
  const std::vector<BucketRange> ranges =
      divide_buckets(plan, counts, std::max(least, (budget.left() - held) / bytes_a_suffix));
  pack.stop();
  report_progress(context, "pack", size, size);
  if (context.report != nullptr) context.report->set("ranges", std::uint64_t{ranges.size()});

  std::uint64_t most_elements = 0;
  for (const BucketRange& range : ranges)
    most_elements = std::max<std::uint64_t>(most_elements,
                                            counts.starts[range.last] - counts.starts[range.first]);
  const auto elements = allocate_array<std::uint64_t>(most_elements);
  const auto sort_range = [&](const BucketRange& range) {
    order.suffixes.resize(range.slots);
    order.joined = BitSet(range.slots);
    order.in_groups = 0;
    sort_buckets(text, plan, stream, counts, range.first, range.last, elements.get(), range.slot,
                 order);
    samples.use_slots(range.slot);
  };

  std::uint64_t done = 0;
  {
    const PhaseTimer timer(context, "sort samples");
    report_progress(context, "sort samples", done, size);
    for (const BucketRange& range : ranges) {
      sort_range(range);
      samples.rank_samples();
      done += range.slots;
      if (done != size) report_progress(context, "sort samples", done, size);
    }
    (void)samples.sort_samples();
    report_progress(context, "sort samples", size, size);
  }
  const PhaseTimer timer(context, "sort ranges");
  counts.next = next;
  done = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const BucketRange& range = ranges[descending ? ranges.size() - 1 - i : i];
    sort_range(range);
    samples.sort_groups();
    visit(range.slot, order.suffixes);
    done += range.slots;
    report_progress(context, "sort ranges", done, size);
  }
}

SORTIE_FOR_BOTH_POSITIONS(build_in_ranges);

}  // namespace sortie::suffix_array::host
