// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/pinned_mailbox.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <vector>

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

}  // namespace sortie::detail
