// SPDX-License-Identifier: Apache-2.0
#include "primitives/host/parallel.hpp"

#include <Kokkos_Core.hpp>
#include <exception>
#include <mutex>

namespace sortie {

void for_each_task(std::uint64_t tasks, const std::function<void(std::uint64_t)>& work) {
  if (tasks <= 1 || host_threads() <= 1) {
    for (std::uint64_t task = 0; task < tasks; ++task) work(task);
    return;
  }
  // Exceptions must not leave the body of the parallel loop.
  std::mutex mutex;
  std::uint64_t failed = tasks;
  std::exception_ptr failure;
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                          Kokkos::IndexType<std::uint64_t>>;
  Kokkos::parallel_for("sortie", Policy(0, tasks, Kokkos::ChunkSize(1)),
                       [&](const std::uint64_t task) {
                         try {
                           work(task);
                         } catch (...) {
                           const std::lock_guard lock(mutex);
                           if (task < failed) failure = std::current_exception();
                           failed = std::min(failed, task);
                         }
                       });
  Kokkos::DefaultHostExecutionSpace().fence();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sortie
