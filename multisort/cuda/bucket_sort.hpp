#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/multisort/cuda/chunk_sort.hpp"
#include "sortie/multisort/plan/moves.hpp"
#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::multisort {

/// Sorts the buckets that one device has received, as segments, into its chunk. What a bucket at a
/// border holds beyond the chunk is sorted in spare room, from where transfers() bring it to the
/// chunks it belongs to; of a bucket of one value, only that part.
///
/// | buffer | bytes | lifetime |
/// |---|---|---|
/// | spare | the items of the buckets at the chunk's borders | the object's |
/// | offsets, ranges of keys | 24 a bucket | the object's |
/// | temporary | what segsort or CUB wants | the object's |
class BucketSort {
 public:
  struct Spare {
    std::byte* keys = nullptr;
    std::byte* values = nullptr;
  };

  /// \param device        logical device; its CUDA device is current in all calls
  /// \param chunk_begins  of all chunks, in the sorted array
  BucketSort(const DeviceGroup& group, const ChunkRequest& request, std::size_t device,
             const plan::MovePlan& plan, const std::vector<std::uint64_t>& chunk_begins);

  [[nodiscard]] std::uint64_t bytes_wanted() const;
  /// \param keys, values  what the device has received, which will be scratch
  void allocate(std::byte* keys, std::byte* values);
  /// Puts the sort on the device's work stream, in `parts` parts; `sorted` as
  /// RadixSortHooks::sorted, may be empty.
  void sort(int parts,
            const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& sorted);

  /// From the spare room to chunks, in positions of both.
  [[nodiscard]] const std::vector<plan::Transfer>& transfers() const { return transfers_; }
  [[nodiscard]] Spare spare() { return {spare_keys_.data(), spare_values_.data()}; }

 private:
  /// A bucket, or as much of it as the device has, in the sorted array.
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    plan::KeyRange keys;  ///< that it may hold

    [[nodiscard]] bool is_sorted() const { return keys.least == keys.greatest; }
  };

  /// Puts a segment on one of the lists.
  void add(const Segment& segment, const std::vector<std::uint64_t>& chunk_begins);
  [[nodiscard]] std::uint64_t key_size() const;
  [[nodiscard]] std::uint64_t value_size() const;
  [[nodiscard]] bool is_narrow() const { return key_bytes(request_.key_type) < 4; }
  [[nodiscard]] segsort::DeviceRequest segments_request(std::uint64_t begin, std::uint64_t end,
                                                        std::size_t segments, std::byte* keys_out,
                                                        std::byte* values_out) const;
  /// Brings the ranges of segments' keys to the device, from its entry `first` on.
  void bring_ranges(const std::vector<Segment>& segments, std::size_t begin, std::size_t end,
                    std::size_t first, segsort::DeviceRequest& request);
  void sort_segments(const segsort::DeviceRequest& request);
  void sort_inside(std::size_t first, std::size_t end);
  void sort_narrow();
  void copy_inside(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] bool inside_is_sorted() const;

  const DeviceGroup& group_;
  const ChunkRequest& request_;
  std::size_t device_;
  std::uint64_t received_begin_;  ///< of what was received, in the sorted array
  std::uint64_t chunk_begin_;     ///< of the chunk, in the sorted array
  std::vector<Segment> inside_;   ///< of the chunk, one behind the other
  std::vector<Segment> straddlers_;
  std::vector<plan::Transfer> transfers_;
  std::uint64_t spare_items_ = 0;
  std::size_t temporary_bytes_ = 0;

  std::byte* keys_ = nullptr;  ///< received
  std::byte* values_ = nullptr;
  DeviceBuffer<std::byte> spare_keys_;
  DeviceBuffer<std::byte> spare_values_;
  DeviceBuffer<std::byte> temporary_;
  DeviceBuffer<std::uint64_t> offsets_;  ///< ends of the segments, from their first one's begin on
  DeviceBuffer<segsort::SegmentRange> ranges_;  ///< of the segments inside, then of the straddlers
};

}  // namespace sortie::multisort
