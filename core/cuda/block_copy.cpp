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
  TransferBlocks blocks(transfer_threads(bytes, threads, BesideTransfer::waits));
  blocks.wait_for(stream);
  // Each thread copies consecutive blocks: two that touch the same new page of 2 MiB would both
  // clear it.
  const std::uint64_t count = array.blocks();
  const std::uint64_t share = (count + blocks.size() - 1) / blocks.size();
  run_blocks(static_cast<int>(blocks.size()),
             {.take = [&](int, auto number) { return number * share < count; },
              .work =
                  [&](int worker, auto number) {
                    const auto end = std::min(count, (number + 1) * share);
                    for (auto block = number * share; block < end; ++block)
                      blocks.copy(worker, array, block);
                  },
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
