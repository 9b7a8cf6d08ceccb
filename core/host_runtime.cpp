// SPDX-License-Identifier: Apache-2.0
#include "core/host_runtime.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

#include "sortie/error.hpp"

namespace sortie {

namespace {

/// The first number of OMP_NUM_THREADS ("8", "8,2"); 0 if it is not set or not a number.
int threads_from_environment() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return 0;
  const std::string_view list = text;
  int threads = 0;
  std::from_chars(list.data(), list.data() + list.size(), threads);
  return std::max(threads, 0);
}

/// Cores that this process may use: its affinity mask, limited by the control group's quota.
int usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // The call fails if the machine has more cores than the mask has bits.
  const int cores = sched_getaffinity(0, sizeof(mask), &mask) == 0
                        ? CPU_COUNT(&mask)
                        : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::min(cores, control_group_limits().cores.value_or(cores)));
}

int default_threads() {
  const int threads = threads_from_environment();
  return threads > 0 ? threads : usable_cores();
}

bool has_threads() {
  return std::string_view(Kokkos::DefaultHostExecutionSpace::name()) != "Serial";
}

int running_threads() {
  return Kokkos::DefaultHostExecutionSpace().concurrency();
}

void initialize(int threads) {
  // Kokkos prints warnings on standard output, which is reserved for results.
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(
      Kokkos::InitializationSettings().set_num_threads(threads).set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.num_threads = threads;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
}

void finalize_at_exit() {
  if (Kokkos::is_initialized()) Kokkos::finalize();
}

std::mutex& start_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

void start_host_runtime(int threads) {
  if (threads < 0)
    throw Error(ErrorKind::usage, fmt::format("found {} threads, expected 1 or more", threads));
  if (threads > 1 && !has_threads())
    throw Error(ErrorKind::unavailable,
                fmt::format("found {}, which has one thread, expected one with OpenMP for the {} "
                            "requested threads",
                            host_runtime_version(), threads));
  const std::lock_guard lock(start_mutex());
  if (!Kokkos::is_initialized()) {
    initialize(threads > 0 ? threads : default_threads());
    // Registered after Kokkos has constructed its statics, hence run before they are destroyed.
    std::atexit(finalize_at_exit);
  }
  if (threads > 0 && threads != running_threads())
    throw Error(ErrorKind::usage,
                fmt::format("found the host runtime running with {} threads, expected {}: the "
                            "number is fixed when the first host algorithm runs",
                            running_threads(), threads));
}

int host_threads() {
  return Kokkos::is_initialized() ? running_threads() : 0;
}

int default_host_threads() {
  const int running = host_threads();
  return running > 0 ? running : default_threads();
}

std::string host_runtime_version() {
  return fmt::format("Kokkos {}.{}.{} ({})", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
                     KOKKOS_VERSION % 100, Kokkos::DefaultHostExecutionSpace::name());
}

}  // namespace sortie
