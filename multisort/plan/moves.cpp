// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/moves.hpp"

#include <algorithm>
#include <utility>

#include "primitives/host/parallel.hpp"

namespace sortie::multisort::plan {

namespace {

/// Appends a transfer, or extends the last one if the two are adjacent at both ends.
void add_transfer(std::vector<Transfer>& transfers, const Transfer& transfer) {
  if (!transfers.empty()) {
    Transfer& last = transfers.back();
    if (last.destination == transfer.destination &&
        last.source_begin + last.size == transfer.source_begin &&
        last.destination_begin + last.size == transfer.destination_begin) {
      last.size += transfer.size;
      return;
    }
  }
  transfers.push_back(transfer);
}

/// Sending order: to itself first, then to the following destinations, cyclically. So in each step
/// every destination receives from one source. RMG's sources all begin with destination 0 and wait
/// for each other (section 3.2).
void rotate_transfers(std::vector<std::vector<Transfer>>& by_source, std::size_t destinations) {
  for (std::size_t source = 0; source < by_source.size(); ++source) {
    // Step 0 is the source's own share. With more sources than destinations the steps wrap around.
    const auto step = [&](const Transfer& transfer) {
      return (transfer.destination + destinations - source % destinations) % destinations;
    };
    std::stable_sort(by_source[source].begin(), by_source[source].end(),
                     [&](const Transfer& a, const Transfer& b) { return step(a) < step(b); });
  }
}

std::vector<MoveGroup> groups_of(const Division& division, const std::vector<std::uint64_t>& begins,
                                 bool fuse, std::uint64_t limit) {
  std::vector<MoveGroup> groups;
  std::uint64_t position = 0;
  bool may_grow = false;
  for (std::size_t b = 0; b < division.ranges.size(); ++b) {
    const std::uint64_t size = division.ranges[b].size;
    const bool is_split =
        size > 0 && part_at(begins, position) != part_at(begins, position + size - 1);
    if (fuse && may_grow && !is_split && groups.back().size + size <= limit &&
        part_at(begins, groups.back().begin) == part_at(begins, position)) {
      groups.back().end_bucket = b + 1;
      groups.back().size += size;
    } else {
      groups.push_back({b, b + 1, position, size, {}});
    }
    may_grow = !is_split;
    position += size;
  }
  return groups;
}

}  // namespace

Exchange exchange_of_runs(std::span<const std::vector<std::uint64_t>> splits) {
  const std::size_t sources = splits.front().size();
  Exchange exchange{std::vector<std::vector<Transfer>>(sources),
                    std::vector<std::uint64_t>(splits.size() - 1)};
  for (std::size_t d = 0; d + 1 < splits.size(); ++d) {
    std::uint64_t& received = exchange.destination_sizes[d];
    for (std::size_t source = 0; source < sources; ++source) {
      const std::uint64_t begin = splits[d][source];
      const std::uint64_t size = splits[d + 1][source] - begin;
      if (size != 0) add_transfer(exchange.by_source[source], {source, d, begin, received, size});
      received += size;
    }
  }
  rotate_transfers(exchange.by_source, exchange.destination_sizes.size());
  return exchange;
}

Division division_of(const RadixPartition& partition) {
  Division division;
  division.destination_sizes = partition.destination_sizes();
  for (const Bucket& bucket : partition.buckets())
    division.ranges.push_back(
        {keys_of_prefix(bucket.prefix, bucket.prefix_bits, partition.problem().key_bits),
         bucket.counts, bucket.size});
  return division;
}

std::optional<Division> divide(std::span<const KeyRange> ranges,
                               std::span<const std::uint64_t> counts, std::size_t row,
                               std::span<const std::uint64_t> destination_sizes,
                               const BorderTolerance& tolerance) {
  const std::size_t sources = counts.size() / row;
  Division division;
  std::vector<std::uint64_t> begins{0};
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    Division::Range range{ranges[r], {}, 0};
    for (std::size_t source = 0; source < sources; ++source) {
      range.counts.push_back(counts[source * row + r]);
      range.size += range.counts.back();
    }
    begins.push_back(begins.back() + range.size);
    division.ranges.push_back(std::move(range));
  }
  const auto has_one_value = [&](std::size_t r) { return ranges[r].least == ranges[r].greatest; };
  const std::vector<std::uint64_t> ideal = begins_of(destination_sizes);
  std::uint64_t last = 0;
  for (std::size_t d = 1; d < ideal.size(); ++d) {
    const auto border = place_border(begins, ideal[d], tolerance, has_one_value);
    if (!border) return std::nullopt;
    division.destination_sizes.push_back(*border - last);
    last = *border;
  }
  return division;
}

MovePlan plan_moves(const Division& division, std::size_t most_groups, std::uint64_t preferred_size,
                    const std::function<bool(std::size_t, std::size_t)>& reaches) {
  MovePlan plan;
  plan.destination_begins = begins_of(division.destination_sizes);
  const std::vector<std::uint64_t>& begins = plan.destination_begins;
  const std::size_t sources = division.ranges.empty() ? 0 : division.ranges.front().counts.size();
  const bool fuse = division.ranges.size() > most_groups;
  std::uint64_t limit =
      std::max<std::uint64_t>(1, std::min(preferred_size, begins.back() / most_groups));
  do {
    plan.groups = groups_of(division, begins, fuse, limit);
    limit *= 2;
  } while (plan.groups.size() > most_groups);
  for (MoveGroup& group : plan.groups)
    group.keys = {division.ranges[group.first_bucket].keys.least,
                  division.ranges[group.end_bucket - 1].keys.greatest};

  plan.places.resize(sources);
  plan.staged.assign(sources, 0);
  plan.transfers.resize(sources);
  for (const MoveGroup& group : plan.groups) {
    std::uint64_t position = group.begin;
    for (std::size_t source = 0; source < sources; ++source) {
      std::uint64_t count = 0;
      for (std::size_t b = group.first_bucket; b < group.end_bucket; ++b)
        count += division.ranges[b].counts[source];
      if (count == 0) {
        plan.places[source].push_back({});
        continue;
      }
      const std::size_t first = part_at(begins, position);
      if (first == part_at(begins, position + count - 1) && reaches(source, first)) {
        plan.places[source].push_back({count, false, first, position - begins[first]});
        position += count;
        continue;
      }
      plan.places[source].push_back({count, true, first, plan.staged[source]});
      for (std::size_t destination = first; count > 0; ++destination) {
        const std::uint64_t size = std::min(count, begins[destination + 1] - position);
        if (size == 0) continue;
        add_transfer(plan.transfers[source], {source, destination, plan.staged[source],
                                              position - begins[destination], size});
        plan.staged[source] += size;
        position += size;
        count -= size;
      }
    }
  }
  rotate_transfers(plan.transfers, begins.size() - 1);
  return plan;
}

}  // namespace sortie::multisort::plan
