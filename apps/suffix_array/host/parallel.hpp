#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace sortie::suffix_array::host {

/// Runs work(0), ..., work(tasks - 1) on all host threads, which take the tasks one by one. A
/// single task runs on the calling thread: waking the others costs more than a short text takes.
template <class Work>
void for_each_task(std::uint64_t tasks, const Work& work) {
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                          Kokkos::IndexType<std::uint64_t>>;
  if (tasks == 1) {
    work(0);
    return;
  }
  Policy policy(0, tasks);
  policy.set_chunk_size(1);
  Kokkos::parallel_for("suffix_array_tasks", policy, [&](std::uint64_t task) { work(task); });
}

}  // namespace sortie::suffix_array::host
