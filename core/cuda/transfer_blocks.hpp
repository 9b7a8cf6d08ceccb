// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"

namespace sortie {

/// Page-locked memory for one thread that copies between host and device, and its stream.
struct TransferBlock {
  /// Large enough to keep the bus busy, small enough for the L2 cache of a core.
  static constexpr std::size_t bytes = std::size_t{1} << 20;

  PinnedBuffer<std::byte> memory = PinnedBuffer<std::byte>(bytes);
  CudaStream stream = make_stream();
  int device = 0;  ///< of the stream
};

/// An array that is copied between host and device a block at a time.
struct BlockTransfer {
  std::byte* device;
  std::byte* host;
  std::size_t bytes;
  cudaMemcpyKind kind;  ///< cudaMemcpyHostToDevice or cudaMemcpyDeviceToHost

  [[nodiscard]] std::uint64_t blocks() const {
    return (bytes + TransferBlock::bytes - 1) / TransferBlock::bytes;
  }
};

/// Blocks for several threads. They are kept for reuse until the process ends: locking the pages of
/// a block takes 0.8 ms, as long as it takes to copy 20.
class TransferBlocks {
 public:
  /// Blocks of the current device. \throws Error (out_of_memory, device)
  explicit TransferBlocks(std::size_t count);
  /// \pre no copy is in progress
  ~TransferBlocks();
  TransferBlocks(const TransferBlocks&) = delete;
  TransferBlocks& operator=(const TransferBlocks&) = delete;

  [[nodiscard]] std::size_t size() const { return blocks_.size(); }
  [[nodiscard]] TransferBlock& operator[](std::size_t i) { return blocks_[i]; }

  /// Lets later work of the blocks wait for the work that is on `stream` now. \throws Error (device)
  void wait_for(cudaStream_t stream);
  /// Copies block `number` of an array through the page-locked block `worker`, and waits for it.
  /// Different workers may copy at the same time. Makes the device of the blocks current.
  /// \throws Error (device)
  void copy(int worker, const BlockTransfer& array, std::uint64_t number);

 private:
  int device_ = 0;
  std::vector<TransferBlock> blocks_;
};

/// What the program does while threads copy.
enum class BesideTransfer {
  work,  ///< it works on what arrives
  waits
};

/// Threads that copy `bytes` between host and device: enough for the bus, of the `threads` that may
/// work.
[[nodiscard]] std::size_t transfer_threads(std::size_t bytes, int threads, BesideTransfer beside);

}  // namespace sortie
