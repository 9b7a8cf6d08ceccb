// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/command.hpp"
#include "baselines/baselines.hpp"
#include "papers/papers.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

constexpr const char* description =
    "Segmented sort and its applications, sparse matrix products and suffix arrays; and the sort\n"
    "of an array of any size.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a check did not hold.";

std::vector<Command> add_commands(CLI::App& program) {
  std::vector<Command> commands;
  commands.push_back(add_spgemm_command(program));
  commands.push_back(add_suffix_array_command(program));
  commands.push_back(add_query_command(program));
  commands.push_back(add_sort_command(program));
  for (Command& command : add_bench_commands(program)) commands.push_back(std::move(command));
  commands.push_back(add_info_command(program));
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
    Job job(*command.options, arguments);
    command.run(job);
    job.finish();
  });
}

int run_program(int count, char** values) {
  CLI::App program(description, "sortie");
  program.set_help_flag("-h,--help", "Show this help and exit");
  program.set_version_flag("-V,--version", program_version(), "Show the version and exit");
  program.require_subcommand(1);
  const std::vector<Command> commands = add_commands(program);
  if (count <= 1) {
    fmt::print(stderr, "{}", program.help());
    return static_cast<int>(ExitCode::wrong_usage);
  }
  try {
    program.parse(count, values);
  } catch (const CLI::Success& help_or_version) {
    return program.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    print_error(describe(error, program));
    return static_cast<int>(ExitCode::wrong_usage);
  }
  for (const Command& command : commands) {
    if (command.parser->parsed()) {
      return static_cast<int>(run(command, {values + 1, values + count}));
    }
  }
  return static_cast<int>(ExitCode::wrong_usage);  // not reached: a subcommand is required
}

}  // namespace
}  // namespace sortie::cli

int main(int count, char** values) {
  sortie::papers::register_all();
  sortie::baselines::register_all();
  return sortie::cli::run_program(count, values);
}
