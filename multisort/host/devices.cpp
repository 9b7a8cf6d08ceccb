// SPDX-License-Identifier: Apache-2.0
#include "multisort/host/devices.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>

#include "core/host_runtime.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

std::size_t start_devices(const HostContext& context, int wanted) {
  if (wanted < 0 || wanted > most_devices)
    throw Error(ErrorKind::usage, fmt::format("sort: found {} devices, expected 1 to {}, or 0 for "
                                              "one for each thread",
                                              wanted, most_devices));
  start_host_runtime(context.threads);
  return static_cast<std::size_t>(wanted > 0 ? wanted : host_threads());
}

void for_each_device(std::size_t devices, const std::function<void(std::size_t)>& body) {
  // A parallel region ends with a barrier of all threads, which takes milliseconds if other
  // programs occupy the cores.
  if (devices == 1) {
    body(0);
    return;
  }
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::size_t>,
                          Kokkos::Schedule<Kokkos::Dynamic>>;
  // Chunk size 1: with more devices than threads, an idle thread takes the next device.
  Kokkos::parallel_for("sortie::multisort", Policy(0, devices, Kokkos::ChunkSize(1)),
                       [&body](std::size_t device) { body(device); });
}

}  // namespace sortie::multisort
