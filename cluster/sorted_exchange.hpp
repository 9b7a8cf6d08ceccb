// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cluster/traffic_plan.hpp"
#include "multisort/host/merge_runs.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/cluster.hpp"
#include "sortie/sort_records.hpp"

namespace sortie::cluster {

/// An exchange of parts: each rank divides its items among all ranks, and receives a run from each.
struct PartExchange {
  std::vector<std::uint64_t> sent;      ///< begins of the parts in the items of this rank; P + 1
  std::vector<std::uint64_t> received;  ///< begins of the runs, by source rank; P + 1

  [[nodiscard]] std::uint64_t items_received() const { return received.back(); }
  /// Items of the run of a source.
  [[nodiscard]] std::uint64_t run(std::size_t source) const {
    return received[source + 1] - received[source];
  }
  /// Items that `rank`, which has this plan, sends to others.
  [[nodiscard]] std::uint64_t items_to_others(int rank) const {
    const auto own = static_cast<std::size_t>(rank);
    return sent.back() - (sent[own + 1] - sent[own]);
  }
};

/// Exchanges the numbers of items of all parts. Collective; sends 8 (P - 1) bytes by exchange().
/// \param traffic  to which these are added
/// \param sent  begins of the parts, as of exact_splits(); P + 1
[[nodiscard]] PartExchange plan_exchange(Ranks& ranks, TrafficPlan& traffic,
                                         std::span<const std::uint64_t> sent);

/// One of several parallel arrays, such as keys and values.
struct PartArray {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;  ///< memory for items_received() items
  std::size_t item_bytes = 0;
};

/// Exchanges the parts of all arrays, in one call of Ranks::exchange(). Collective.
/// \param traffic  to which the bytes are added before they are sent
void exchange_parts(Ranks& ranks, TrafficPlan& traffic, const PartExchange& plan,
                    std::span<const PartArray> arrays);

/// Merges sorted runs on the threads of the host runtime: exact splits give each thread an equal
/// part of the result.
/// \param read    read(run, i) gives the key of item i of a run; called by the calling thread only
/// \param before  strict weak order of keys; the same
/// \param merge   merge(begins, ends, first): merges items [begins[r], ends[r]) of each run; the
///                first of them is item `first` of the result. Several threads call it at once
template <class Read, class Before, class Merge>
void merge_on_threads(std::span<const std::uint64_t> sizes, Read read, Before before, Merge merge) {
  std::uint64_t items = 0;
  for (const std::uint64_t size : sizes) items += size;
  const EqualShares shares = thread_shares(items);
  std::vector<std::vector<std::uint64_t>> splits;
  for (std::uint64_t share = 0; share < shares.count; ++share)
    splits.push_back(multisort::plan::split_at_rank(sizes, shares.begin(share), read, before));
  splits.emplace_back(sizes.begin(), sizes.end());
  for_each_task(shares.count, [&](std::uint64_t share) {
    merge(splits[share], splits[share + 1], shares.begin(share));
  });
}

/// Merges runs of unsigned keys, perhaps with values, stably: of equal keys those of earlier runs
/// come first. \pre in together(), since it runs on the host runtime
/// \param runs  may be empty; none overlaps `out`
template <std::unsigned_integral Key, class Value>
void merge_parts(std::span<const multisort::Run<Key, Value>> runs, Items<Key, Value> out) {
  std::vector<std::uint64_t> sizes;
  for (const auto& run : runs) sizes.push_back(run.size);
  merge_on_threads(
      sizes, [&](std::size_t run, std::uint64_t i) { return runs[run].items.keys[i]; },
      std::less<Key>{},
      [&](const std::vector<std::uint64_t>& begins, const std::vector<std::uint64_t>& ends,
          std::uint64_t first) {
        std::vector<multisort::Run<Key, Value>> parts;
        for (std::size_t run = 0; run < runs.size(); ++run)
          parts.push_back({runs[run].items.from(begins[run]), ends[run] - begins[run]});
        multisort::merge_runs(std::move(parts), out.from(first));
      });
}

/// The same for records and a comparator. \pre as merge_parts(); `before` must not throw
template <class Record, class Before>
void merge_record_parts(std::span<const sortie::detail::RecordRun> runs, Record* out,
                        Before before) {
  std::vector<std::uint64_t> sizes;
  for (const auto& run : runs) sizes.push_back(run.size);
  const auto records = [&](std::size_t run) { return static_cast<const Record*>(runs[run].begin); };
  merge_on_threads(
      sizes, [&](std::size_t run, std::uint64_t i) { return records(run)[i]; }, before,
      [&](const std::vector<std::uint64_t>& begins, const std::vector<std::uint64_t>& ends,
          std::uint64_t first) {
        std::vector<sortie::detail::RecordRun> parts;
        for (std::size_t run = 0; run < runs.size(); ++run)
          parts.push_back({records(run) + begins[run], ends[run] - begins[run]});
        Before mine = before;
        sortie::detail::merge_record_runs<Record>(parts, out + first, mine);
      });
}

}  // namespace sortie::cluster
