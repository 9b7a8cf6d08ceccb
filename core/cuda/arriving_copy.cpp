// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/arriving_copy.hpp"

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
    : owner_(std::move(owner)),
      memory_(memory_for(bytes)),
      array_{static_cast<std::byte*>(const_cast<void*>(device)), memory_.get(), bytes,
             cudaMemcpyDeviceToHost},
      blocks_(std::in_place, transfer_threads(bytes, threads, BesideTransfer::work)) {
  blocks_->wait_for(stream);
  check_cuda(cudaGetDevice(&device_));
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

void ArrivingCopy::run() noexcept {
  const std::uint64_t count = array_.blocks();
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
                .work = [this](int worker, auto block) { blocks_->copy(worker, array_, block); },
                .pass =
                    [&](int, std::uint64_t block) {
                      if (block + 1 < count) announce((block + 1) * TransferBlock::bytes);
                    },
                .finish = {}});
    owner_.reset();
    blocks_.reset();
    announce(array_.bytes);
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      fault_ = std::current_exception();
    }
    changed_.notify_all();
  }
}

}  // namespace sortie
