// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/exchange/relay.hpp"

#include <algorithm>

#include "core/cuda/check.hpp"
#include "primitives/cuda/warp.cuh"

namespace sortie::multisort {

namespace {

/// The copies from one buffer of a relay; in device memory.
struct RelayList {
  RelayRun* runs = nullptr;  ///< one per group for keys, then one per group for values
  std::uint32_t* blocks =
      nullptr;  ///< exclusive prefix sums of copy blocks per run; then the total
};

/// The relayed groups, for one array (keys or values).
struct RelayArray {
  int item_bytes = 0;  ///< 0: there are no values
  /// Destination of the source's first item of each group; 0: the group is not relayed.
  const std::uint64_t* destinations = nullptr;
  std::uint64_t* places = nullptr;  ///< MoveArguments::key_places or value_places
  std::uint64_t buffer = 0;         ///< address of the relay's buffer
};

struct RelaySlice {
  const std::uint64_t* rows_before = nullptr;  ///< items of each group before the slice
  const std::uint64_t* rows_behind = nullptr;  ///< the same before the next slice
  RelayArray keys;
  RelayArray values;
  RelayList list;
};

constexpr int copy_threads = 512;
/// Copies of 16 bytes in flight per thread.
constexpr int copy_unroll = 4;
constexpr std::uint64_t copy_block_bytes = std::uint64_t{copy_threads} * copy_unroll * 16;
/// Copying blocks: just enough to saturate the link, because they displace blocks that move items.
constexpr unsigned int copying_blocks = 48;

/// One block; thread g places group g. A group's address in the buffer is congruent to its
/// destination modulo 16, so most of it is copied in words of 16 bytes.
__global__ void __launch_bounds__(most_groups) place_kernel(RelaySlice slice) {
  __shared__ std::uint64_t warp_sums[most_groups / 32];
  __shared__ std::uint32_t all;
  const std::uint32_t group = threadIdx.x;
  const std::uint64_t before = slice.rows_before[group];
  const std::uint64_t count = slice.rows_behind[group] - before;
  std::uint32_t first_block = 0;
  const auto place = [&](const RelayArray& array, std::uint32_t first_run, bool counts_on) {
    RelayRun run;
    const std::uint64_t destination = array.destinations[group];
    const auto item_bytes = static_cast<std::uint64_t>(array.item_bytes);
    if (destination != 0 && count != 0) {
      run.to = destination + before * item_bytes;
      run.bytes = count * item_bytes;
    }
    const std::uint64_t lead = run.to % 16;
    const std::uint64_t padded_bytes = (lead + run.bytes + 15) / 16 * 16;
    const std::uint64_t begin =
        prefix_sum_in_block<most_groups / 32>(padded_bytes, warp_sums).before;
    run.from = array.buffer + begin + lead;
    // Keys alone reserve places from here on; with values, places count from the first batch on.
    if (destination != 0)
      array.places[group] = counts_on ? run.from : run.from - before * item_bytes;
    slice.list.runs[first_run + group] = run;
    const auto blocks = static_cast<std::uint32_t>(
        run.bytes == 0 ? 0 : (lead + run.bytes - 1) / copy_block_bytes + 1);
    const std::uint32_t block =
        first_block + prefix_sum_in_block<most_groups / 32>(blocks, warp_sums).before;
    slice.list.blocks[first_run + group] = block;
    if (group == most_groups - 1) slice.list.blocks[first_run + most_groups] = block + blocks;
    if (group == most_groups - 1) all = block + blocks;
    __syncthreads();
    first_block = all;
    __syncthreads();
  };
  place(slice.keys, 0, slice.values.item_bytes == 0);
  if (slice.values.item_bytes != 0) place(slice.values, most_groups, false);
}

/// Each block copies ranges of copy_block_bytes bytes, each within one run: the bytes up to a
/// multiple of 16, then words of 16 bytes, then the remaining bytes. Consecutive ranges are taken
/// round-robin from `ways` equal parts of the list, which are so copied concurrently.
__global__ void __launch_bounds__(copy_threads)
    copy_kernel(RelayList list, std::uint32_t runs, std::uint32_t ways) {
  extern __shared__ std::uint32_t blocks_before[];
  for (std::uint32_t i = threadIdx.x; i <= runs; i += copy_threads)
    blocks_before[i] = list.blocks[i];
  __syncthreads();
  const std::uint32_t all = blocks_before[runs];
  const std::uint32_t part = (all + ways - 1) / ways;
  for (std::uint32_t i_block = blockIdx.x; i_block < part * ways; i_block += gridDim.x) {
    const std::uint32_t block = i_block % ways * part + i_block / ways;
    if (block >= all) continue;
    std::uint32_t low = 0;  // the last run that does not begin after the block
    std::uint32_t high = runs - 1;
    while (low < high) {
      const std::uint32_t middle = (low + high + 1) / 2;
      if (blocks_before[middle] <= block) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const RelayRun run = list.runs[low];
    const std::uint64_t shift = run.to - run.from;
    const std::uint64_t end_of_run = run.from + run.bytes;
    const std::uint64_t first =
        run.from / 16 * 16 + std::uint64_t{block - blocks_before[low]} * copy_block_bytes;
    const std::uint64_t begin = max(first, run.from);
    const std::uint64_t end = min(first + copy_block_bytes, end_of_run);
    const auto copy_bytes = [&](std::uint64_t from, std::uint64_t to) {
      if (from + threadIdx.x < to)
        *reinterpret_cast<char*>(from + threadIdx.x + shift) =
            *reinterpret_cast<const char*>(from + threadIdx.x);
    };
    const std::uint64_t words_begin = min((begin + 15) / 16 * 16, end);
    const std::uint64_t words_end = max(words_begin, end / 16 * 16);
    copy_bytes(begin, words_begin);
    uint4 words[copy_unroll];
#pragma unroll
    for (int r = 0; r < copy_unroll; ++r) {
      const std::uint64_t at = words_begin + (r * copy_threads + threadIdx.x) * 16;
      if (at < words_end) words[r] = *reinterpret_cast<const uint4*>(at);
    }
#pragma unroll
    for (int r = 0; r < copy_unroll; ++r) {
      const std::uint64_t at = words_begin + (r * copy_threads + threadIdx.x) * 16;
      if (at < words_end) *reinterpret_cast<uint4*>(at + shift) = words[r];
    }
    copy_bytes(words_end, end);
  }
}

}  // namespace

Relay::Relay(const DeviceGroup& group, std::size_t device, const GroupCounts& share,
             std::uint64_t size, const PartitionKernels& kernels, int key_bytes, int value_bytes)
    : group_(group),
      device_(device),
      share_(share),
      kernels_(kernels),
      key_bytes_(key_bytes),
      value_bytes_(value_bytes) {
  const std::uint64_t tiles = (size + kernels.tile - 1) / kernels.tile;
  const std::uint64_t slices = std::clamp<std::uint64_t>(tiles / tiles_per_slice, 1, most_slices);
  batches_per_slice_ =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (share.batches + slices - 1) / slices));
  slice_items_ =
      std::min(size, std::uint64_t{batches_per_slice_} * share.tiles_per_batch * kernels.tile);
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

bool Relay::run_slice(const MoveArguments& arguments) {
  if (next_batch_ >= share_.batches) return false;
  const cudaStream_t work = group_.stream(device_);
  const cudaStream_t out = group_.stream_out(device_);
  const std::uint32_t runs = value_bytes_ != 0 ? 2 * most_groups : most_groups;
  const auto ways = static_cast<std::uint32_t>(std::max<std::size_t>(group_.size() - 1, 1));
  const std::uint64_t tiles = (arguments.size + kernels_.tile - 1) / kernels_.tile;
  const std::uint32_t batch = next_batch_;
  const std::uint32_t end = std::min(batch + batches_per_slice_, share_.batches);
  Buffer& buffer = buffers_[next_buffer_];
  RelaySlice slice;
  slice.rows_before = share_.batch_rows.data() + std::uint64_t{batch} * most_groups;
  slice.rows_behind = end == share_.batches
                          ? share_.totals.data()
                          : share_.batch_rows.data() + std::uint64_t{end} * most_groups;
  slice.keys = {key_bytes_, key_destinations_.data(), arguments.key_places,
                reinterpret_cast<std::uint64_t>(buffer.keys.data())};
  slice.values = {value_bytes_, value_destinations_.data(), arguments.value_places,
                  reinterpret_cast<std::uint64_t>(buffer.values.data())};
  slice.list = {buffer.runs.data(), buffer.blocks.data()};
  check_cuda(cudaStreamWaitEvent(work, buffer.copied.get(), 0));
  place_kernel<<<1, most_groups, 0, work>>>(slice);
  check_cuda(cudaGetLastError());
  MoveArguments of_slice = arguments;
  of_slice.first_tile = std::uint64_t{batch} * share_.tiles_per_batch;
  of_slice.end_tile = std::min(tiles, std::uint64_t{end} * share_.tiles_per_batch);
  check_cuda(kernels_.move(of_slice, work));
  group_.wait(out, device_, work);
  copy_kernel<<<copying_blocks, copy_threads, (runs + 1) * sizeof(std::uint32_t), out>>>(
      slice.list, runs, ways);
  check_cuda(cudaGetLastError());
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
