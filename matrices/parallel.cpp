// SPDX-License-Identifier: Apache-2.0
#include "matrices/parallel.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <exception>
#include <limits>
#include <vector>

#include "core/host_runtime.hpp"
#include "core/memory_budget.hpp"

namespace sortie::matrices::detail {

int worker_threads() {
  return std::max(1, host_threads());
}

void for_ranges(std::int64_t count, std::int64_t grain,
                const std::function<void(std::int64_t begin, std::int64_t end)>& work) {
  const std::int64_t ranges = (count + grain - 1) / grain;
  const auto run = [&](std::int64_t range) {
    work(range * grain, std::min(count, (range + 1) * grain));
  };
  if (host_threads() == 0 || ranges <= 1) {
    for (std::int64_t range = 0; range < ranges; ++range) run(range);
    return;
  }
  // Exceptions must not leave the body of the parallel loop.
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranges));
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                          Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(Policy(0, ranges, Kokkos::ChunkSize(1)), [&](const std::int64_t range) {
    try {
      run(range);
    } catch (...) {
      failures[static_cast<std::size_t>(range)] = std::current_exception();
    }
  });
  Kokkos::DefaultHostExecutionSpace().fence();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

std::uint64_t bytes_of(std::initializer_list<MemoryNeed> needs) {
  std::uint64_t bytes = 0;
  for (const MemoryNeed& need : needs) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(need.count), need.bytes_each, &product) ||
        __builtin_add_overflow(bytes, product, &bytes)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return bytes;
}

void require_host_memory(const char* what, std::initializer_list<MemoryNeed> needs) {
  require_memory({}, what, bytes_of(needs));
}

}  // namespace sortie::matrices::detail
