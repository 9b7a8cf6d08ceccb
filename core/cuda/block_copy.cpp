// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/block_copy.hpp"

#include <algorithm>
#include <cstdint>

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
  const BlockTransfer array{device, host, bytes, kind};
  TransferBlocks blocks(transfer_threads(bytes, threads));
  blocks.wait_for(stream);
  run_blocks(static_cast<int>(blocks.size()),
             {.take = [count = array.blocks()](int, auto block) { return block < count; },
              .work = [&](int worker, auto block) { blocks.copy(worker, array, block); },
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
