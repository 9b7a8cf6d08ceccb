// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"

namespace sortie {

namespace detail {

/// A sorted range of records.
struct RecordRun {
  const void* begin = nullptr;
  std::uint64_t size = 0;  ///< records
};

/// A type-erased sort of records. Several threads call the functions at once, except `before`. They
/// must not throw.
struct RecordSort {
  void* records = nullptr;
  std::uint64_t count = 0;
  std::size_t record_bytes = 0;
  /// Sorts n records in place, stably. `scratch` holds n records.
  std::function<void(void* records, void* scratch, std::uint64_t n)> sort_share;
  std::function<bool(const void* a, const void* b)> before;  ///< called by the calling thread only
  /// Merges runs; of equal records those of earlier runs come first.
  std::function<void(std::span<const RecordRun> runs, void* out)> merge;
};

/// Sorts the shares, splits them exactly, exchanges, and merges.
SORTIE_API void sort_records(const Context& context, const RecordSort& sort, int devices);

/// Merges [a, a_end) and [b, b_end) into `out`, stably: equal records of a precede those of b. The
/// inner loop runs as long as neither run can end; it has no data-dependent branch.
template <class Record, class Before>
void merge_two_runs(const Record* a, const Record* a_end, const Record* b, const Record* b_end,
                    Record* out, Before& before) {
  while (a != a_end && b != b_end) {
    for (auto sure = std::min(a_end - a, b_end - b); sure > 0; --sure) {
      const bool take_b = before(*b, *a);
      *out++ = take_b ? *b : *a;
      b += take_b;
      a += !take_b;
    }
  }
  std::copy(b, b_end, std::copy(a, a_end, out));
}

/// Stable merge sort on one thread. Insertion sort of blocks of 16 records, then rounds that double
/// the length of the runs and alternate between the two arrays. Does not allocate.
template <class Record, class Before>
void sort_share(Record* records, Record* scratch, std::uint64_t n, Before& before) {
  constexpr std::uint64_t block = 16;
  for (std::uint64_t begin = 0; begin < n; begin += block) {
    const std::uint64_t end = std::min(n, begin + block);
    for (std::uint64_t i = begin + 1; i < end; ++i) {
      const Record record = records[i];
      std::uint64_t to = i;
      for (; to > begin && before(record, records[to - 1]); --to) records[to] = records[to - 1];
      records[to] = record;
    }
  }
  Record* from = records;
  Record* to = scratch;
  for (std::uint64_t length = block; length < n; length *= 2) {
    for (std::uint64_t begin = 0; begin < n; begin += 2 * length) {
      const Record* const middle = from + std::min(n, begin + length);
      merge_two_runs<Record>(from + begin, middle, middle, from + std::min(n, begin + 2 * length),
                             to + begin, before);
    }
    std::swap(from, to);
  }
  if (from != records) std::copy_n(from, n, records);
}

/// Merges sorted runs with a loser tree: each inner node stores the loser of its match, so each
/// record costs one comparison per level. An exhausted run loses every match.
/// Source: Knuth, The Art of Computer Programming, volume 3, section 5.4.1.
template <class Record, class Before>
void merge_record_runs(std::span<const RecordRun> runs, Record* out, Before& before) {
  struct Range {
    const Record* next;
    const Record* end;
  };
  std::vector<Range> ranges;
  for (const RecordRun& run : runs) {
    const auto* const begin = static_cast<const Record*>(run.begin);
    if (run.size > 0) ranges.push_back({begin, begin + run.size});
  }
  const std::size_t count = ranges.size();
  if (count <= 2) {
    ranges.resize(2);  // with empty ones
    return merge_two_runs(ranges[0].next, ranges[0].end, ranges[1].next, ranges[1].end, out,
                          before);
  }
  const auto beats = [&](std::size_t a, std::size_t b) {
    if (ranges[a].next == ranges[a].end) return false;
    if (ranges[b].next == ranges[b].end) return true;
    if (a < b) return !before(*ranges[b].next, *ranges[a].next);
    return before(*ranges[a].next, *ranges[b].next);
  };
  // Run i is leaf count + i. Node j compares the winners of nodes 2 j and 2 j + 1.
  std::vector<std::size_t> winners(2 * count);
  std::vector<std::size_t> losers(count);
  for (std::size_t i = 0; i < count; ++i) winners[count + i] = i;
  for (std::size_t node = count - 1; node > 0; --node) {
    const std::size_t a = winners[2 * node];
    const std::size_t b = winners[2 * node + 1];
    const bool a_wins = beats(a, b);
    winners[node] = a_wins ? a : b;
    losers[node] = a_wins ? b : a;
  }
  std::size_t winner = winners[1];
  while (ranges[winner].next != ranges[winner].end) {
    *out++ = *ranges[winner].next++;
    for (std::size_t node = (count + winner) / 2; node > 0; node /= 2)
      if (beats(losers[node], winner)) std::swap(losers[node], winner);
  }
}

/// The sort of these records by this comparator. \pre `before` outlives the result
template <class Record, class Before>
[[nodiscard]] RecordSort record_sort(std::span<Record> records, Before& before) {
  RecordSort sort;
  sort.records = records.data();
  sort.count = records.size();
  sort.record_bytes = sizeof(Record);
  // Each call copies the comparator, so no two threads share its state.
  sort.sort_share = [&before](void* items, void* scratch, std::uint64_t n) {
    Before mine = before;
    sort_share(static_cast<Record*>(items), static_cast<Record*>(scratch), n, mine);
  };
  sort.before = [&before](const void* a, const void* b) {
    return static_cast<bool>(
        before(*static_cast<const Record*>(a), *static_cast<const Record*>(b)));
  };
  sort.merge = [&before](std::span<const RecordRun> runs, void* out) {
    Before mine = before;
    merge_record_runs(runs, static_cast<Record*>(out), mine);
  };
  return sort;
}

}  // namespace detail

/// Sorts records by a comparator, in place, on the host.
///
/// Each device sorts one share. An exact multi-sequence selection splits the sorted shares, one
/// exchange gives each device a run from every other device, and each device merges its runs.
///
/// \param before   strict weak order of records; called by several threads at once; must not throw
/// \param devices  number of logical devices that share the records; 0: one per thread
/// \throws Error (usage)          the number of devices is out of range
/// \throws Error (out_of_memory)  one copy of the records does not fit the budget or the memory
/// \throws Error (unavailable)    the context asks for the cuda backend
/// Complexity: O(n log n) comparisons. Extra memory: one copy of the records. Stable; the result
/// does not depend on the number of threads or devices. Report: phases "local sort", "pivots",
/// "exchange", "merge". Source: Tanasic et al. (GPGPU 2013), section 3; multisort/README.md lists
/// the differences.
template <class Record, class Before>
requires std::is_trivially_copyable_v<Record>
void sort_records(const Context& context, std::span<Record> records, Before before,
                  int devices = 0) {
  detail::sort_records(context, detail::record_sort(records, before), devices);
}

}  // namespace sortie
