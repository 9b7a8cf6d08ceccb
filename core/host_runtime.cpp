// SPDX-License-Identifier: Apache-2.0
#include "core/host_runtime.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "sortie/error.hpp"

namespace sortie {

namespace {

/// Parses a number; empty for "max" and any other text.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> words;
  for (std::string word; file >> word;) words.push_back(word);
  return words;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto words = words_of(path);
  return words.empty() ? std::nullopt : number(words.front());
}

/// Value of the line "KEY VALUE" in a control group's statistics file; 0 if there is none.
std::uint64_t statistic(const std::string& path, std::string_view key) {
  const auto words = words_of(path);
  const auto found = std::find(words.begin(), words.end(), key);
  if (found == words.end() || found + 1 == words.end()) return 0;
  return number(*(found + 1)).value_or(0);
}

/// This process's folder below `root` in version 2 ("0::/PATH"); `root` itself if that path is not
/// visible, as in a container with its own view of the hierarchy.
std::vector<std::string> folders_v2(const std::string& root) {
  std::vector<std::string> folders = {root};
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::/")) continue;
    // The limits of all ancestors apply as well.
    std::istringstream parts(line.substr(4));
    for (std::string part; std::getline(parts, part, '/');)
      folders.push_back(folders.back() + "/" + part);
  }
  return folders;
}

template <class T>
void lower(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

void lower_memory(ControlGroupLimits& limits, std::optional<std::uint64_t> maximum,
                  std::optional<std::uint64_t> used, std::uint64_t reclaimable) {
  // Version 1 represents "no limit" by a number near 2^63.
  if (!maximum || !used || *maximum >= std::uint64_t{1} << 62) return;
  const std::uint64_t taken = *used - std::min(*used, reclaimable);
  lower(limits.memory_left, *maximum - std::min(*maximum, taken));
}

void lower_cores(ControlGroupLimits& limits, std::optional<std::uint64_t> quota,
                 std::optional<std::uint64_t> period) {
  if (!quota || !period || *quota == 0 || *period == 0) return;
  const std::uint64_t cores = (*quota + *period - 1) / *period;
  lower(limits.cores,
        static_cast<int>(std::min<std::uint64_t>(cores, std::numeric_limits<int>::max())));
}

/// The first number of OMP_NUM_THREADS ("8", "8,2"); 0 if it is not set or not a number.
int threads_from_environment() {
  const char* const list = std::getenv("OMP_NUM_THREADS");
  int threads = 0;
  if (list != nullptr) std::from_chars(list, list + std::strlen(list), threads);
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

/// Held while Kokkos starts: another thread may ask whether it runs.
std::mutex starting;

int default_threads() {
  const int threads = threads_from_environment();
  return threads > 0 ? threads : usable_cores();
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

}  // namespace

ControlGroupLimits control_group_limits(const std::string& root) {
  ControlGroupLimits limits;
  for (const auto& folder : folders_v2(root)) {
    lower_memory(limits, number_in(folder + "/memory.max"), number_in(folder + "/memory.current"),
                 statistic(folder + "/memory.stat", "inactive_file"));
    if (const auto words = words_of(folder + "/cpu.max"); words.size() == 2)
      lower_cores(limits, number(words[0]), number(words[1]));
  }
  lower_memory(limits, number_in(root + "/memory/memory.limit_in_bytes"),
               number_in(root + "/memory/memory.usage_in_bytes"),
               statistic(root + "/memory/memory.stat", "total_inactive_file"));
  lower_cores(limits, number_in(root + "/cpu/cpu.cfs_quota_us"),
              number_in(root + "/cpu/cpu.cfs_period_us"));
  return limits;
}

void start_host_runtime(int threads) {
  if (threads < 0)
    throw Error(ErrorKind::usage, fmt::format("found {} threads, expected 1 or more", threads));
  // The OpenMP runtime ends the process where it cannot start as many as asked for.
  constexpr int most_threads = 4096;
  if (threads > most_threads)
    throw Error(ErrorKind::usage,
                fmt::format("found {} threads, expected at most {}", threads, most_threads));
  if (threads > 1 && std::string_view(Kokkos::DefaultHostExecutionSpace::name()) == "Serial")
    throw Error(ErrorKind::unavailable,
                fmt::format("found {}, which has one thread, expected one with OpenMP for the {} "
                            "requested threads",
                            host_runtime_version(), threads));
  const std::lock_guard lock(starting);
  if (!Kokkos::is_initialized()) {
    initialize(threads > 0 ? threads : default_threads());
    // Registered after Kokkos has constructed its statics, hence run before they are destroyed.
    std::atexit([] {
      if (Kokkos::is_initialized()) Kokkos::finalize();
    });
  }
  if (threads > 0 && threads != running_threads())
    throw Error(ErrorKind::usage,
                fmt::format("found the host runtime running with {} threads, expected {}: the "
                            "number is fixed when the first host algorithm runs",
                            running_threads(), threads));
}

int host_threads() {
  const std::lock_guard lock(starting);
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
