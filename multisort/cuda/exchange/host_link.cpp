// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/exchange/host_link.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_buffer.hpp"

namespace sortie::multisort {

bool is_page_locked(const void* host) {
  cudaPointerAttributes attributes = {};
  check_cuda(cudaPointerGetAttributes(&attributes, host));
  return attributes.type == cudaMemoryTypeHost;
}

HostLink::HostLink(int ordinal) {
  const CurrentDevice current(ordinal);
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

HostLink::~HostLink() {
  static_cast<void>(cudaStreamSynchronize(stream_));
  for (const Block& block : blocks_)
    if (block.done != nullptr) static_cast<void>(cudaEventDestroy(block.done));
  static_cast<void>(cudaStreamDestroy(stream_));
}

void HostLink::prepare_blocks() {
  for (Block& block : blocks_) {
    if (block.done != nullptr) continue;
    block.bytes = PinnedBuffer<std::byte>(block_bytes);
    check_cuda(cudaEventCreateWithFlags(&block.done, cudaEventDisableTiming));
  }
}

void HostLink::to_device(void* device, const void* host, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (is_page_locked(host)) {
    check_cuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_));
  } else {
    prepare_blocks();
    std::size_t next = 0;
    for (std::uint64_t begin = 0; begin < bytes; begin += block_bytes, next ^= 1) {
      Block& block = blocks_[next];
      const std::uint64_t size = std::min(block_bytes, bytes - begin);
      check_cuda(cudaEventSynchronize(block.done));
      std::memcpy(block.bytes.data(), static_cast<const std::byte*>(host) + begin, size);
      check_cuda(cudaMemcpyAsync(static_cast<std::byte*>(device) + begin, block.bytes.data(), size,
                                 cudaMemcpyHostToDevice, stream_));
      check_cuda(cudaEventRecord(block.done, stream_));
    }
  }
  check_cuda(cudaStreamSynchronize(stream_));
}

void HostLink::to_host(void* host, const void* device, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (is_page_locked(host)) {
    check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_));
    check_cuda(cudaStreamSynchronize(stream_));
    return;
  }
  prepare_blocks();
  const std::uint64_t count = (bytes - 1) / block_bytes + 1;
  const auto size_of = [&](std::uint64_t i) {
    return std::min(block_bytes, bytes - i * block_bytes);
  };
  const auto start = [&](std::uint64_t i) {
    Block& block = blocks_[i % 2];
    check_cuda(cudaMemcpyAsync(block.bytes.data(),
                               static_cast<const std::byte*>(device) + i * block_bytes, size_of(i),
                               cudaMemcpyDeviceToHost, stream_));
    check_cuda(cudaEventRecord(block.done, stream_));
  };
  start(0);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i + 1 < count) start(i + 1);
    Block& block = blocks_[i % 2];
    check_cuda(cudaEventSynchronize(block.done));
    std::memcpy(static_cast<std::byte*>(host) + i * block_bytes, block.bytes.data(), size_of(i));
  }
}

void copy_by_threads(const DeviceGroup& group, const std::vector<HostCopy>& copies, bool to_device,
                     int threads) {
  const std::size_t each =
      std::max<std::size_t>(1, static_cast<std::size_t>(threads) / group.size());
  std::vector<std::exception_ptr> faults(group.size() * each);
  {
    std::vector<std::jthread> team;
    for (std::size_t worker = 0; worker < faults.size(); ++worker) {
      team.emplace_back([&, worker] {
        try {
          const std::size_t device = worker / each;
          const CurrentDevice current = group.current(device);
          HostLink link(group.ordinal(device));
          for (const HostCopy& copy : copies) {
            if (copy.device != device) continue;
            // Each of the device's threads copies a share of every range.
            const std::uint64_t share = (copy.bytes + each - 1) / each;
            const std::uint64_t begin = std::min(copy.bytes, worker % each * share);
            const std::uint64_t size = std::min(share, copy.bytes - begin);
            auto* const on_device = static_cast<std::byte*>(copy.on_device) + begin;
            auto* const on_host = static_cast<std::byte*>(copy.on_host) + begin;
            if (to_device) {
              link.to_device(on_device, on_host, size);
            } else {
              link.to_host(on_host, on_device, size);
            }
          }
        } catch (...) {
          faults[worker] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& fault : faults)
    if (fault) std::rethrow_exception(fault);
}

}  // namespace sortie::multisort
