#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sortie/apps/cli/common_options.hpp"
#include "sortie/apps/cli/job.hpp"

namespace CLI {
class App;
}

namespace sortie::cli {

/// A subcommand: its parser, and what to do when it was chosen.
struct Command {
  CLI::App* parser = nullptr;
  std::shared_ptr<const CommonOptions> options;
  std::function<void(Job&)> run;
};

[[nodiscard]] Command add_spgemm_command(CLI::App& program);
[[nodiscard]] Command add_suffix_array_command(CLI::App& program);
[[nodiscard]] Command add_info_command(CLI::App& program);
/// `bench segsort`, `bench spgemm` and `bench suffix-array`.
[[nodiscard]] std::vector<Command> add_bench_commands(CLI::App& program);

}  // namespace sortie::cli
