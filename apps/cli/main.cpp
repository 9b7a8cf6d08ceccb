// SPDX-License-Identifier: Apache-2.0
//
// The main program of `sortie`, and of `sortie-bench`, which also has the benchmarks and the
// algorithms of papers/, and of `sortie-openmpi` and `sortie-mpich`, which are ranks of an MPI job.
// `sortie` hands over to these what only they have, so that users call one program, and can build the
// small one alone.
#include "apps/cli/program.hpp"
#include "baselines/baselines.hpp"
#ifdef SORTIE_WITH_BENCHMARKS
#include "papers/papers.hpp"
#elif defined(SORTIE_WITH_MPI)
#include "apps/cli/ranks/rank_program.hpp"
#include "sortie/cluster_mpi.hpp"
#else
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/cli/ranks/rank_program.hpp"
#include "apps/suffix_array/construction.hpp"
#include "sortie/error.hpp"
#include "sortie/sort.hpp"
#include "sortie/spgemm.hpp"
#endif

#if !defined(SORTIE_WITH_BENCHMARKS) && !defined(SORTIE_WITH_MPI)
namespace sortie::cli {
namespace {

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

}  // namespace
}  // namespace sortie::cli
#endif

int main(int count, char** values) {
#ifdef SORTIE_WITH_BENCHMARKS
  sortie::papers::register_all();
#endif
  sortie::baselines::register_all();
#ifdef SORTIE_WITH_BENCHMARKS
  return sortie::cli::run_program(count, values, {sortie::cli::add_bench_commands, nullptr});
#elif defined(SORTIE_WITH_MPI)
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &values, MPI_THREAD_FUNNELED, &provided);
  int code = 0;
  {
    const auto ranks = sortie::cluster::make_mpi_ranks(MPI_COMM_WORLD);
    sortie::cli::set_job_ranks(ranks.get());
    code = sortie::cli::run_program(count, values, {sortie::cli::add_bench_of_ranks, nullptr});
    // The other ranks do not know of the error, and wait for this rank in their next collective call.
    if (code != 0 && sortie::cli::has_failed_alone()) MPI_Abort(MPI_COMM_WORLD, code);
    sortie::cli::set_job_ranks(nullptr);
  }
  MPI_Finalize();
  return code;
#else
  return sortie::cli::run_program(count, values,
                                  {sortie::cli::add_bench_of_ranks, sortie::cli::hand_over});
#endif
}
