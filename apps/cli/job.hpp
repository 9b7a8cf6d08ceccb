#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/apps/cli/common_options.hpp"
#include "sortie/core/context.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::cli {

/// Exit codes of the program.
enum class ExitCode { done = 0, failed = 1, wrong_usage = 2, check_failed = 3 };

/// One run of a subcommand: its context and report, and the only way to standard output and error.
class Job {
 public:
  /// \param command  the command line as given
  /// \throws Error as make_context() and resolve_backend(); (output) report that cannot be written
  Job(const CommonOptions& options, std::vector<std::string> command);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] RunReport& report() { return report_; }
  [[nodiscard]] const std::vector<std::string>& command() const { return command_; }

  /// Announces a file that will be written, "" for none, before hours of work are lost to it.
  /// \throws Error (output) it cannot be written; (usage) standard output is wanted twice
  void announce_output(const std::string& path) const;

  /// Runs `work` as often as --repeat says and returns the median of the seconds.
  double repeated(const std::function<void()>& work) const;

  /// A result, to standard output. \throws Error (output)
  void print(std::string_view text) const;
  /// A message: one line on standard error, unless --quiet.
  void say(std::string_view line) const;

  /// Where a summary goes: to standard output when it is the only result, else it is a message.
  void summarize(const std::string& output_path, std::string_view lines) const;

  /// Replaces what --json writes; by default the report.
  void set_json(std::function<std::string()> make_json) { make_json_ = std::move(make_json); }

  /// Phases when --verbose, the --json file, and the last line: version, command, seconds, memory.
  void finish();

 private:
  CommonOptions options_;
  std::vector<std::string> command_;
  RunReport report_;
  Context context_;
  std::function<std::string()> make_json_;
};

/// Runs a job and turns what it throws into one line on standard error and an exit code.
[[nodiscard]] ExitCode run_guarded(const std::function<void()>& work);

/// The line for an error: "sortie: WHAT", control characters and line ends replaced.
void print_error(std::string_view what);

}  // namespace sortie::cli
