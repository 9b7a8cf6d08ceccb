// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sortie {

/// In place of core/cuda/pinned_memory.hpp, whose mailboxes need events of CUDA: kernels on the host
/// are not waited for. Classes with a mailbox can be declared; nothing here is defined.
template <class T>
class PinnedMailbox {
 public:
  [[nodiscard]] const T& wait();
};

}  // namespace sortie
