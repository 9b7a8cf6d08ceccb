// SPDX-License-Identifier: Apache-2.0
#include "segsort/host/parallel_parts.hpp"

#include <Kokkos_Core.hpp>

namespace sortie::segsort {

void parallel_for(std::uint64_t count, const std::function<void(std::uint64_t)>& body) {
  const Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::uint64_t>>
      range(0, count);
  Kokkos::parallel_for("sortie::segsort", range, [&body](std::uint64_t i) { body(i); });
}

}  // namespace sortie::segsort
