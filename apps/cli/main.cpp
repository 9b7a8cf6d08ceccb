// SPDX-License-Identifier: Apache-2.0
//
// The main program of `sortie`, and of `sortie-bench`, which also has the benchmarks and the
// algorithms of papers/, and of `sortie-openmpi` and `sortie-mpich`, which are ranks of an MPI job.
// `sortie` hands over to these what only they have, so that users call one program, and can build the
// small one alone.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/cli/command.hpp"
#include "apps/cli/completion_command.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "baselines/baselines.hpp"
#include "core/files/temporary_name.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#ifdef SORTIE_WITH_BENCHMARKS
#include "papers/papers.hpp"
#elif defined(SORTIE_WITH_MPI)
#include "sortie/cluster_mpi.hpp"
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

// sortie-bench has all other benchmarks. This one also measures the ranks of an MPI job.
std::vector<Command> add_benchmarks(CLI::App& program) {
  CLI::App* const parser = program.add_subcommand("bench", "Benchmarks (by sortie-bench)");
  parser->require_subcommand(1);
  return {add_bench_ranks_command(*parser)};
}

#endif

#ifdef SORTIE_WITH_MPI

std::optional<int> hand_over(char**, const std::vector<std::string>&) {
  return {};
}

#elif !defined(SORTIE_WITH_BENCHMARKS)

// Whether the subcommand has no algorithm of that name in this program.
bool is_unknown_algorithm(const std::string& subcommand, const std::string& algorithm) {
  try {
    if (subcommand == "spgemm") static_cast<void>(spgemm::parse_algorithm(algorithm));
    if (subcommand == "suffix-array") static_cast<void>(suffix_array::parse_algorithm(algorithm));
    if (subcommand == "sort" || subcommand == "inverted-index")
      static_cast<void>(parse_sort_algorithm(algorithm));
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
  const std::string_view option = arguments[0] == "inverted-index" ? "--gpu-sort" : "--algorithm";
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i - 1] == option && is_unknown_algorithm(arguments[0], arguments[i])) return true;
    if (arguments[i].starts_with(fmt::format("{}=", option)) &&
        is_unknown_algorithm(arguments[0], arguments[i].substr(option.size() + 1))) {
      return true;
    }
  }
  return false;
}

std::filesystem::path folder_of_program() {
  std::error_code no_such_link;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", no_such_link);
  return no_such_link ? std::filesystem::path() : self.parent_path();
}

// Continues as the program beside this one that is built for the MPI library whose launcher has
// started this process. Returns if there is no such launcher; then an exit code if there are several
// ranks and no program: each of them would run alone, and write the same files.
std::optional<int> hand_over_to_ranks(char** values, const std::vector<std::string>& arguments) {
  const auto launch = mpi_launch();
  if (!launch || arguments.empty()) return {};
  const auto folder = folder_of_program();
  const std::string own_name = fmt::format("sortie-{}", launch->library);
  for (const std::string& name : {own_name, std::string("sortie-mpi")})
    if (!folder.empty()) execv((folder / name).c_str(), values);
  if (launch->ranks <= 1) return {};
  print_error(
      fmt::format("found {} ranks of {}, expected {} beside the program (built where CMake "
                  "finds this MPI library)",
                  launch->ranks, launch->title, own_name));
  return static_cast<int>(ExitCode::failed);
}

// Continues as the sortie-bench beside this program if that may be needed. Returns if there is none;
// then an exit code where this program cannot do without it.
std::optional<int> hand_over(char** values, const std::vector<std::string>& arguments) {
  if (const auto code = hand_over_to_ranks(values, arguments)) return code;
  if (!may_need_benchmarks(arguments)) return {};
  const auto folder = folder_of_program();
  if (!folder.empty()) execv((folder / "sortie-bench").c_str(), values);
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
  commands.push_back(add_cluster_command(program));
  commands.push_back(add_dedup_command(program));
  commands.push_back(add_matches_command(program));
  commands.push_back(add_genome_index_command(program));
  commands.push_back(add_inverted_index_command(program));
  commands.push_back(add_kmers_command(program));
  commands.push_back(add_search_command(program));
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

int run_program(int count, char** values) {
  CLI::App program(description, "sortie");
  program.set_help_flag("-h,--help", "Show this help and exit");
  add_version_option(program);
  program.require_subcommand(1);
  const std::vector<Command> commands = add_commands(program);
  if (count <= 1) {
    if (is_reporting_rank()) fmt::print(stderr, "{}", program.help());
    return static_cast<int>(ExitCode::wrong_usage);
  }
  if (const auto code = hand_over(values, {values + 1, values + count})) return *code;
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

}  // namespace
}  // namespace sortie::cli

int main(int count, char** values) {
  sortie::cli::register_papers();
  sortie::baselines::register_all();
#ifdef SORTIE_WITH_MPI
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &values, MPI_THREAD_FUNNELED, &provided);
  int code = 0;
  {
    const auto ranks = sortie::cluster::make_mpi_ranks(MPI_COMM_WORLD);
    sortie::cli::set_job_ranks(ranks.get());
    code = sortie::cli::run_program(count, values);
    // The other ranks do not know of the error, and wait for this rank in their next collective call.
    if (code != 0 && sortie::cli::has_failed_alone()) MPI_Abort(MPI_COMM_WORLD, code);
    sortie::cli::set_job_ranks(nullptr);
  }
  MPI_Finalize();
  return code;
#else
  return sortie::cli::run_program(count, values);
#endif
}
