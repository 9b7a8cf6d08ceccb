// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/device_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "core/cuda/check.hpp"
#include "core/cuda/device_pool.hpp"
#include "multisort/backends.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

namespace {

/// Gives `from` access to the memory of `to`, both cudaMalloc's and the pool's, if that is possible.
/// Once in a process: to enable it again is an API error, which sanitizers report. Thread-safe.
bool connect_peers(int from, int to) {
  static std::mutex mutex;
  static std::set<std::pair<int, int>> connected;
  const std::lock_guard lock(mutex);
  if (connected.contains({from, to})) return true;
  int possible = 0;
  check_cuda(cudaDeviceCanAccessPeer(&possible, from, to));
  if (possible == 0) return false;
  const CurrentDevice current(from);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  static_cast<void>(cudaGetLastError());
  if (status == cudaErrorTooManyPeers) return false;
  // Another library of the process may have enabled it.
  if (status != cudaErrorPeerAccessAlreadyEnabled) check_cuda(status);
  cudaMemAccessDesc access = {};
  access.location = {.type = cudaMemLocationTypeDevice, .id = from};
  access.flags = cudaMemAccessFlagsProtReadWrite;
  check_cuda(cudaMemPoolSetAccess(device_pool(to), &access, 1));
  connected.emplace(from, to);
  return true;
}

}  // namespace

DeviceGroup::DeviceGroup(const std::vector<int>& ordinals, Transport transport)
    : devices_(ordinals.size()), reach_(ordinals.size() * ordinals.size(), false) {
  if (ordinals.empty())
    throw Error(ErrorKind::usage, "sort: found no devices, expected one at least");
  const int gpus = cuda_device_count();
  for (const int ordinal : ordinals) {
    if (ordinal >= 0 && ordinal < gpus) continue;
    throw Error(ErrorKind::unavailable,
                gpus == 0 ? fmt::format("the cuda backend cannot run: {}", why_no_cuda())
                          : fmt::format("found no CUDA device {}, expected a number from 0 to {}",
                                        ordinal, gpus - 1));
  }
  for (std::size_t d = 0; d < size(); ++d) {
    Device& device = devices_[d];
    device.ordinal = ordinals[d];
    const CurrentDevice scope(device.ordinal);
    int least = 0;
    int greatest = 0;
    check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    for (CudaStream* stream : {&device.work, &device.in}) *stream = make_stream();
    device.out = make_stream(greatest);
    device.event = make_event();
  }
  for (std::size_t from = 0; from < size(); ++from) {
    for (std::size_t to = 0; to < size(); ++to) {
      const bool reached =
          from == to ||
          (transport != Transport::staged &&
           (ordinal(from) == ordinal(to) || connect_peers(ordinal(from), ordinal(to))));
      if (!reached && transport == Transport::peer)
        throw Error(ErrorKind::unavailable,
                    fmt::format("found no peer access from CUDA device {} to {}, expected it for "
                                "transport peer",
                                ordinal(from), ordinal(to)));
      reach_[from * size() + to] = reached;
    }
  }
}

void DeviceGroup::wait(cudaStream_t waiting, std::size_t device, cudaStream_t stream) const {
  // The event can be recorded again at once: a wait refers to the record before it.
  check_cuda(cudaEventRecord(devices_[device].event.get(), stream));
  check_cuda(cudaStreamWaitEvent(waiting, devices_[device].event.get(), 0));
}

void DeviceGroup::barrier() const {
  for (const Device& device : devices_)
    check_cuda(cudaEventRecord(device.event.get(), device.work.get()));
  for (const Device& device : devices_)
    for (const Device& other : devices_)
      if (&device != &other)
        check_cuda(cudaStreamWaitEvent(device.work.get(), other.event.get(), 0));
}

void DeviceGroup::synchronise() const {
  for (const Device& device : devices_)
    for (const CudaStream* stream : {&device.work, &device.in, &device.out})
      check_cuda(cudaStreamSynchronize(stream->get()));
}

}  // namespace sortie::multisort
