// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/arriving_copy.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>

#include "core/files/block_pipeline.hpp"
#include "sortie/error.hpp"

namespace sortie {
namespace {

HostArray<std::byte> memory_for(std::size_t bytes) {
  try {
    return allocate_array<std::byte>(bytes);
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("a copy of device memory", bytes, host_memory_available());
  }
}

}  // namespace

ArrivingCopy::ArrivingCopy(const void* device, std::size_t bytes, std::shared_ptr<const void> owner,
                           cudaStream_t stream, int threads)
    : source_(static_cast<const std::byte*>(device)),
      bytes_(bytes),
      owner_(std::move(owner)),
      memory_(memory_for(bytes)),
      blocks_(std::in_place, transfer_threads(bytes, threads)) {
  check_cuda(cudaGetDevice(&device_));
  check_cuda(cudaEventRecord(ready_.get(), stream));
  for (std::size_t i = 0; i < blocks_->size(); ++i)
    check_cuda(cudaStreamWaitEvent((*blocks_)[i].stream.get(), ready_.get(), 0));
  try {
    thread_ = std::jthread([this] { run(); });
  } catch (const std::system_error&) {
    run();
  }
}

void ArrivingCopy::await(std::uint64_t end) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return arrived_ >= end || fault_; });
  if (arrived_ < end) std::rethrow_exception(fault_);
}

void ArrivingCopy::copy(int worker, std::uint64_t block) {
  // The current device is a property of the thread.
  check_cuda(cudaSetDevice(device_));
  const std::size_t begin = block * TransferBlock::bytes;
  const std::size_t size = std::min(TransferBlock::bytes, bytes_ - begin);
  TransferBlock& transfer = (*blocks_)[static_cast<std::size_t>(worker)];
  cudaStream_t const stream = transfer.stream.get();
  check_cuda(cudaMemcpyAsync(transfer.memory.data(), source_ + begin, size, cudaMemcpyDeviceToHost,
                             stream));
  check_cuda(cudaStreamSynchronize(stream));
  std::memcpy(memory_.get() + begin, transfer.memory.data(), size);
}

void ArrivingCopy::run() noexcept {
  const std::uint64_t count = (bytes_ + TransferBlock::bytes - 1) / TransferBlock::bytes;
  const auto announce = [this](std::uint64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      arrived_ = bytes;
    }
    changed_.notify_all();
  };
  try {
    check_cuda(cudaSetDevice(device_));
    run_blocks(static_cast<int>(blocks_->size()),
               {.take = [=](int, std::uint64_t block) { return block < count; },
                .work = [this](int worker, std::uint64_t block) { copy(worker, block); },
                .pass =
                    [&](int, std::uint64_t block) {
                      if (block + 1 < count) announce((block + 1) * TransferBlock::bytes);
                    },
                .finish = {}});
    owner_.reset();
    blocks_.reset();
    ready_.reset();
    announce(bytes_);
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      fault_ = std::current_exception();
    }
    changed_.notify_all();
  }
}

}  // namespace sortie
