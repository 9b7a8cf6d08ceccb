#pragma once

#include <cstdint>
#include <vector>

#include "sortie/apps/suffix_array/host/arrays.hpp"
#include "sortie/apps/suffix_array/host/bit_set.hpp"
#include "sortie/apps/suffix_array/host/prefix_plan.hpp"
#include "sortie/apps/suffix_array/host/runs.hpp"
#include "sortie/apps/suffix_array/host/symbol_stream.hpp"

namespace sortie::suffix_array::host {

/// How the suffixes of a text spread over buckets.
template <Position Pos>
struct BucketCounts {
  /// Entry [piece * buckets + bucket]: the first element of that piece of the text there.
  std::vector<Pos> next;
  /// First element of each bucket, and the number of all at the end. Members of long runs are none.
  std::vector<Pos> starts;
  std::vector<LongRun<Pos>> runs;   ///< ascending
  std::vector<RunSlots> run_slots;  ///< of letters that have runs, by bucket; begin is not set yet

  [[nodiscard]] std::uint64_t elements() const { return starts.back(); }
  [[nodiscard]] std::uint64_t largest_bucket() const;
};

/// Counts on all host threads. O(n), and where long runs are, less.
template <Position Pos>
[[nodiscard]] BucketCounts<Pos> count_buckets(const TextView& text, const PrefixPlan& plan);

/// The suffix array as far as it is known.
template <Position Pos>
struct FirstOrder {
  std::vector<Pos> suffixes;            ///< all but the slots of runs are filled
  BitSet joined;                        ///< slots that are in one group with the slot before
  std::vector<RunSlots> run_slots;      ///< by slot
  std::uint64_t in_equal_prefixes = 0;  ///< suffixes that the first sort alone leaves in groups
  std::uint64_t in_groups = 0;          ///< those that the text rounds leave
};

/// Sorts all suffixes that are no members of long runs by their first plan.depth() symbols, and
/// what agrees in them by the words that follow, up to `depth_limit` symbols (text_rounds.hpp).
/// What is left are groups of suffixes that agree in as many symbols, without an end.
///
/// The buckets are filled and sorted in one go, or, to take less memory, in several that go over
/// the text anew.
///
/// \param counts        of this text; its `next` is used up
/// \param most_elements elements to hold at once, 8 bytes each; at least the largest bucket
template <Position Pos>
[[nodiscard]] FirstOrder<Pos> sort_first(const TextView& text, const PrefixPlan& plan,
                                         const SymbolStream& stream, BucketCounts<Pos>& counts,
                                         std::uint64_t depth_limit, std::uint64_t most_elements);

}  // namespace sortie::suffix_array::host
