// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/radix/bucket_sort.hpp"

#include <algorithm>
#include <utility>

#include "core/cuda/check.hpp"
#include "multisort/cuda/radix/partition_kernels.hpp"
#include "primitives/cuda/device_radix_sort.hpp"

namespace sortie::multisort {

namespace {

/// The segmented sort takes keys of 4 and 8 bytes. Narrower keys use CUB's radix sort.
KeyType segment_key_type(KeyType type) {
  return key_bytes(type) < 4 ? KeyType::u32 : type;
}

}  // namespace

BucketSort::BucketSort(const DeviceGroup& group, const ChunkRequest& request, std::size_t device,
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

  const auto want = [&](std::uint64_t begin, std::uint64_t end, std::size_t segments) {
    std::size_t bytes = 0;
    check_cuda(segsort::sort_on_device(
        nullptr, bytes, segments_request(begin, end, segments, nullptr, nullptr), nullptr));
    temporary_bytes_ = std::max(temporary_bytes_, bytes);
  };
  if (is_narrow()) {
    if (inside_.empty() || inside_is_sorted()) return;
    RadixBuffers buffers;
    check_cuda(device_radix_sort(nullptr, temporary_bytes_, buffers,
                                 inside_.back().end - inside_.front().begin,
                                 key_bytes(request.key_type), request.value_bytes, 0,
                                 8 * key_bytes(request.key_type), nullptr));
    return;
  }
  if (!inside_.empty()) want(inside_.front().begin, inside_.back().end, inside_.size());
  for (const Segment& segment : boundary_buckets_) want(segment.begin, segment.end, 1);
}

void BucketSort::add(const Segment& segment, const std::vector<std::uint64_t>& chunk_begins) {
  if (segment.begin >= chunk_begin_ && segment.end <= chunk_begins[device_ + 1]) {
    inside_.push_back(segment);
    return;
  }
  boundary_buckets_.push_back(segment);
  for (std::size_t d = 0; d + 1 < chunk_begins.size(); ++d) {
    const std::uint64_t begin = std::max(segment.begin, chunk_begins[d]);
    const std::uint64_t end = std::min(segment.end, chunk_begins[d + 1]);
    if (begin < end)
      transfers_.push_back(
          {device_, d, spare_items_ + begin - segment.begin, begin - chunk_begins[d], end - begin});
  }
  spare_items_ += segment.end - segment.begin;
}

std::uint64_t BucketSort::key_size() const {
  return static_cast<std::uint64_t>(key_bytes(request_.key_type));
}

std::uint64_t BucketSort::value_size() const {
  return static_cast<std::uint64_t>(request_.value_bytes);
}

bool BucketSort::inside_is_sorted() const {
  return std::all_of(inside_.begin(), inside_.end(),
                     [](const Segment& segment) { return segment.is_sorted(); });
}

std::uint64_t BucketSort::bytes_wanted() const {
  return spare_items_ * (key_size() + value_size()) + temporary_bytes_ +
         (inside_.size() + 2 * boundary_buckets_.size() + 1) * sizeof(std::uint64_t) +
         (inside_.size() + boundary_buckets_.size()) * sizeof(segsort::SegmentRange);
}

void BucketSort::allocate(std::byte* keys, std::byte* values) {
  keys_ = keys;
  values_ = values;
  const cudaStream_t stream = group_.stream(device_);
  spare_keys_ = DeviceBuffer<std::byte>(spare_items_ * key_size(), stream);
  spare_values_ = DeviceBuffer<std::byte>(spare_items_ * value_size(), stream);
  temporary_ = DeviceBuffer<std::byte>(temporary_bytes_, stream);
  offsets_ = DeviceBuffer<std::uint64_t>(inside_.size() + 2 * boundary_buckets_.size() + 1, stream);
  ranges_ = DeviceBuffer<segsort::SegmentRange>(inside_.size() + boundary_buckets_.size(), stream);
}

segsort::DeviceRequest BucketSort::segments_request(std::uint64_t begin, std::uint64_t end,
                                                    std::size_t segments, std::byte* keys_out,
                                                    std::byte* values_out) const {
  segsort::DeviceRequest request;
  request.key_type = segment_key_type(request_.key_type);
  request.value_bytes = request_.value_bytes;
  request.offset_bytes = 8;
  const std::uint64_t from = begin - received_begin_;
  request.keys_in = keys_ == nullptr ? nullptr : keys_ + from * key_size();
  request.values_in = values_ == nullptr ? nullptr : values_ + from * value_size();
  request.keys_out = keys_out;
  request.values_out = values_out;
  request.input_is_scratch = true;
  request.num_items = static_cast<std::int64_t>(end - begin);
  request.num_segments = static_cast<std::int64_t>(segments);
  request.order = request_.options.order;
  return request;
}

void BucketSort::upload_ranges(const std::vector<Segment>& segments, std::size_t begin,
                               std::size_t end, std::size_t first,
                               segsort::DeviceRequest& request) {
  std::vector<segsort::SegmentRange> ranges;
  for (std::size_t i = begin; i < end; ++i)
    ranges.push_back({segments[i].keys.least, segments[i].keys.greatest});
  check_cuda(cudaMemcpyAsync(ranges_.data() + first, ranges.data(),
                             ranges.size() * sizeof(segsort::SegmentRange), cudaMemcpyHostToDevice,
                             group_.stream(device_)));
  request.ranges = ranges_.data() + first;
}

void BucketSort::sort_segments(const segsort::DeviceRequest& request) {
  std::size_t bytes = temporary_bytes_;
  check_cuda(segsort::sort_on_device(temporary_.data(), bytes, request, group_.stream(device_)));
}

void BucketSort::copy_inside(std::uint64_t begin, std::uint64_t end) {
  const DeviceChunk& chunk = request_.chunks[device_];
  const auto copy = [&](void* to, const std::byte* from, std::uint64_t size) {
    if (size == 0) return;
    check_cuda(cudaMemcpyAsync(static_cast<std::byte*>(to) + (begin - chunk_begin_) * size,
                               from + (begin - received_begin_) * size, (end - begin) * size,
                               cudaMemcpyDeviceToDevice, group_.stream(device_)));
  };
  copy(chunk.keys, keys_, key_size());
  copy(chunk.values, values_, value_size());
}

void BucketSort::sort_narrow() {
  const DeviceChunk& chunk = request_.chunks[device_];
  const std::uint64_t begin = inside_.front().begin;
  const std::uint64_t n = inside_.back().end - begin;
  const cudaStream_t stream = group_.stream(device_);
  const KeyOrder order = KeyOrder::of(request_.key_type, request_.options.order);
  const PartitionKernels& kernels =
      partition_kernels(key_bytes(request_.key_type), request_.value_bytes);
  const std::uint64_t from = begin - received_begin_;
  const std::uint64_t to = begin - chunk_begin_;
  const auto at = [](void* array, std::uint64_t byte) -> void* {
    return array == nullptr ? nullptr : static_cast<std::byte*>(array) + byte;
  };
  RadixBuffers buffers;
  buffers.keys = at(keys_, from * key_size());
  buffers.values = at(values_, from * value_size());
  buffers.other_keys = at(chunk.keys, to * key_size());
  buffers.other_values = at(chunk.values, to * value_size());
  void* const keys_out = buffers.other_keys;
  if (!order.plain()) check_cuda(kernels.encode(buffers.keys, n, order, false, stream));
  std::size_t bytes = temporary_bytes_;
  check_cuda(device_radix_sort(temporary_.data(), bytes, buffers, n, key_bytes(request_.key_type),
                               request_.value_bytes, 0, 8 * key_bytes(request_.key_type), stream));
  if (buffers.keys != keys_out) copy_inside(begin, begin + n);
  if (!order.plain()) check_cuda(kernels.encode(keys_out, n, order, true, stream));
}

void BucketSort::sort_inside(std::size_t first, std::size_t end) {
  const DeviceChunk& chunk = request_.chunks[device_];
  const std::uint64_t begin = inside_[first].begin;
  std::vector<std::uint64_t> offsets{0};
  for (std::size_t i = first; i < end; ++i) offsets.push_back(inside_[i].end - begin);
  // Adjacent parts share one entry: the last offset of a part is overwritten by the first of the
  // next. Stream order makes sure that it has been read by then.
  std::uint64_t* const on_device = offsets_.data() + first;
  check_cuda(cudaMemcpyAsync(on_device, offsets.data(), offsets.size() * sizeof(std::uint64_t),
                             cudaMemcpyHostToDevice, group_.stream(device_)));
  const std::uint64_t to = begin - chunk_begin_;
  segsort::DeviceRequest request = segments_request(
      begin, inside_[end - 1].end, end - first,
      static_cast<std::byte*>(chunk.keys) + to * key_size(),
      chunk.values == nullptr ? nullptr
                              : static_cast<std::byte*>(chunk.values) + to * value_size());
  request.begin_offsets = on_device;
  request.end_offsets = on_device + 1;
  upload_ranges(inside_, first, end, first, request);
  sort_segments(request);
}

void BucketSort::sort(
    int parts, const std::function<void(std::size_t, std::uint64_t, std::uint64_t)>& sorted) {
  const CurrentDevice current = group_.current(device_);
  const auto report = [&](std::uint64_t begin, std::uint64_t end) {
    if (sorted) sorted(device_, begin - chunk_begin_, end - chunk_begin_);
  };
  std::uint64_t spare = 0;
  std::uint64_t* offsets = offsets_.data() + inside_.size() + 1;
  for (std::size_t i = 0; i < boundary_buckets_.size(); ++i) {
    const Segment& segment = boundary_buckets_[i];
    const std::uint64_t size = segment.end - segment.begin;
    const std::uint64_t ends[2] = {0, size};
    check_cuda(cudaMemcpyAsync(offsets, ends, sizeof(ends), cudaMemcpyHostToDevice,
                               group_.stream(device_)));
    segsort::DeviceRequest request = segments_request(
        segment.begin, segment.end, 1, spare_keys_.data() + spare * key_size(),
        request_.value_bytes == 0 ? nullptr : spare_values_.data() + spare * value_size());
    request.begin_offsets = offsets;
    request.end_offsets = offsets + 1;
    upload_ranges(boundary_buckets_, i, i + 1, inside_.size() + i, request);
    sort_segments(request);
    spare += size;
    offsets += 2;
  }
  if (inside_.empty()) return;
  const std::uint64_t begin = inside_.front().begin;
  const std::uint64_t end = inside_.back().end;
  if (inside_is_sorted()) {
    copy_inside(begin, end);
    report(begin, end);
  } else if (is_narrow()) {
    sort_narrow();
    report(begin, end);
  } else {
    std::size_t first = 0;
    for (int part = 1; part <= parts; ++part) {
      const std::uint64_t target = begin + (end - begin) / static_cast<std::uint64_t>(parts) *
                                               static_cast<std::uint64_t>(part);
      std::size_t last = first;
      while (last < inside_.size() && (part == parts || inside_[last].end <= target)) ++last;
      if (last == first) continue;
      sort_inside(first, last);
      report(inside_[first].begin, inside_[last - 1].end);
      first = last;
    }
  }
}

}  // namespace sortie::multisort
