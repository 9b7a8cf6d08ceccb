// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/exchange/host_link.hpp"

#include <algorithm>
#include <cstring>

#include "core/cuda/check.hpp"
#include "core/numa_node.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::multisort {

int numa_node_of(int ordinal) {
  int node = -1;
  if (cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, ordinal) == cudaSuccess) return node;
  static_cast<void>(cudaGetLastError());  // drivers before CUDA 12.2
  return -1;
}

HostLink::HostLink(int ordinal) {
  const CurrentDevice current(ordinal);
  stream_ = make_stream();
}

HostLink::~HostLink() {
  static_cast<void>(cudaStreamSynchronize(stream_.get()));
}

void HostLink::copy(std::byte* device, std::byte* host, std::uint64_t bytes, bool to_device) {
  if (bytes == 0) return;
  const auto start = [&](std::byte* on_device, std::byte* on_host, std::uint64_t size) {
    check_cuda(
        to_device
            ? cudaMemcpyAsync(on_device, on_host, size, cudaMemcpyHostToDevice, stream_.get())
            : cudaMemcpyAsync(on_host, on_device, size, cudaMemcpyDeviceToHost, stream_.get()));
  };
  if (is_page_locked(host)) {
    start(device, host, bytes);
  } else {
    // On first use: page-locking is slow, and page-locked memory needs no blocks.
    for (Block& block : blocks_) {
      if (block.done != nullptr) continue;
      block.bytes = PinnedBuffer<std::byte>(block_bytes);
      block.done = make_event();
    }
    const std::uint64_t count = (bytes - 1) / block_bytes + 1;
    const auto size_of = [&](std::uint64_t i) {
      return std::min(block_bytes, bytes - i * block_bytes);
    };
    for (std::uint64_t i = 0; i <= count; ++i) {
      if (i < count) {
        Block& block = blocks_[i % 2];
        check_cuda(cudaEventSynchronize(block.done.get()));
        if (to_device) std::memcpy(block.bytes.data(), host + i * block_bytes, size_of(i));
        start(device + i * block_bytes, block.bytes.data(), size_of(i));
        check_cuda(cudaEventRecord(block.done.get(), stream_.get()));
      }
      if (i > 0 && !to_device) {
        Block& block = blocks_[(i - 1) % 2];
        check_cuda(cudaEventSynchronize(block.done.get()));
        std::memcpy(host + (i - 1) * block_bytes, block.bytes.data(), size_of(i - 1));
      }
    }
  }
  check_cuda(cudaStreamSynchronize(stream_.get()));
}

void copy_by_threads(const DeviceGroup& group, const std::vector<HostCopy>& copies, bool to_device,
                     int threads) {
  // Page-locked memory needs no threads to fill blocks.
  const bool direct = std::all_of(copies.begin(), copies.end(), [](const HostCopy& copy) {
    return copy.bytes == 0 || is_page_locked(copy.on_host);
  });
  const std::size_t each =
      direct ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(threads) / group.size());
  run_on_threads(group.size() * each, [&](std::size_t worker) {
    const std::size_t device = worker / each;
    const CurrentDevice current = group.current(device);
    const OnNumaNode on_node(numa_node_of(group.ordinal(device)));
    HostLink link(group.ordinal(device));
    for (const HostCopy& copy : copies) {
      if (copy.device != device) continue;
      // Each of the device's threads copies a share of every range.
      const std::uint64_t share = (copy.bytes + each - 1) / each;
      const std::uint64_t begin = std::min(copy.bytes, worker % each * share);
      link.copy(copy.on_device + begin, copy.on_host + begin, std::min(share, copy.bytes - begin),
                to_device);
    }
  });
}

}  // namespace sortie::multisort
