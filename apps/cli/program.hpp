// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command.hpp"

namespace sortie::cli {

/// What differs between `sortie`, `sortie-bench` and the programs of MPI ranks.
struct ProgramParts {
  /// Adds the subcommand `bench`.
  std::vector<Command> (*add_benchmarks)(CLI::App& program);
  /// Continues as another program where the command line needs that one. Returns if it does not; an exit
  /// code if the other program is missing and this one cannot do without it. Null: there is no other program.
  std::optional<int> (*hand_over)(char** values, const std::vector<std::string>& arguments);
};

/// `bench` with the measurement of ranks alone; sortie-bench has all other benchmarks.
[[nodiscard]] std::vector<Command> add_bench_of_ranks(CLI::App& program);

/// Runs the command line.
/// \return exit code of the process
[[nodiscard]] int run_program(int count, char** values, const ProgramParts& parts);

}  // namespace sortie::cli
