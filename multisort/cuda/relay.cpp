#include "sortie/multisort/cuda/relay.hpp"

#include <algorithm>
#include <utility>

namespace sortie::multisort {

Relay::Relay(const DeviceGroup& group, std::size_t device, const LeadingDigits::Share& share,
             std::uint64_t size, std::uint32_t tile, int key_bytes, int value_bytes)
    : group_(group),
      device_(device),
      tile_(tile),
      key_bytes_(key_bytes),
      value_bytes_(value_bytes) {
  const std::uint64_t tiles = (size + tile - 1) / tile;
  const std::uint64_t slices = std::clamp<std::uint64_t>(tiles / tiles_of_slice, 1, most_slices);
  pieces_of_slice_ =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (share.pieces + slices - 1) / slices));
  slice_items_ = std::min(size, std::uint64_t{pieces_of_slice_} * share.tiles_of_piece * tile);
}

Relay::Relay(Relay&& other) noexcept
    : group_(other.group_),
      device_(other.device_),
      tile_(other.tile_),
      key_bytes_(other.key_bytes_),
      value_bytes_(other.value_bytes_),
      pieces_of_slice_(other.pieces_of_slice_),
      slice_items_(other.slice_items_),
      next_piece_(other.next_piece_),
      turn_(other.turn_),
      key_destinations_(std::move(other.key_destinations_)),
      value_destinations_(std::move(other.value_destinations_)),
      buffers_(std::move(other.buffers_)) {
  for (Buffer& buffer : other.buffers_) buffer.copied = nullptr;
}

Relay::~Relay() {
  for (const Buffer& buffer : buffers_)
    if (buffer.copied != nullptr) static_cast<void>(cudaEventDestroy(buffer.copied));
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
  // Room for a group starts and ends at a multiple of 16 bytes.
  const auto room = [&](int item_bytes) {
    return item_bytes == 0 ? 0
                           : slice_items_ * static_cast<std::uint64_t>(item_bytes) +
                                 std::uint64_t{32} * most_groups;
  };
  key_destinations_ = DeviceBuffer<std::uint64_t>(key_destinations, stream);
  if (has_values) value_destinations_ = DeviceBuffer<std::uint64_t>(value_destinations, stream);
  for (Buffer& buffer : buffers_) {
    buffer.keys = DeviceBuffer<std::byte>(room(key_bytes_), stream);
    buffer.values = DeviceBuffer<std::byte>(room(value_bytes_), stream);
    buffer.runs = DeviceBuffer<RelayRun>(runs, stream);
    buffer.blocks = DeviceBuffer<std::uint32_t>(runs + 1, stream);
    check_cuda(cudaEventCreateWithFlags(&buffer.copied, cudaEventDisableTiming));
  }
}

bool Relay::run_slice(const PartitionKernels& kernels, const MoveArguments& arguments,
                      const LeadingDigits::Share& share) {
  if (next_piece_ >= share.pieces) return false;
  const cudaStream_t work = group_.stream(device_);
  const cudaStream_t out = group_.stream_out(device_);
  const std::uint32_t runs = value_bytes_ != 0 ? 2 * most_groups : most_groups;
  const auto ways = static_cast<std::uint32_t>(std::max<std::size_t>(group_.size() - 1, 1));
  const std::uint64_t tiles = (arguments.size + tile_ - 1) / tile_;
  const std::uint32_t piece = next_piece_;
  const std::uint32_t end = std::min(piece + pieces_of_slice_, share.pieces);
  Buffer& buffer = buffers_[turn_];
  RelaySlice slice;
  slice.rows_before = share.piece_rows.data() + std::uint64_t{piece} * most_groups;
  slice.rows_behind = end == share.pieces
                          ? share.totals.data()
                          : share.piece_rows.data() + std::uint64_t{end} * most_groups;
  slice.keys = {key_bytes_, key_destinations_.data(), arguments.key_places,
                reinterpret_cast<std::uint64_t>(buffer.keys.data())};
  slice.values = {value_bytes_, value_destinations_.data(), arguments.value_places,
                  reinterpret_cast<std::uint64_t>(buffer.values.data())};
  slice.list = {buffer.runs.data(), buffer.blocks.data()};
  check_cuda(cudaStreamWaitEvent(work, buffer.copied, 0));
  check_cuda(place_slice(slice, work));
  MoveArguments of_slice = arguments;
  of_slice.first_tile = std::uint64_t{piece} * share.tiles_of_piece;
  of_slice.end_tile = std::min(tiles, std::uint64_t{end} * share.tiles_of_piece);
  check_cuda(kernels.move(of_slice, work));
  group_.wait(out, device_, work);
  check_cuda(copy_slice(slice.list, runs, ways, out));
  check_cuda(cudaEventRecord(buffer.copied, out));
  next_piece_ = end;
  turn_ ^= 1;
  return true;
}

void Relay::wait_on_all() const {
  for (std::size_t d = 0; d < group_.size(); ++d)
    group_.wait(group_.stream(d), device_, group_.stream_out(device_));
}

}  // namespace sortie::multisort
