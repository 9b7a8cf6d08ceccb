// SPDX-License-Identifier: Apache-2.0
//
// The main program of `sortie`, and of `sortie-bench`, which also has the benchmarks and the
// algorithms of papers/. `sortie` hands over to sortie-bench what only that has, so that users call
// one program, and can build the small one alone.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/cli/command.hpp"
#include "apps/cli/completion_command.hpp"
#include "baselines/baselines.hpp"
#include "core/files/temporary_name.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#ifdef SORTIE_WITH_BENCHMARKS
#include "papers/papers.hpp"
#else
#include "apps/suffix_array/construction.hpp"
#include "sortie/sort.hpp"
#include "sortie/spgemm.hpp"
#endif

namespace sortie::cli {
namespace {

constexpr const char* description =
    "Segmented sort and its applications, sparse matrix products and suffix arrays; and the sort\n"
    "of an array of any size.\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a check did not hold.";

#ifdef SORTIE_WITH_BENCHMARKS

void register_papers() {
  papers::register_all();
}

std::vector<Command> add_benchmarks(CLI::App& program) {
  return add_bench_commands(program);
}

std::optional<int> hand_over(char**, const std::vector<std::string>&) {
  return {};
}

#else

void register_papers() {}

std::vector<Command> add_benchmarks(CLI::App& program) {
  program.add_subcommand("bench", "Benchmarks (by sortie-bench)");
  return {};
}

// Whether the subcommand has no algorithm of that name in this program.
bool is_unknown_algorithm(const std::string& subcommand, const std::string& algorithm) {
  try {
    if (subcommand == "spgemm") static_cast<void>(spgemm::parse_algorithm(algorithm));
    if (subcommand == "suffix-array") static_cast<void>(suffix_array::parse_algorithm(algorithm));
    if (subcommand == "sort") static_cast<void>(parse_sort_algorithm(algorithm));
    return false;
  } catch (const Error&) {
    return true;
  }
}

// Whether sortie-bench may know what this program does not: a benchmark, an algorithm, or the list
// of all algorithms.
bool may_need_benchmarks(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return false;
  if (arguments[0] == "bench" || arguments[0] == "info") return true;
  constexpr std::string_view option = "--algorithm";
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i - 1] == option && is_unknown_algorithm(arguments[0], arguments[i])) return true;
    if (arguments[i].starts_with(fmt::format("{}=", option)) &&
        is_unknown_algorithm(arguments[0], arguments[i].substr(option.size() + 1))) {
      return true;
    }
  }
  return false;
}

// Continues as the sortie-bench beside this program if that may be needed. Returns if there is none;
// then an exit code where this program cannot do without it.
std::optional<int> hand_over(char** values, const std::vector<std::string>& arguments) {
  if (!may_need_benchmarks(arguments)) return {};
  std::error_code no_such_link;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", no_such_link);
  if (!no_such_link) execv((self.parent_path() / "sortie-bench").c_str(), values);
  if (arguments[0] != "bench") return {};
  print_error(
      "sortie bench: found no sortie-bench beside the program, expected it to be built (cmake "
      "--build build)");
  return static_cast<int>(ExitCode::failed);
}

#endif

std::vector<Command> add_commands(CLI::App& program) {
  std::vector<Command> commands;
  commands.push_back(add_spgemm_command(program));
  commands.push_back(add_suffix_array_command(program));
  commands.push_back(add_query_command(program));
  commands.push_back(add_sort_command(program));
  for (Command& command : add_benchmarks(program)) commands.push_back(std::move(command));
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
    Job job(*command.options, arguments);
    {
      // The other commands have phases of their own.
      const bool is_one_phase = arguments[0] == "bench" || arguments[0] == "info";
      std::optional<PhaseTimer> timer;
      if (is_one_phase) timer.emplace(job.reading_context(), arguments[0]);
      command.run(job);
    }
    job.finish();
  });
}

int run_program(int count, char** values) {
  CLI::App program(description, "sortie");
  program.set_help_flag("-h,--help", "Show this help and exit");
  add_version_option(program);
  program.require_subcommand(1);
  const std::vector<Command> commands = add_commands(program);
  if (count <= 1) {
    fmt::print(stderr, "{}", program.help());
    return static_cast<int>(ExitCode::wrong_usage);
  }
  if (const auto code = hand_over(values, {values + 1, values + count})) return *code;
  try {
    program.parse(count, values);
  } catch (const CLI::Success& help_or_version) {
    return program.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    print_error(describe(error, program));
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

}  // namespace
}  // namespace sortie::cli

int main(int count, char** values) {
  sortie::cli::register_papers();
  sortie::baselines::register_all();
  return sortie::cli::run_program(count, values);
}
