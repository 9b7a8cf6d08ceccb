// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "apps/suffix_array/host/bit_set.hpp"
#include "apps/suffix_array/host/build/runs.hpp"
#include "apps/suffix_array/host/text/coded_text.hpp"
#include "primitives/host/radix_pass.hpp"

namespace sortie::suffix_array::host {

/// The distribution of the suffixes of a text over buckets.
template <Position Pos>
struct BucketCounts {
  /// Entry [chunk * buckets + bucket]: the first element of that chunk of the text in the bucket.
  std::vector<Pos> next;
  /// First element of each bucket, and at the end the number of elements. Members of long runs are
  /// not counted.
  std::vector<Pos> starts;
  std::vector<LongRun<Pos>> runs;   ///< ascending
  std::vector<RunSlots> run_slots;  ///< of letters that have runs, by bucket; begin is not set yet

  [[nodiscard]] std::uint64_t elements() const { return starts.back(); }
  [[nodiscard]] std::uint64_t largest_bucket() const {
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      largest = std::max<std::uint64_t>(largest, starts[i + 1] - starts[i]);
    }
    return largest;
  }
  /// The end of the buckets from `first` on that have at most `most` elements, or of one bucket.
  [[nodiscard]] std::uint64_t end_of_buckets(std::uint64_t first, std::uint64_t most) const {
    std::uint64_t last = first + 1;
    while (last + 1 < starts.size() && starts[last + 1] - starts[first] <= most) ++last;
    return last;
  }
};

/// Counts on all host threads. O(n); long runs of one letter take less.
template <Position Pos>
[[nodiscard]] BucketCounts<Pos> count_buckets(const TextView& text, const PrefixPlan& plan);

/// Adds the members [first, end - plan.depth() + 1) of a long run to those before. The members of a
/// run follow each other, also those that are found in two parts of the text.
template <Position Pos>
void add_run(const PrefixPlan& plan, std::vector<LongRun<Pos>>& runs, const LongRun<Pos>& run) {
  if (!runs.empty() && runs.back().end + std::uint64_t{1} == run.begin + plan.depth()) {
    runs.back().end = run.end;
  } else {
    runs.push_back(run);
  }
}

/// Completes counts, of which `next` has those of each chunk and bucket, and `runs` those found.
/// \param code_of  code_of(position), of a letter
template <Position Pos, class CodeOf>
void finish_counts(const PrefixPlan& plan, const CodeOf& code_of, BucketCounts<Pos>& counts) {
  for (std::uint64_t code = 1; code < plan.base; ++code) counts.run_slots.push_back({code, 0, 0});
  for (const LongRun<Pos>& run : counts.runs)
    counts.run_slots[code_of(run.begin) - 1].size += run.end - plan.depth() + 1 - run.begin;
  std::erase_if(counts.run_slots, [](const RunSlots& letter) { return letter.size == 0; });
  const Pos elements =
      counts_to_starts(counts.next.data(), plan.buckets, counts.next.size() / plan.buckets);
  counts.starts.assign(counts.next.begin(),
                       counts.next.begin() + static_cast<std::ptrdiff_t>(plan.buckets));
  counts.starts.push_back(elements);
}

/// The suffix array after the first sort and the text rounds.
template <Position Pos>
struct FirstOrder {
  std::vector<Pos> suffixes;            ///< all but the slots of runs are filled
  BitSet joined;                        ///< slots in the same group as the slot before
  std::vector<LongRun<Pos>> runs;       ///< ascending
  std::vector<RunSlots> run_slots;      ///< by slot
  std::uint64_t in_equal_prefixes = 0;  ///< suffixes that the first sort alone leaves in groups
  std::uint64_t in_groups = 0;          ///< suffixes that the text rounds leave in groups
};

/// Elements that are sorted independently, and their slots.
struct ElementRange {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t slot;

  [[nodiscard]] std::uint64_t size() const { return end - begin; }
};

/// Sorts the elements of each range by their keys and by the words of the text that follow, and
/// writes their positions to `order`, which has their slots. On all host threads.
/// \param ranges  follow each other in `elements`; the elements of a range are of one bucket
template <Position Pos>
void sort_ranges(const PrefixPlan& plan, const SymbolStream& stream, std::uint64_t* elements,
                 std::vector<ElementRange> ranges, FirstOrder<Pos>& order);

/// Fills buckets [first, last) and sorts them as sort_first() does; sets the begin of their slots
/// of runs.
/// \param counts      advanced: the elements of a bucket can be filled once
/// \param elements    memory for those of these buckets
/// \param first_slot  of `order`, which has the slots of these buckets
template <Position Pos>
void sort_buckets(const TextView& text, const PrefixPlan& plan, const SymbolStream& stream,
                  BucketCounts<Pos>& counts, std::uint64_t first, std::uint64_t last,
                  std::uint64_t* elements, std::uint64_t first_slot, FirstOrder<Pos>& order);

/// Sorts all suffixes except members of long runs by their first plan.depth() symbols, and suffixes
/// that agree in these by the following words (text_rounds.hpp). The remaining groups agree in
/// TextRounds::depth_limit() symbols, without an end.
///
/// The buckets are filled and sorted in one pass over the text or, to use less memory, in several.
///
/// \param most_elements  to hold at once, 8 bytes each; at least the largest bucket
template <Position Pos>
[[nodiscard]] FirstOrder<Pos> sort_first(const TextView& text, const PrefixPlan& plan,
                                         const SymbolStream& stream, BucketCounts<Pos> counts,
                                         std::uint64_t most_elements);

}  // namespace sortie::suffix_array::host
