// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/common_options.hpp"
#include "sortie/context.hpp"
#include "sortie/run_report.hpp"

namespace sortie::cli {

/// Exit codes of the program.
enum class ExitCode { done = 0, failed = 1, wrong_usage = 2, check_failed = 3 };

/// One run of a subcommand: its context, its report, and its access to standard output and error.
class Job {
 public:
  /// \param command  the command line
  /// \throws Error (usage) an invalid memory size; as resolve_backend(); (output) the report cannot
  ///         be written
  Job(const CommonOptions& options, std::vector<std::string> command);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] const Context& context() const { return context_; }
  /// The settings of readers, writers and checks, which a command times itself. --max-memory is of
  /// the work space of the command's algorithm, and does not limit them.
  [[nodiscard]] HostContext host_context() const;
  [[nodiscard]] RunReport& report() { return report_; }
  [[nodiscard]] const std::vector<std::string>& command() const { return command_; }

  /// Declares an output file ("" for none) and checks it before any long computation starts.
  /// \throws Error (output) it cannot be written; (usage) standard output is used twice
  void announce_output(const std::string& path) const;

  /// Runs `work` --repeat times and returns the median of the seconds.
  double repeated(const std::function<void()>& work) const;

  /// Prints a result on standard output. \throws Error (output)
  void print(std::string_view text) const;
  /// Prints a message: one line on standard error, unless --quiet.
  void say(std::string_view line) const;

  /// Prints a summary: on standard output if it is the only result, else as messages.
  void summarize(const std::string& output_path, std::string_view lines) const;

  /// Replaces the output of --json, by default the report.
  void set_json(std::function<std::string()> make_json) { make_json_ = std::move(make_json); }

  /// Prints the phases if --verbose, writes the --json file, and prints the last line: version,
  /// command, seconds, memory.
  void finish();

 private:
  CommonOptions options_;
  std::vector<std::string> command_;
  RunReport report_;
  Context context_;
  std::function<std::string()> make_json_;
};

/// Runs a job and converts exceptions into one line on standard error and an exit code.
[[nodiscard]] ExitCode run_guarded(const std::function<void()>& work);

/// Prints "sortie: WHAT" on standard error, with control characters and line ends replaced.
void print_error(std::string_view what);

}  // namespace sortie::cli
