// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/block_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/cuda/transfer_blocks.hpp"
#include "core/files/block_pipeline.hpp"

namespace sortie {
namespace {

void copy(std::byte* device, std::byte* host, std::size_t bytes, cudaMemcpyKind kind,
          cudaStream_t stream, int threads) {
  if (bytes == 0) return;
  const bool in = kind == cudaMemcpyHostToDevice;
  if (bytes < 2 * TransferBlock::bytes || is_page_locked(host)) {
    check_cuda(cudaMemcpyAsync(in ? device : host, in ? host : device, bytes, kind, stream));
    check_cuda(cudaStreamSynchronize(stream));
    return;
  }
  int ordinal = 0;
  check_cuda(cudaGetDevice(&ordinal));
  TransferBlocks blocks(transfer_threads(bytes, threads));
  const CudaEvent ready = make_event();
  check_cuda(cudaEventRecord(ready.get(), stream));
  for (std::size_t i = 0; i < blocks.size(); ++i)
    check_cuda(cudaStreamWaitEvent(blocks[i].stream.get(), ready.get(), 0));
  const std::uint64_t count = (bytes + TransferBlock::bytes - 1) / TransferBlock::bytes;
  const auto work = [&](int worker, std::uint64_t block) {
    // The current device is a property of the thread.
    check_cuda(cudaSetDevice(ordinal));
    TransferBlock& transfer = blocks[static_cast<std::size_t>(worker)];
    const std::size_t begin = block * TransferBlock::bytes;
    const std::size_t size = std::min(TransferBlock::bytes, bytes - begin);
    std::byte* const locked = transfer.memory.data();
    if (in) std::memcpy(locked, host + begin, size);
    check_cuda(cudaMemcpyAsync(in ? device + begin : locked, in ? locked : device + begin, size,
                               kind, transfer.stream.get()));
    check_cuda(cudaStreamSynchronize(transfer.stream.get()));
    if (!in) std::memcpy(host + begin, locked, size);
  };
  run_blocks(static_cast<int>(blocks.size()),
             {.take = [=](int, std::uint64_t block) { return block < count; },
              .work = work,
              .pass = {},
              .finish = {}});
}

}  // namespace

void copy_to_device_in_blocks(void* device, std::span<const std::byte> host, cudaStream_t stream,
                              int threads) {
  copy(static_cast<std::byte*>(device), const_cast<std::byte*>(host.data()), host.size(),
       cudaMemcpyHostToDevice, stream, threads);
}

void copy_to_host_in_blocks(std::span<std::byte> host, const void* device, cudaStream_t stream,
                            int threads) {
  copy(const_cast<std::byte*>(static_cast<const std::byte*>(device)), host.data(), host.size(),
       cudaMemcpyDeviceToHost, stream, threads);
}

}  // namespace sortie
