// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "core/host_runtime.hpp"
#include "sortie/cluster.hpp"
#include "sortie/context.hpp"

namespace sortie::cluster {

/// A rank's part of its GPU, which several ranks may share.
struct DeviceShare {
  int first = 0;            ///< lowest rank on this GPU
  int ranks = 1;            ///< on this GPU
  std::uint64_t bytes = 0;  ///< this rank's part of the memory budget, or of the free memory
};

/// Collective, phase "find device": whether this rank's work is for CUDA, as resolve_backend() says.
/// \throws Error (usage) it is on some ranks only; (unavailable)
[[nodiscard]] bool on_cuda(Ranks& ranks, const Context& context);

/// Collective, phase "measure device memory". A GPU is identified by its UUID.
/// \pre the context's backend is CUDA; nothing is allocated on a device before all have measured
/// \throws Error (device)
[[nodiscard]] DeviceShare share_device(Ranks& ranks, const Context& context);

/// Starts the devices of a list at the same time, and connects them as connect_devices() does for
/// ranks of one process: beside other work, so that run_on_devices() need not wait for it. Devices
/// may occur several times.
/// \param bytes  that the pool of each allocates from the system in advance, with access for the
///               others; at most half of what is free
/// \throws Error (device, out_of_memory)
void start_devices(std::span<const int> devices, int threads, std::uint64_t bytes);

/// Threads of the host for the copies of this rank's GPU and for other work of the rank: all ranks
/// of a process share them.
[[nodiscard]] inline int copy_threads(const Ranks& ranks, const HostContext& context) {
  return ranks.share_memory() ? std::max(1, threads_of(context) / ranks.size())
                              : threads_of(context);
}

/// "2 GPUs", or "4 logical devices on 2 GPUs" where some share one.
[[nodiscard]] std::string describe_devices(std::span<const int> devices);

}  // namespace sortie::cluster
