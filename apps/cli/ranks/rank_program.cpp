// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/ranks/rank_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "apps/cli/command.hpp"
#include "cluster/array_exchange.hpp"
#include "core/host_runtime.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

cluster::Ranks*& ranks_of_program() {
  static cluster::Ranks* ranks = nullptr;
  return ranks;
}

/// Variables that a launcher sets for each process. The first one found names the library.
struct LaunchVariable {
  const char* size;  ///< number of ranks
  std::string_view library;
  std::string_view title;
};
constexpr std::array launch_variables = {
    LaunchVariable{"OMPI_COMM_WORLD_SIZE", "openmpi", "Open MPI"},  // mpirun and prun
    LaunchVariable{"PMI_SIZE", "mpich", "MPICH"},                   // Hydra, and Slurm's PMI
};

}  // namespace

cluster::Ranks* job_ranks() {
  return ranks_of_program();
}

void set_job_ranks(cluster::Ranks* ranks) {
  ranks_of_program() = ranks;
}

bool is_reporting_rank() {
  return job_ranks() == nullptr || job_ranks()->rank() == 0;
}

void together(std::string_view phase, const std::function<void()>& work) {
  if (job_ranks() == nullptr) return work();
  job_ranks()->together(phase, work);
}

void require_same_command(cluster::Ranks& ranks, const std::vector<std::string>& arguments) {
  const std::string own = fmt::format("{} {}", program_version(), fmt::join(arguments, " "));
  const std::string first = cluster::broadcast_text(ranks, own);
  ranks.together("compare commands", [&] {
    if (own == first) return;
    throw Error(
        ErrorKind::usage,
        fmt::format("found the command \"{}\", expected that of rank 0, \"{}\"", own, first));
  });
}

int threads_of_rank(const cluster::Ranks& ranks) {
  const int bound = default_host_threads();
  int cores = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  if (const auto quota = control_group_limits().cores) cores = std::min(cores, *quota);
  return std::clamp(cores / ranks.ranks_on_machine(), 1, bound);
}

std::optional<MpiLaunch> mpi_launch() {
  for (const LaunchVariable& variable : launch_variables) {
    const char* const text = std::getenv(variable.size);
    if (text == nullptr) continue;
    int ranks = 1;
    std::from_chars(text, text + std::strlen(text), ranks);
    return MpiLaunch{variable.library, variable.title, ranks};
  }
  // Slurm with PMIx, which Open MPI speaks.
  if (const char* const text = std::getenv("SLURM_STEP_NUM_TASKS");
      text != nullptr && std::getenv("PMIX_RANK") != nullptr) {
    int ranks = 1;
    std::from_chars(text, text + std::strlen(text), ranks);
    return MpiLaunch{"openmpi", "Open MPI", ranks};
  }
  return {};
}

}  // namespace sortie::cli
