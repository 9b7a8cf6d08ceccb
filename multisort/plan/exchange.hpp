// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sortie::multisort::plan {

/// A contiguous range of items on a source, and its place on a destination.
struct Transfer {
  std::size_t source = 0;
  std::size_t destination = 0;
  std::uint64_t source_begin = 0;       ///< relative to the source's first item
  std::uint64_t destination_begin = 0;  ///< relative to the destination's first item
  std::uint64_t size = 0;
};

/// Appends a transfer, or extends the last one if the two are adjacent at both ends.
void add_transfer(std::vector<Transfer>& transfers, const Transfer& transfer);

/// Brings the transfers of each source in sending order: to itself first, then to the following
/// destinations, cyclically. So in each step every destination receives from one source. RMG's
/// sources all begin with destination 0 and wait for each other (section 3.2).
void rotate_transfers(std::vector<std::vector<Transfer>>& by_source, std::size_t destinations);

/// All transfers of an exchange. Every item is in exactly one transfer, and the transfers to a
/// destination tile it.
struct Exchange {
  std::vector<std::vector<Transfer>> by_source;  ///< rotated
  std::vector<std::uint64_t> destination_sizes;
};

/// The exchange after a split of sorted sequences: each destination gets one run of each source, in
/// the order of the sources.
/// \param splits  result of split_for_destinations()
[[nodiscard]] Exchange exchange_of_runs(std::span<const std::vector<std::uint64_t>> splits);

}  // namespace sortie::multisort::plan
