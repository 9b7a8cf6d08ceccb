// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/division.hpp"

#include <algorithm>
#include <bit>

#include "primitives/host/parallel.hpp"

namespace sortie::multisort::plan {

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

std::vector<std::vector<SortTask>> sort_tasks(const RadixPartition& partition,
                                              std::uint64_t small) {
  const std::vector<std::uint64_t> begins = begins_of(partition.destination_sizes());
  std::vector<std::vector<SortTask>> all(partition.destination_sizes().size());
  std::vector<std::uint64_t> least(all.size());  // key of the last task of each destination
  std::uint64_t position = 0;
  for (const Division::Range& range : division_of(partition).ranges) {
    for (const std::uint64_t end = position + range.size; position < end;) {
      const std::size_t d = part_at(begins, position);
      const std::uint64_t size = std::min(end, begins[d + 1]) - position;
      if (!all[d].empty() && all[d].back().size + size <= small) {
        all[d].back().size += size;
      } else {
        all[d].push_back({position - begins[d], size});
        least[d] = range.keys.least;
      }
      all[d].back().remaining_bits =
          static_cast<int>(std::bit_width(least[d] ^ range.keys.greatest));
      position += size;
    }
  }
  return all;
}

}  // namespace sortie::multisort::plan
