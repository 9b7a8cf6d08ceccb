// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/exchange/relay.hpp"

#include <algorithm>

#include "core/cuda/check.hpp"

namespace sortie::multisort {

Relay::Relay(const DeviceGroup& group, std::size_t device, const LeadingDigits::Share& share,
             std::uint64_t size, std::uint32_t tile, int key_bytes, int value_bytes)
    : group_(group),
      device_(device),
      tile_(tile),
      key_bytes_(key_bytes),
      value_bytes_(value_bytes) {
  const std::uint64_t tiles = (size + tile - 1) / tile;
  const std::uint64_t slices = std::clamp<std::uint64_t>(tiles / tiles_per_slice, 1, most_slices);
  batches_per_slice_ =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (share.batches + slices - 1) / slices));
  slice_items_ = std::min(size, std::uint64_t{batches_per_slice_} * share.tiles_per_batch * tile);
}

std::uint64_t Relay::bytes_wanted() const {
  const auto item_bytes = static_cast<std::uint64_t>(key_bytes_ + value_bytes_);
  return 2 * (slice_items_ * item_bytes + 2 * most_groups * (16 + sizeof(RelayRun) + 4 + 8));
}

void Relay::allocate(const std::vector<std::uint64_t>& key_destinations,
                     const std::vector<std::uint64_t>& value_destinations) {
  const cudaStream_t stream = group_.stream(device_);
  const bool has_values = value_bytes_ != 0;
  const std::uint64_t runs = has_values ? 2 * most_groups : most_groups;
  // The space of each group starts and ends at a multiple of 16 bytes.
  const auto buffer_bytes = [&](int item_bytes) {
    return item_bytes == 0 ? 0
                           : slice_items_ * static_cast<std::uint64_t>(item_bytes) +
                                 std::uint64_t{32} * most_groups;
  };
  key_destinations_ = DeviceBuffer<std::uint64_t>(key_destinations, stream);
  if (has_values) value_destinations_ = DeviceBuffer<std::uint64_t>(value_destinations, stream);
  for (Buffer& buffer : buffers_) {
    buffer.keys = DeviceBuffer<std::byte>(buffer_bytes(key_bytes_), stream);
    buffer.values = DeviceBuffer<std::byte>(buffer_bytes(value_bytes_), stream);
    buffer.runs = DeviceBuffer<RelayRun>(runs, stream);
    buffer.blocks = DeviceBuffer<std::uint32_t>(runs + 1, stream);
    buffer.copied = make_event();
  }
}

bool Relay::run_slice(const PartitionKernels& kernels, const MoveArguments& arguments,
                      const LeadingDigits::Share& share) {
  if (next_batch_ >= share.batches) return false;
  const cudaStream_t work = group_.stream(device_);
  const cudaStream_t out = group_.stream_out(device_);
  const std::uint32_t runs = value_bytes_ != 0 ? 2 * most_groups : most_groups;
  const auto ways = static_cast<std::uint32_t>(std::max<std::size_t>(group_.size() - 1, 1));
  const std::uint64_t tiles = (arguments.size + tile_ - 1) / tile_;
  const std::uint32_t batch = next_batch_;
  const std::uint32_t end = std::min(batch + batches_per_slice_, share.batches);
  Buffer& buffer = buffers_[next_buffer_];
  RelaySlice slice;
  slice.rows_before = share.batch_rows.data() + std::uint64_t{batch} * most_groups;
  slice.rows_behind = end == share.batches
                          ? share.totals.data()
                          : share.batch_rows.data() + std::uint64_t{end} * most_groups;
  slice.keys = {key_bytes_, key_destinations_.data(), arguments.key_places,
                reinterpret_cast<std::uint64_t>(buffer.keys.data())};
  slice.values = {value_bytes_, value_destinations_.data(), arguments.value_places,
                  reinterpret_cast<std::uint64_t>(buffer.values.data())};
  slice.list = {buffer.runs.data(), buffer.blocks.data()};
  check_cuda(cudaStreamWaitEvent(work, buffer.copied.get(), 0));
  check_cuda(place_slice(slice, work));
  MoveArguments of_slice = arguments;
  of_slice.first_tile = std::uint64_t{batch} * share.tiles_per_batch;
  of_slice.end_tile = std::min(tiles, std::uint64_t{end} * share.tiles_per_batch);
  check_cuda(kernels.move(of_slice, work));
  group_.wait(out, device_, work);
  check_cuda(copy_slice(slice.list, runs, ways, out));
  check_cuda(cudaEventRecord(buffer.copied.get(), out));
  next_batch_ = end;
  next_buffer_ ^= 1;
  return true;
}

void Relay::wait_on_all() const {
  for (std::size_t d = 0; d < group_.size(); ++d)
    group_.wait(group_.stream(d), device_, group_.stream_out(device_));
}

}  // namespace sortie::multisort
