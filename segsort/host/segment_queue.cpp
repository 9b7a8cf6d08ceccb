// SPDX-License-Identifier: Apache-2.0
#include "segsort/host/segment_queue.hpp"

#include <algorithm>

#include "primitives/host/parallel.hpp"
#include "segsort/backends.hpp"
#include "segsort/host/offset_scan.hpp"

namespace sortie::segsort {

SegmentQueue::SegmentQueue(const Segments& segments, std::uint64_t threads) : segments_(segments) {
  const std::uint64_t count = segments.count();
  const std::uint64_t num_blocks = (count + segments_per_block - 1) / segments_per_block;
  std::vector<OffsetSummary> summaries(num_blocks);
  const VectorUnit unit = vector_unit();
  const EqualShares shares{num_blocks, std::clamp<std::uint64_t>(num_blocks, 1, threads)};
  for_each_share(shares, [&](std::uint64_t, std::uint64_t next, std::uint64_t last) {
    for (std::uint64_t block = next; block < last; ++block) {
      const std::uint64_t first = first_of(block);
      const std::uint64_t size = first_of(block + 1) - first;
      summaries[block] = segments.with_offsets([&](const auto* begins, const auto* ends) {
        return summarise_offsets(begins + first, ends + first, size, segments.num_items, unit);
      });
    }
  });

  std::uint64_t items = 0;
  bool valid = true;
  for (const OffsetSummary& summary : summaries) {
    items += summary.items;
    valid = valid && summary.valid;
  }
  if (!valid) check_offsets(segments.begins, segments.ends, segments.num_items);
  // The other threads still balance the load if one thread sorts a segment of a quarter of its
  // share.
  longest_allowed_ = threads == 1 ? items : std::max(smallest_oversized, items / (4 * threads));

  block_starts_.reserve(num_blocks + 1);
  kinds_.reserve(num_blocks);
  std::uint64_t cost = 0;
  for (std::uint64_t block = 0; block < num_blocks; ++block) {
    block_starts_.push_back(cost);
    OffsetSummary& summary = summaries[block];
    const bool equal = summary.shortest == summary.longest;
    const std::size_t oversized_before = oversized_.size();
    if (summary.longest > longest_allowed_) {
      summary.longest = 0;
      for (std::uint64_t i = first_of(block); i < first_of(block + 1); ++i) {
        const std::uint64_t length = segments.length(i);
        if (length <= longest_allowed_) {
          summary.longest = std::max(summary.longest, length);
        } else {
          oversized_.push_back(i);
          summary.items -= length;
        }
      }
    }
    longest_ = std::max(longest_, summary.longest);
    kinds_.push_back(summary.longest <= 1                             ? BlockKind::idle
                     : equal && oversized_before == oversized_.size() ? BlockKind::equal
                                                                      : BlockKind::mixed);
    cost += summary.items + segment_cost * (first_of(block + 1) - first_of(block));
  }
  block_starts_.push_back(cost);
  portions_ = {cost, std::min(cost, portions_per_thread * threads)};
}

std::uint64_t SegmentQueue::block_of(std::uint64_t cost) const {
  const auto after = std::upper_bound(block_starts_.begin(), block_starts_.end(), cost);
  return static_cast<std::uint64_t>(after - block_starts_.begin()) - 1;
}

}  // namespace sortie::segsort
