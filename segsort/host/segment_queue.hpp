#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "sortie/segsort/host/parallel_parts.hpp"
#include "sortie/segsort/host/segment_batch.hpp"
#include "sortie/segsort/segmented_sort.hpp"

namespace sortie::segsort {

/// The segments of one array.
struct Segments {
  OffsetArray begins;
  OffsetArray ends;
  std::uint64_t num_items;  ///< what no end may exceed

  [[nodiscard]] std::uint64_t count() const { return begins.size; }
  [[nodiscard]] std::uint64_t length(std::uint64_t i) const { return ends[i] - begins[i]; }

  /// Calls body(i, begin, length) for the segments [first, last). The width of the offsets is asked
  /// once, not for each of them.
  template <class Body>
  void for_each(std::uint64_t first, std::uint64_t last, Body body) const {
    with_offsets([&](const auto* begin, const auto* end) {
      for (std::uint64_t i = first; i < last; ++i)
        body(i, std::uint64_t{begin[i]}, std::uint64_t{end[i]} - begin[i]);
    });
  }

  /// Returns body(begins, ends), pointers to unsigned offsets of their width.
  template <class Body>
  auto with_offsets(Body body) const {
    if (begins.bytes == 4)
      return body(static_cast<const std::uint32_t*>(begins.data),
                  static_cast<const std::uint32_t*>(ends.data));
    return body(static_cast<const std::uint64_t*>(begins.data),
                static_cast<const std::uint64_t*>(ends.data));
  }
};

/// Deals out the segments that one thread sorts alone, in portions of about the same work.
///
/// Portions are cut by items, not by number of segments, so that a few long segments weigh as much
/// as the thousands of short ones beside them. "Giants", segments longer than a quarter of a
/// thread's share, would keep one thread busy while the others have nothing left; they are listed
/// apart.
///
/// Memory: 32 bytes for 1024 segments, and 8 for a giant. Building it reads every offset once, in
/// parallel, and checks it; where no segment has two items, that is all that is to be done.
class SegmentQueue {
 public:
  /// \throws Error (input)  an offset beyond num_items, or an end before its begin
  SegmentQueue(const Segments& segments, std::uint64_t threads);

  /// Segments to be sorted by all threads together.
  [[nodiscard]] const std::vector<std::uint64_t>& giants() const { return giants_; }

  /// Items of the longest segment that work() deals out.
  [[nodiscard]] std::uint64_t longest() const { return longest_; }

  /// Calls sort() after every assignment to `batch`, of segments of the next portion. False when no
  /// portion is left. Thread-safe, with a batch a thread.
  /// \param bring_near  called with the begin of segments that may be short, some microseconds
  ///                    before sort() reads them in the order of their lengths, which no processor
  ///                    foresees
  template <class BringNear, class Sort>
  bool work(SegmentBatch& batch, BringNear bring_near, Sort sort) {
    const std::uint64_t portion = next_portion_.fetch_add(1, std::memory_order_relaxed);
    if (portion >= portions_.count) return false;
    const std::uint64_t cost_begin = portions_.begin(portion);
    const std::uint64_t cost_end = portions_.begin(portion + 1);
    for (std::uint64_t block = block_of(cost_begin);
         block < kinds_.size() && block_starts_[block] < cost_end; ++block) {
      if (kinds_[block] == BlockKind::idle) continue;
      segments_.with_offsets([&](const auto* begins, const auto* ends) {
        assign(block, begins + first_of(block), ends + first_of(block), cost_begin, cost_end,
               bring_near, batch);
      });
      sort();
    }
    return true;
  }

 private:
  /// What a block holds that work() deals out.
  enum class BlockKind : std::uint8_t {
    idle,   ///< no segment of two items
    equal,  ///< all its segments, of one length
    mixed,
  };

  /// Segments that share one partial sum of the costs.
  static constexpr std::uint64_t segments_per_block = SegmentBatch::capacity;
  /// What a segment costs beside its items, in items: the offsets, the call.
  static constexpr std::uint64_t segment_cost = 4;
  /// Below this many items a segment is sorted sooner than all threads can be told of it: the
  /// parallel passes start the threads eight times, some microseconds each, and 2^16 items take
  /// about 300 microseconds.
  static constexpr std::uint64_t smallest_giant = std::uint64_t{1} << 16;
  /// Portions for each thread: the last to finish is late by about a sixteenth of its share.
  static constexpr std::uint64_t portions_per_thread = 16;

  /// Gives `batch` the segments of a block whose cost begins in [cost_begin, cost_end).
  template <class Offset, class BringNear>
  void assign(std::uint64_t block, const Offset* begins, const Offset* ends,
              std::uint64_t cost_begin, std::uint64_t cost_end, BringNear bring_near,
              SegmentBatch& batch) const {
    const std::uint64_t size = first_of(block + 1) - first_of(block);
    std::uint64_t cost = block_starts_[block];
    if (cost >= cost_begin && block_starts_[block + 1] <= cost_end) {
      if (kinds_[block] == BlockKind::equal)
        return batch.assign_equal(begins, size, std::uint64_t{ends[0]} - begins[0]);
      return batch.assign(begins, ends, size, [&](std::uint64_t begin, std::uint64_t length) {
        bring_near(begin);
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
  Parts portions_{0, 0};  ///< of the costs of all segments
  std::vector<std::uint64_t> giants_;
  std::vector<std::uint64_t> block_starts_;  ///< cost of all segments before each block, and in all
  std::vector<BlockKind> kinds_;
  std::atomic<std::uint64_t> next_portion_{0};
};

}  // namespace sortie::segsort
