// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/cluster.hpp"

namespace sortie::cli {

/// The ranks that run this command line together; null in a program that runs alone.
[[nodiscard]] cluster::Ranks* job_ranks();
/// \pre called before a command runs; `ranks` outlives all commands
void set_job_ranks(cluster::Ranks* ranks);

/// Whether this process prints messages and writes reports: rank 0, or the only one.
[[nodiscard]] bool is_reporting_rank();

/// Runs work between collective calls, in Ranks::together() if there are ranks.
void together(std::string_view phase, const std::function<void()>& work);

/// Collective: compares the version and the command line of this rank with those of rank 0.
/// \throws Error (usage) they differ on a rank
void require_same_command(cluster::Ranks& ranks, const std::vector<std::string>& arguments);

/// Host threads of this rank where the command line does not say: its share of the machine's cores,
/// or those to which the launcher has bound it if these are fewer.
[[nodiscard]] int threads_of_rank(const cluster::Ranks& ranks);

/// An MPI library that has started this process, as its launcher's environment variables tell.
struct MpiLaunch {
  std::string_view library;  ///< "openmpi" or "mpich"
  std::string_view title;    ///< "Open MPI" or "MPICH"
  int ranks = 1;
};

/// \return nothing if no launcher of MPI has started this process
[[nodiscard]] std::optional<MpiLaunch> mpi_launch();

}  // namespace sortie::cli
