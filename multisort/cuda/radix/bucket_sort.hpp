// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "multisort/cuda/device_group.hpp"
#include "multisort/plan/moves.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/payload.hpp"
#include "segsort/cuda/device_request.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_segmented_sort.hpp"
#include "sortie/sort_chunks.hpp"

namespace sortie::multisort {

/// Sorts the buckets that one device has received, as segments, into its chunk; keys of 1 and 2
/// bytes, which the segmented sort does not take, by CUB's radix sort. A boundary bucket,
/// which extends beyond the chunk, is sorted into a spare buffer, and transfers() lists the copies
/// from there to the chunks. If all keys of such a bucket are equal, only the part outside of the
/// chunk takes this path.
///
/// | buffer | bytes | lifetime |
/// |---|---|---|
/// | spare | the items of the boundary buckets | the object's |
/// | offsets, ranges of keys | 24 per bucket | the object's |
/// | temporary | temporary storage of segsort or CUB | the object's |
class BucketSort {
 public:
  /// \param device        logical device; its CUDA device is current in all calls
  /// \param chunk_begins  begin of each chunk in the sorted array
  BucketSort(const DeviceGroup& group, const ChunkRequest& request, std::size_t device,
             const plan::MovePlan& plan, const std::vector<std::uint64_t>& chunk_begins);

  [[nodiscard]] std::uint64_t bytes_wanted() const;
  /// \param received  the items that the device has received; sort() uses them as scratch
  void allocate(const RawItems& received);
  /// Enqueues the sort on the device's work stream, in `parts` parts. `sorted` is
  /// RadixSortHooks::sorted and may be empty.
  void sort(int parts,
            const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& sorted);

  /// The copies from the spare buffer to chunks, in positions of both.
  [[nodiscard]] const std::vector<plan::Transfer>& transfers() const { return transfers_; }
  [[nodiscard]] RawItems spare() { return {spare_keys_.data(), spare_values_.data()}; }

 private:
  /// A bucket, or the part of it that the device has, in positions of the sorted array.
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    plan::KeyRange keys;  ///< keys that it may hold

    [[nodiscard]] bool is_sorted() const { return keys.least == keys.greatest; }
  };

  /// Appends a segment to inside_ or boundary_buckets_.
  void add(const Segment& segment, const std::vector<std::uint64_t>& chunk_begins);
  [[nodiscard]] std::uint64_t key_size() const;
  [[nodiscard]] std::uint64_t value_size() const;
  [[nodiscard]] bool is_narrow() const { return key_bytes(request_.key_type) < 4; }
  /// `items` from number `item` on.
  [[nodiscard]] RawItems at(const RawItems& items, std::uint64_t item) const;
  /// The items from a position of the sorted array on.
  [[nodiscard]] RawItems in_chunk(std::uint64_t position) const;
  [[nodiscard]] RawItems in_received(std::uint64_t position) const {
    return at(received_, position - received_begin_);
  }
  [[nodiscard]] segsort::DeviceRequest segments_request(const Segment& range, std::size_t segments,
                                                        const RawItems& out) const;
  /// Makes sure that the temporary storage suffices for the sort of a range of segments.
  void want(const Segment& range, std::size_t segments);
  /// Sorts adjacent segments; uses the entries of offsets_ and of ranges_ from these numbers on.
  void sort_segments(std::span<const Segment> segments, std::size_t first_offset,
                     std::size_t first_range, const RawItems& out);
  /// CUB's sort of encoded keys. Without temporary storage it says how much it takes.
  void sort_words(void* temporary, RadixBuffers& buffers, std::uint64_t n);
  void sort_narrow(std::uint64_t begin, std::uint64_t end);
  void copy_inside(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] bool inside_is_sorted() const;

  const DeviceGroup& group_;
  const ChunkRequest& request_;
  std::size_t device_;
  std::uint64_t received_begin_;  ///< begin of the received items in the sorted array
  std::uint64_t chunk_begin_;     ///< begin of the chunk in the sorted array
  std::vector<Segment> inside_;   ///< segments within the chunk, adjacent
  std::vector<Segment> boundary_buckets_;
  std::vector<plan::Transfer> transfers_;
  std::uint64_t spare_items_ = 0;
  std::size_t temporary_bytes_ = 0;

  RawItems received_;
  DeviceBuffer<std::byte> spare_keys_;
  DeviceBuffer<std::byte> spare_values_;
  DeviceBuffer<std::byte> temporary_;
  DeviceBuffer<std::uint64_t> offsets_;         ///< segment offsets, relative to the first segment
  DeviceBuffer<segsort::SegmentRange> ranges_;  ///< of inside_, then boundary_buckets_
};

}  // namespace sortie::multisort
