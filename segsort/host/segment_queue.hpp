// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "primitives/host/parallel.hpp"
#include "segsort/host/short/segment_batch.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::segsort {

/// The segments of one array.
struct Segments {
  OffsetArray begins;
  OffsetArray ends;
  std::uint64_t num_items;  ///< upper bound of all ends

  [[nodiscard]] std::uint64_t count() const { return begins.size; }
  [[nodiscard]] std::uint64_t length(std::uint64_t i) const { return ends[i] - begins[i]; }

  /// Returns body(begins, ends), with pointers to unsigned offsets of the actual width.
  template <class Body>
  auto with_offsets(Body body) const {
    if (begins.bytes == 4)
      return body(static_cast<const std::uint32_t*>(begins.data),
                  static_cast<const std::uint32_t*>(ends.data));
    return body(static_cast<const std::uint64_t*>(begins.data),
                static_cast<const std::uint64_t*>(ends.data));
  }
};

/// Distributes the segments that single threads sort, in portions of about equal work.
///
/// Portions are cut by items, so a few long segments count as much as thousands of short ones.
/// Oversized segments, those longer than a quarter of a thread's share, are listed separately.
///
/// Memory: 32 bytes per 1024 segments, and 8 bytes per oversized segment. The constructor reads and
/// checks every offset once, in parallel.
class SegmentQueue {
 public:
  /// \throws Error (input)  an offset beyond num_items, or an end before its begin
  SegmentQueue(const Segments& segments, std::uint64_t threads);

  /// Indices of the segments that all threads sort together.
  [[nodiscard]] const std::vector<std::uint64_t>& oversized() const { return oversized_; }

  /// Items of the longest segment that work() distributes.
  [[nodiscard]] std::uint64_t longest() const { return longest_; }

  /// Calls sort() after each assignment to `batch` of segments of the next portion. Returns false
  /// if no portion is left. Thread-safe, given one batch per thread.
  /// \param prefetch  called with the begin of segments that may be short, some microseconds before
  ///                  sort() reads them in the order of their lengths, which no hardware prefetcher
  ///                  predicts
  template <class Prefetch, class Sort>
  bool work(SegmentBatch& batch, Prefetch prefetch, Sort sort) {
    const std::uint64_t portion = next_portion_.fetch_add(1, std::memory_order_relaxed);
    if (portion >= portions_.count) return false;
    const std::uint64_t cost_begin = portions_.begin(portion);
    const std::uint64_t cost_end = portions_.begin(portion + 1);
    for (std::uint64_t block = block_of(cost_begin);
         block < kinds_.size() && block_starts_[block] < cost_end; ++block) {
      if (kinds_[block] == BlockKind::idle) continue;
      segments_.with_offsets([&](const auto* begins, const auto* ends) {
        assign(block, begins + first_of(block), ends + first_of(block), cost_begin, cost_end,
               prefetch, batch);
      });
      sort();
    }
    return true;
  }

 private:
  /// Kind of a block, by the segments that work() distributes.
  enum class BlockKind : std::uint8_t {
    idle,   ///< no segment has two items
    equal,  ///< includes all segments of the block, which have the same length
    mixed,
  };

  /// Segments per block; costs are summed per block.
  static constexpr std::uint64_t segments_per_block = SegmentBatch::capacity;
  /// Cost of a segment in addition to its items, in items: reading the offsets and the call.
  static constexpr std::uint64_t segment_cost = 4;
  /// Shorter segments are sorted faster by one thread: the parallel passes start the threads eight
  /// times, at some microseconds each, whereas one thread sorts 2^16 items in about 300
  /// microseconds.
  static constexpr std::uint64_t smallest_oversized = std::uint64_t{1} << 16;
  /// Portions per thread: the last thread finishes late by about a sixteenth of its share.
  static constexpr std::uint64_t portions_per_thread = 16;

  /// Assigns the segments of a block whose cost begins in [cost_begin, cost_end) to `batch`.
  template <class Offset, class Prefetch>
  void assign(std::uint64_t block, const Offset* begins, const Offset* ends,
              std::uint64_t cost_begin, std::uint64_t cost_end, Prefetch prefetch,
              SegmentBatch& batch) const {
    const std::uint64_t size = first_of(block + 1) - first_of(block);
    std::uint64_t cost = block_starts_[block];
    if (cost >= cost_begin && block_starts_[block + 1] <= cost_end) {
      if (kinds_[block] == BlockKind::equal)
        return batch.assign_equal(begins, size, std::uint64_t{ends[0]} - begins[0]);
      return batch.assign(begins, ends, size, [&](std::uint64_t begin, std::uint64_t length) {
        prefetch(begin);
        return length <= longest_allowed_;
      });
    }
    batch.assign(begins, ends, size, [&](std::uint64_t, std::uint64_t length) {
      const bool allowed = length <= longest_allowed_;
      const bool here = cost >= cost_begin && cost < cost_end;
      cost += segment_cost + (allowed ? length : 0);
      return allowed && here;
    });
  }

  [[nodiscard]] std::uint64_t block_of(std::uint64_t cost) const;
  [[nodiscard]] std::uint64_t first_of(std::uint64_t block) const {
    return std::min(segments_.count(), block * segments_per_block);
  }

  Segments segments_;
  std::uint64_t longest_allowed_ = 0;
  std::uint64_t longest_ = 0;
  EqualShares portions_{0, 0};  ///< the total cost of all segments, cut into portions
  std::vector<std::uint64_t> oversized_;
  std::vector<std::uint64_t> block_starts_;  ///< prefix sums of block costs, with the total
  std::vector<BlockKind> kinds_;
  std::atomic<std::uint64_t> next_portion_{0};
};

}  // namespace sortie::segsort
