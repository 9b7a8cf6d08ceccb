#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sortie/multisort/plan/radix_partition.hpp"

namespace sortie::multisort::plan {

/// Items that lie in a row on a source and shall lie in a row on a destination.
struct Transfer {
  std::size_t source = 0;
  std::size_t destination = 0;
  std::uint64_t source_begin = 0;       ///< counted from the begin of the source's items
  std::uint64_t destination_begin = 0;  ///< counted from the begin of the destination's items
  std::uint64_t size = 0;
};

/// Who sends what where. Every item is in exactly one transfer, and the transfers to a destination
/// tile it.
struct Exchange {
  /// The transfers of each source, in the order in which it should send them: to itself first, then
  /// to the destinations behind it, around. So in each turn every destination receives from one
  /// source; RMG's sources all begin with destination 0 and wait for each other (section 3.2).
  /// Transfers that touch on both sides are one.
  std::vector<std::vector<Transfer>> by_source;
  std::vector<std::uint64_t> destination_sizes;
};

/// The exchange after a radix partition: each source holds its keys in the order of the buckets,
/// and each destination gets its buckets in order, the keys of a bucket in the order of the
/// sources, so that equal keys keep their order. \pre partition.refinements().empty()
[[nodiscard]] Exchange exchange_of_buckets(const RadixPartition& partition);

/// The exchange after a split of sorted sequences: each destination gets one run of each source, in
/// the order of the sources.
/// \param splits  as split_for_destinations() gives them
[[nodiscard]] Exchange exchange_of_runs(std::span<const std::vector<std::uint64_t>> splits);

}  // namespace sortie::multisort::plan
