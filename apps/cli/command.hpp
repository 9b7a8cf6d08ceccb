// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "apps/cli/common_options.hpp"
#include "apps/cli/job.hpp"

namespace CLI {
class App;
}

namespace sortie::cli {

/// A subcommand: its parser, and the function to run if it is selected.
struct Command {
  CLI::App* parser = nullptr;
  std::shared_ptr<const CommonOptions> options;
  std::function<void(Job&)> run;
};

/// Creates a subcommand. \tparam Options  has a member `common` of type CommonOptions
template <class Options>
[[nodiscard]] Command make_command(CLI::App* parser, std::shared_ptr<Options> options,
                                   void (*run)(Job&, const Options&)) {
  return {parser, {options, &options->common}, [options, run](Job& job) { run(job, *options); }};
}

[[nodiscard]] Command add_spgemm_command(CLI::App& program);
[[nodiscard]] Command add_suffix_array_command(CLI::App& program);
[[nodiscard]] Command add_query_command(CLI::App& program);
[[nodiscard]] Command add_sort_command(CLI::App& program);
[[nodiscard]] Command add_info_command(CLI::App& program);
/// `bench query`. \param bench_parser  the parser of `bench`
[[nodiscard]] Command add_bench_query_command(CLI::App& bench_parser);
/// `bench segsort`. \param bench_parser  the parser of `bench`
[[nodiscard]] Command add_bench_segsort_command(CLI::App& bench_parser);
/// `bench sort`. \param bench_parser  the parser of `bench`
[[nodiscard]] Command add_bench_sort_command(CLI::App& bench_parser);
/// `bench tune`. \param bench_parser  the parser of `bench`
[[nodiscard]] Command add_bench_tune_command(CLI::App& bench_parser);
/// `bench segsort`, `bench sort`, `bench tune`, `bench spgemm`, `bench suffix-array` and `bench
/// query`.
[[nodiscard]] std::vector<Command> add_bench_commands(CLI::App& program);

}  // namespace sortie::cli
