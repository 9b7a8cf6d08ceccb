// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>

namespace sortie::suffix_array::host {

/// Result of first_fault() when no index is faulty.
inline constexpr std::uint64_t no_fault = std::numeric_limits<std::uint64_t>::max();

using IndexRange =
    Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::uint64_t>>;

/// The smallest index in [begin, end) for which `faulty` holds, searched by all host threads;
/// no_fault when there is none.
template <class Predicate>
[[nodiscard]] std::uint64_t first_fault(std::uint64_t begin, std::uint64_t end,
                                        const Predicate& faulty) {
  std::uint64_t first = no_fault;
  if (begin >= end) return first;
  Kokkos::parallel_reduce(
      "first_fault", IndexRange(begin, end),
      [=](std::uint64_t i, std::uint64_t& smallest) {
        if (i < smallest && faulty(i)) smallest = i;
      },
      Kokkos::Min<std::uint64_t>(first));
  return first;
}

}  // namespace sortie::suffix_array::host
