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

}  // namespace sortie
