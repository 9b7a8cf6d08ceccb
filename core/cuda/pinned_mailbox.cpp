// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/pinned_mailbox.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_buffer.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::detail {
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

Mailbox take_mailbox() {
  Mailbox mailbox;
  check_cuda(cudaGetDevice(&mailbox.device));
  IdleMailboxes& idle = idle_mailboxes();
  const std::lock_guard lock(idle.mutex);
  // The mailbox returned last is the most likely to be in the cache.
  const auto found = std::ranges::find(idle.mailboxes.rbegin(), idle.mailboxes.rend(),
                                       mailbox.device, &Mailbox::device);
  if (found != idle.mailboxes.rend()) {
    mailbox = *found;
    idle.mailboxes.erase(std::next(found).base());
    return mailbox;
  }
  check_cuda(cudaEventCreateWithFlags(&mailbox.written, cudaEventDisableTiming));
  try {
    mailbox.memory = allocate_pinned(Mailbox::bytes);
  } catch (...) {
    static_cast<void>(cudaEventDestroy(mailbox.written));
    throw;
  }
  return mailbox;
}

void return_mailbox(const Mailbox& mailbox) noexcept {
  IdleMailboxes& idle = idle_mailboxes();
  const std::lock_guard lock(idle.mutex);
  try {
    idle.mailboxes.push_back(mailbox);
  } catch (...) {
    static_cast<void>(cudaFreeHost(mailbox.memory));
    static_cast<void>(cudaEventDestroy(mailbox.written));
  }
}

}  // namespace sortie::detail
