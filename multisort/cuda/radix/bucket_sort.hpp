// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/radix/partition_kernels.hpp"
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
             const plan::MovePlan& plan, const std::vector<std::uint64_t>& chunk_begins)
      : group_(group),
        request_(request),
        device_(device),
        received_begin_(plan.destination_begins[device]),
        chunk_begin_(chunk_begins[device]) {
    const std::uint64_t received_end = plan.destination_begins[device + 1];
    const std::uint64_t chunk_end = chunk_begins[device + 1];
    for (const plan::MoveGroup& moved : plan.groups) {
      const Segment segment{std::max(moved.begin, received_begin_),
                            std::min(moved.begin + moved.size, received_end), moved.keys};
      if (segment.begin >= segment.end) continue;
      if (!segment.is_sorted()) {
        add(segment, chunk_begins);
        continue;
      }
      // Equal keys are sorted already: only the part outside of the chunk is a boundary bucket.
      const std::uint64_t first = std::clamp(chunk_begin_, segment.begin, segment.end);
      const std::uint64_t last = std::clamp(chunk_end, first, segment.end);
      for (const auto& [begin, end] :
           {std::pair(segment.begin, first), std::pair(first, last), std::pair(last, segment.end)})
        if (begin < end) add({begin, end, moved.keys}, chunk_begins);
    }

    if (!is_narrow()) {
      if (!inside_.empty()) want({inside_.front().begin, inside_.back().end, {}}, inside_.size());
      for (const Segment& segment : boundary_buckets_) want(segment, 1);
    } else if (!inside_.empty() && !inside_is_sorted()) {
      RadixBuffers buffers;
      sort_words(nullptr, buffers, inside_.back().end - inside_.front().begin);
    }
  }

  [[nodiscard]] std::uint64_t bytes_wanted() const {
    return spare_items_ * (key_size() + value_size()) + temporary_bytes_ +
           (inside_.size() + 2 * boundary_buckets_.size() + 1) * sizeof(std::uint64_t) +
           (inside_.size() + boundary_buckets_.size()) * sizeof(segsort::SegmentRange);
  }
  /// \param received  the items that the device has received; sort() uses them as scratch
  void allocate(const RawItems& received) {
    received_ = received;
    const cudaStream_t stream = group_.stream(device_);
    spare_keys_ = DeviceBuffer<std::byte>(spare_items_ * key_size(), stream);
    spare_values_ = DeviceBuffer<std::byte>(spare_items_ * value_size(), stream);
    temporary_ = DeviceBuffer<std::byte>(temporary_bytes_, stream);
    offsets_ =
        DeviceBuffer<std::uint64_t>(inside_.size() + 2 * boundary_buckets_.size() + 1, stream);
    ranges_ =
        DeviceBuffer<segsort::SegmentRange>(inside_.size() + boundary_buckets_.size(), stream);
  }
  /// Enqueues the sort on the device's work stream, in `parts` parts. `sorted` is
  /// RadixSortHooks::sorted and may be empty.
  void sort(int parts,
            const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& sorted) {
    const CurrentDevice current = group_.current(device_);
    const auto report = [&](std::uint64_t begin, std::uint64_t end) {
      if (sorted) sorted(device_, begin - chunk_begin_, end - chunk_begin_);
    };
    std::uint64_t spare_begin = 0;
    for (std::size_t i = 0; i < boundary_buckets_.size(); ++i) {
      const Segment& segment = boundary_buckets_[i];
      sort_segments({&segment, 1}, inside_.size() + 1 + 2 * i, inside_.size() + i,
                    at(spare(), spare_begin));
      spare_begin += segment.end - segment.begin;
    }
    if (inside_.empty()) return;
    const std::uint64_t begin = inside_.front().begin;
    const std::uint64_t end = inside_.back().end;
    if (inside_is_sorted()) {
      copy_inside(begin, end);
      report(begin, end);
    } else if (is_narrow()) {
      sort_narrow(begin, end);
      report(begin, end);
    } else {
      std::size_t first = 0;
      for (int part = 1; part <= parts; ++part) {
        const std::uint64_t target = begin + (end - begin) / static_cast<std::uint64_t>(parts) *
                                                 static_cast<std::uint64_t>(part);
        std::size_t last = first;
        while (last < inside_.size() && (part == parts || inside_[last].end <= target)) ++last;
        if (last == first) continue;
        // Adjacent parts share one offset: the last one of a part is overwritten by the first of the
        // next. Stream order makes sure that it has been read by then.
        sort_segments(std::span(inside_).subspan(first, last - first), first, first,
                      in_chunk(inside_[first].begin));
        report(inside_[first].begin, inside_[last - 1].end);
        first = last;
      }
    }
  }

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

  void add(const Segment& segment, const std::vector<std::uint64_t>& chunk_begins) {
    if (segment.begin >= chunk_begin_ && segment.end <= chunk_begins[device_ + 1]) {
      inside_.push_back(segment);
      return;
    }
    boundary_buckets_.push_back(segment);
    for (std::size_t d = 0; d + 1 < chunk_begins.size(); ++d) {
      const std::uint64_t begin = std::max(segment.begin, chunk_begins[d]);
      const std::uint64_t end = std::min(segment.end, chunk_begins[d + 1]);
      if (begin < end)
        transfers_.push_back({device_, d, spare_items_ + begin - segment.begin,
                              begin - chunk_begins[d], end - begin});
    }
    spare_items_ += segment.end - segment.begin;
  }
  [[nodiscard]] std::uint64_t key_size() const {
    return static_cast<std::uint64_t>(key_bytes(request_.key_type));
  }
  [[nodiscard]] std::uint64_t value_size() const {
    return static_cast<std::uint64_t>(request_.value_bytes);
  }
  [[nodiscard]] bool is_narrow() const { return key_bytes(request_.key_type) < 4; }
  [[nodiscard]] RawItems at(const RawItems& items, std::uint64_t item) const {
    return {items.keys == nullptr ? nullptr : items.keys + item * key_size(),
            items.values == nullptr ? nullptr : items.values + item * value_size()};
  }
  // Both: the items from a position of the sorted array on.
  [[nodiscard]] RawItems in_chunk(std::uint64_t position) const {
    const DeviceChunk& chunk = request_.chunks[device_];
    return at({static_cast<std::byte*>(chunk.keys), static_cast<std::byte*>(chunk.values)},
              position - chunk_begin_);
  }
  [[nodiscard]] RawItems in_received(std::uint64_t position) const {
    return at(received_, position - received_begin_);
  }
  [[nodiscard]] segsort::DeviceRequest segments_request(const Segment& range, std::size_t segments,
                                                        const RawItems& out) const {
    const RawItems in = in_received(range.begin);
    segsort::DeviceRequest request;
    request.key_type = request_.key_type;
    request.value_bytes = request_.value_bytes;
    request.offset_bytes = 8;
    request.keys_in = in.keys;
    request.values_in = in.values;
    request.keys_out = out.keys;
    request.values_out = out.values;
    request.input_is_scratch = true;
    request.num_items = static_cast<std::int64_t>(range.end - range.begin);
    request.num_segments = static_cast<std::int64_t>(segments);
    request.order = request_.options.order;
    return request;
  }
  /// Makes sure that the temporary storage suffices for the sort of a range of segments.
  void want(const Segment& range, std::size_t segments) {
    std::size_t bytes = 0;
    check_cuda(
        segsort::sort_on_device(nullptr, bytes, segments_request(range, segments, {}), nullptr));
    temporary_bytes_ = std::max(temporary_bytes_, bytes);
  }
  /// Sorts adjacent segments; uses the entries of offsets_ and of ranges_ from these numbers on.
  void sort_segments(std::span<const Segment> segments, std::size_t first_offset,
                     std::size_t first_range, const RawItems& out) {
    const Segment all{segments.front().begin, segments.back().end, {}};
    std::vector<std::uint64_t> offsets{0};
    std::vector<segsort::SegmentRange> ranges;
    for (const Segment& segment : segments) {
      offsets.push_back(segment.end - all.begin);
      ranges.push_back({segment.keys.least, segment.keys.greatest});
    }
    const cudaStream_t stream = group_.stream(device_);
    const auto upload = [&](const auto& host, auto* on_device) {
      check_cuda(cudaMemcpyAsync(on_device, host.data(), host.size() * sizeof(host[0]),
                                 cudaMemcpyHostToDevice, stream));
      return on_device;
    };
    segsort::DeviceRequest request = segments_request(all, segments.size(), out);
    std::uint64_t* const uploaded = upload(offsets, offsets_.data() + first_offset);
    request.begin_offsets = uploaded;
    request.end_offsets = uploaded + 1;
    request.ranges = upload(ranges, ranges_.data() + first_range);
    check_cuda(segsort::sort_on_device(temporary_.data(), temporary_bytes_, request, stream));
  }
  /// CUB's sort of encoded keys. Without temporary storage it says how much it takes.
  void sort_words(void* temporary, RadixBuffers& buffers, std::uint64_t n) {
    const int bytes = key_bytes(request_.key_type);
    check_cuda(device_radix_sort(temporary, temporary_bytes_, buffers, n, bytes,
                                 request_.value_bytes, 0, 8 * bytes, group_.stream(device_)));
  }
  void sort_narrow(std::uint64_t begin, std::uint64_t end) {
    const cudaStream_t stream = group_.stream(device_);
    const KeyOrder order = KeyOrder::of(request_.key_type, request_.options.order);
    const PartitionKernels& kernels =
        partition_kernels(key_bytes(request_.key_type), request_.value_bytes);
    const RawItems from = in_received(begin);
    const RawItems to = in_chunk(begin);
    RadixBuffers buffers{from.keys, to.keys, from.values, to.values};
    if (!order.plain()) check_cuda(kernels.encode(from.keys, end - begin, order, false, stream));
    sort_words(temporary_.data(), buffers, end - begin);
    if (buffers.keys != to.keys) copy_inside(begin, end);
    if (!order.plain()) check_cuda(kernels.encode(to.keys, end - begin, order, true, stream));
  }
  void copy_inside(std::uint64_t begin, std::uint64_t end) {
    const auto copy = [&](std::byte* to, const std::byte* from, std::uint64_t size) {
      if (size == 0) return;
      check_cuda(cudaMemcpyAsync(to, from, (end - begin) * size, cudaMemcpyDeviceToDevice,
                                 group_.stream(device_)));
    };
    const RawItems from = in_received(begin);
    const RawItems to = in_chunk(begin);
    copy(to.keys, from.keys, key_size());
    copy(to.values, from.values, value_size());
  }
  [[nodiscard]] bool inside_is_sorted() const {
    return std::all_of(inside_.begin(), inside_.end(),
                       [](const Segment& segment) { return segment.is_sorted(); });
  }

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
