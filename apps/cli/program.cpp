// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/completion_command.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "core/files/temporary_name.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

constexpr const char* description =
    "Segmented sort and its applications, sparse matrix products and suffix arrays; and the sort\n"
    "of an array of any size.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a check did not hold.";

std::vector<Command> add_commands(CLI::App& program, const ProgramParts& parts) {
  std::vector<Command> commands;
  commands.push_back(add_spgemm_command(program));
  commands.push_back(add_suffix_array_command(program));
  commands.push_back(add_query_command(program));
  commands.push_back(add_sort_command(program));
  commands.push_back(add_cluster_command(program));
  commands.push_back(add_dedup_command(program));
  commands.push_back(add_matches_command(program));
  commands.push_back(add_genome_index_command(program));
  commands.push_back(add_inverted_index_command(program));
  commands.push_back(add_kmers_command(program));
  commands.push_back(add_search_command(program));
  for (Command& command : parts.add_benchmarks(program)) commands.push_back(std::move(command));
  commands.push_back(add_info_command(program));
  commands.push_back(add_completion_command(program));
  return commands;
}

// Describes the error in the command line. CLI11 reports "A subcommand is required" for an unknown
// subcommand as well; this names the unknown one.
std::string describe(const CLI::ParseError& error, const CLI::App& program) {
  const bool subcommand_missing =
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
      std::string_view(error.what()).find("subcommand") != std::string_view::npos;
  const std::vector<std::string> unknown = program.remaining(true);
  if (!subcommand_missing || unknown.empty()) return error.what();
  return fmt::format("found {}, expected a subcommand (sortie --help lists them)",
                     sortie::quoted(unknown.front()));
}

ExitCode run(const Command& command, const std::vector<std::string>& arguments) {
  return run_guarded([&] {
    std::unique_ptr<Job> created;
    together("start", [&] {
      created = std::make_unique<Job>(*command.options, arguments);
      if (job_ranks() != nullptr && job_ranks()->size() > 1 && !command.runs_on_ranks) {
        throw Error(ErrorKind::usage, fmt::format("found {} ranks, expected 1: {} does not divide "
                                                  "its work among ranks",
                                                  job_ranks()->size(), arguments[0]));
      }
    });
    Job& job = *created;
    {
      // The other commands have phases of their own.
      const bool is_one_phase = arguments[0] == "bench" || arguments[0] == "info";
      std::optional<PhaseTimer> timer;
      if (is_one_phase) timer.emplace(job.reading_context(), arguments[0]);
      command.run(job);
    }
    together("finish", [&] { job.finish(); });
  });
}

}  // namespace

std::vector<Command> add_bench_of_ranks(CLI::App& program) {
  CLI::App* const parser = program.add_subcommand("bench", "Benchmarks (by sortie-bench)");
  parser->require_subcommand(1);
  return {add_bench_ranks_command(*parser)};
}

int run_program(int count, char** values, const ProgramParts& parts) {
  CLI::App program(description, "sortie");
  program.set_help_flag("-h,--help", "Show this help and exit");
  add_version_option(program);
  program.require_subcommand(1);
  const std::vector<Command> commands = add_commands(program, parts);
  if (count <= 1) {
    if (is_reporting_rank()) fmt::print(stderr, "{}", program.help());
    return static_cast<int>(ExitCode::wrong_usage);
  }
  if (parts.hand_over != nullptr) {
    if (const auto code = parts.hand_over(values, {values + 1, values + count})) return *code;
  }
  if (job_ranks() != nullptr) {
    const ExitCode same = run_guarded([&] {
      require_same_command(*job_ranks(), {values + 1, values + count});
    });
    if (same != ExitCode::done) return static_cast<int>(same);
  }
  try {
    program.parse(count, values);
  } catch (const CLI::Success& help_or_version) {
    return is_reporting_rank() ? program.exit(help_or_version) : 0;
  } catch (const CLI::ParseError& error) {
    if (is_reporting_rank()) print_error(describe(error, program));
    return static_cast<int>(ExitCode::wrong_usage);
  }
  remove_temporary_files_on_signals();
  for (const Command& command : commands) {
    if (command.parser->parsed()) {
      return static_cast<int>(run(command, {values + 1, values + count}));
    }
  }
  return static_cast<int>(ExitCode::wrong_usage);  // not reached: a subcommand is required
}

}  // namespace sortie::cli
