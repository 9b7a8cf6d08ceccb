#pragma once

#include <string>

namespace sortie {

/// Starts Kokkos if nobody has, with `threads` host threads (0: OMP_NUM_THREADS, else all cores).
///
/// Every host implementation calls this first. The first call decides; Kokkos is finalised at the
/// end of the program. When the embedding program has started Kokkos itself, that one is used and
/// never finalised by Sortie. Thread-safe; but Kokkos before 4.0 runs parallel work only on the
/// thread that started it, so host algorithms are called from one thread there.
///
/// \param threads  host threads; 0 takes OMP_NUM_THREADS, else the cores of this process's affinity
///                 mask within the quota of its control group
/// \throws Error (usage) when Kokkos already runs with another number of threads than `threads`.
/// \throws Error (unavailable) when several threads are asked for and Kokkos has Serial only.
void start_host_runtime(int threads);

/// Threads of the running host runtime; 0 before the first start.
[[nodiscard]] int host_threads();

/// Threads that a host algorithm may use here: those of the running host runtime, else what
/// start_host_runtime(0) would start. At least 1.
[[nodiscard]] int default_host_threads();

/// "Kokkos 3.4.1 (OpenMP)".
[[nodiscard]] std::string host_runtime_version();

}  // namespace sortie
