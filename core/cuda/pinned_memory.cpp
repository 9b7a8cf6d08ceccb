// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/pinned_memory.hpp"

#include <iterator>
#include <mutex>
#include <new>

namespace sortie {

bool is_page_locked(const void* host) {
  cudaPointerAttributes attributes = {};
  check_cuda(cudaPointerGetAttributes(&attributes, host));
  return attributes.type == cudaMemoryTypeHost;
}

namespace detail {
namespace {

/// Mailboxes that are not in use. Never destroyed: the driver may already be unloaded when statics
/// are destroyed.
struct IdleMailboxes {
  std::mutex mutex;
  std::vector<Mailbox> mailboxes;
};

IdleMailboxes& idle_mailboxes() {
  static auto& mailboxes = *new IdleMailboxes;
  return mailboxes;
}

}  // namespace

void* allocate_pinned(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMallocHost(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw out_of_memory_error("a page-locked host buffer", bytes, host_memory_available());
  }
  check_cuda(status);
  return data;
}

Mailbox take_mailbox() {
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  IdleMailboxes& idle = idle_mailboxes();
  const std::lock_guard lock(idle.mutex);
  // The mailbox returned last is the most likely to be in the cache.
  const auto found =
      std::ranges::find(idle.mailboxes.rbegin(), idle.mailboxes.rend(), device, &Mailbox::device);
  if (found == idle.mailboxes.rend())
    return {PinnedBuffer<std::byte>(Mailbox::bytes), make_event(), device};
  Mailbox mailbox = std::move(*found);
  idle.mailboxes.erase(std::next(found).base());
  return mailbox;
}

void return_mailbox(Mailbox mailbox) noexcept {
  IdleMailboxes& idle = idle_mailboxes();
  const std::lock_guard lock(idle.mutex);
  try {
    idle.mailboxes.push_back(std::move(mailbox));
  } catch (const std::bad_alloc&) {
    // It is freed instead.
  }
}

}  // namespace detail

/// Large enough to keep the bus busy while the host processes the other chunk, small enough that
/// locking the pages (about 1 ms for both buffers) pays off after a few chunks.
constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

ChunkCopier::ChunkCopier(std::size_t max_bytes)
    : chunks_{Chunk{PinnedBuffer<std::byte>(std::min(max_bytes, chunk_bytes))},
              Chunk{PinnedBuffer<std::byte>(max_bytes > chunk_bytes ? chunk_bytes : 0)}} {}

void ChunkCopier::copy(const void* device, std::size_t bytes, cudaStream_t stream,
                       const ChunkSink& sink) {
  const std::byte* const source = static_cast<const std::byte*>(device);
  const std::size_t chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
  if (chunks == 0) return;
  const auto size_of = [&](std::size_t i) {
    return std::min(chunk_bytes, bytes - i * chunk_bytes);
  };
  const auto fetch = [&](std::size_t i) {
    Chunk& chunk = chunks_[i % 2];
    check_cuda(cudaMemcpyAsync(chunk.buffer.data(), source + i * chunk_bytes, size_of(i),
                               cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaEventRecord(chunk.arrived.get(), stream));
  };
  try {
    fetch(0);
    for (std::size_t i = 0; i < chunks; ++i) {
      if (i + 1 < chunks) fetch(i + 1);
      Chunk& chunk = chunks_[i % 2];
      check_cuda(cudaEventSynchronize(chunk.arrived.get()));
      sink({chunk.buffer.data(), size_of(i)});
    }
  } catch (...) {
    // A copy may still be writing to a buffer that is about to be freed.
    static_cast<void>(cudaStreamSynchronize(stream));
    throw;
  }
}

}  // namespace sortie
