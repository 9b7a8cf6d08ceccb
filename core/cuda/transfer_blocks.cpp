// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/transfer_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>

namespace sortie {
namespace {

/// Blocks that are not in use. Never destroyed: the driver may already be unloaded when statics are
/// destroyed.
struct IdleBlocks {
  std::mutex mutex;
  std::vector<TransferBlock> blocks;
};

IdleBlocks& idle_blocks() {
  static auto& blocks = *new IdleBlocks;
  return blocks;
}

/// Measured on an H100 with 16 cores, 2 GB to new memory of the host: 1 thread 3.4 GB/s, 4 threads
/// 9.5, 8 threads 16. More than four slow the threads that format and write what arrives, and lock
/// more pages.
constexpr std::size_t most_beside_work = 4;
/// On a host of four H100s and 64 cores, 14 GB to new memory from one GPU: 4 threads 13 GB/s, 16
/// threads 27, 32 threads no more. From all four, with the product before: 4 threads for each GPU
/// 0.54 s, 8 threads 0.39, 16 threads 0.34.
constexpr std::size_t most_transfer_threads = 16;

}  // namespace

TransferBlocks::TransferBlocks(std::size_t count) {
  check_cuda(cudaGetDevice(&device_));
  blocks_.reserve(count);
  {
    IdleBlocks& idle = idle_blocks();
    const std::lock_guard lock(idle.mutex);
    const auto others =
        std::partition(idle.blocks.begin(), idle.blocks.end(),
                       [this](const auto& block) { return block.device != device_; });
    const auto taken =
        std::min<std::ptrdiff_t>(idle.blocks.end() - others, static_cast<std::ptrdiff_t>(count));
    std::move(idle.blocks.end() - taken, idle.blocks.end(), std::back_inserter(blocks_));
    idle.blocks.erase(idle.blocks.end() - taken, idle.blocks.end());
  }
  while (blocks_.size() < count) {
    blocks_.emplace_back();
    blocks_.back().device = device_;
  }
}

TransferBlocks::~TransferBlocks() {
  IdleBlocks& idle = idle_blocks();
  const std::lock_guard lock(idle.mutex);
  try {
    std::move(blocks_.begin(), blocks_.end(), std::back_inserter(idle.blocks));
  } catch (const std::bad_alloc&) {
    // They are freed instead.
  }
}

void TransferBlocks::wait_for(cudaStream_t stream) {
  const CudaEvent ready = make_event();
  check_cuda(cudaEventRecord(ready.get(), stream));
  for (const TransferBlock& block : blocks_)
    check_cuda(cudaStreamWaitEvent(block.stream.get(), ready.get(), 0));
}

void TransferBlocks::copy(int worker, const BlockTransfer& array, std::uint64_t number) {
  // The current device is a property of the thread.
  check_cuda(cudaSetDevice(device_));
  TransferBlock& block = blocks_[static_cast<std::size_t>(worker)];
  cudaStream_t const stream = block.stream.get();
  const std::size_t begin = number * TransferBlock::bytes;
  const std::size_t size = std::min(TransferBlock::bytes, array.bytes - begin);
  std::byte* const locked = block.memory.data();
  const bool in = array.kind == cudaMemcpyHostToDevice;
  if (in) std::memcpy(locked, array.host + begin, size);
  std::byte* const device = array.device + begin;
  check_cuda(cudaMemcpyAsync(in ? device : locked, in ? locked : device, size, array.kind, stream));
  check_cuda(cudaStreamSynchronize(stream));
  if (!in) std::memcpy(array.host + begin, locked, size);
}

std::size_t transfer_threads(std::size_t bytes, int threads, BesideTransfer beside) {
  const std::size_t blocks = (bytes + TransferBlock::bytes - 1) / TransferBlock::bytes;
  const std::size_t most =
      beside == BesideTransfer::work ? most_beside_work : most_transfer_threads;
  return std::clamp<std::size_t>(blocks / 2, 1, std::min(most, static_cast<std::size_t>(threads)));
}

}  // namespace sortie
