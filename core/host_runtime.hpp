#pragma once

#include <string>

namespace sortie {

/// Starts Kokkos if nobody has, with `threads` host threads (0: OMP_NUM_THREADS, else all cores).
///
/// Every host implementation calls this first. The first call decides; Kokkos is finalised at the
/// end of the program. When the embedding program has started Kokkos itself, that one is used and
/// never finalised by Sortie. Thread-safe.
///
/// \throws Error (usage) when Kokkos already runs with another number of threads than `threads`.
void start_host_runtime(int threads);

/// Threads of the running host runtime; 0 before the first start.
[[nodiscard]] int host_threads();

/// "Kokkos 3.4.1 (OpenMP)".
[[nodiscard]] std::string host_runtime_version();

}  // namespace sortie
