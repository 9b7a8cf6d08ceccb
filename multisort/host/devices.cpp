#include "sortie/multisort/host/devices.hpp"

#include <fmt/format.h>

#include <Kokkos_Core.hpp>

#include "sortie/core/error.hpp"
#include "sortie/core/host_runtime.hpp"

namespace sortie::multisort {

std::size_t start_devices(const Context& context, int wanted) {
  if (wanted < 0 || wanted > most_devices)
    throw Error(ErrorKind::usage, fmt::format("sort: found {} devices, expected 1 to {}, or 0 for "
                                              "one for each thread",
                                              wanted, most_devices));
  start_host_runtime(context.threads);
  return static_cast<std::size_t>(wanted > 0 ? wanted : host_threads());
}

void for_each_device(std::size_t devices, const std::function<void(std::size_t)>& body) {
  // A team that is woken for nothing still has to meet at the end, which takes milliseconds where
  // other programs keep the cores busy.
  if (devices == 1) {
    body(0);
    return;
  }
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::size_t>,
                          Kokkos::Schedule<Kokkos::Dynamic>>;
  // One device at a time: with more devices than threads, a thread that is done takes the next.
  Kokkos::parallel_for("sortie::multisort", Policy(0, devices, Kokkos::ChunkSize(1)),
                       [&body](std::size_t device) { body(device); });
}

}  // namespace sortie::multisort
