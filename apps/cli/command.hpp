// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/cli/backend_choice.hpp"
#include "core/background_task.hpp"
#include "core/phase_timer.hpp"
#include "sortie/context.hpp"
#include "sortie/run_report.hpp"

namespace CLI {
class App;
}

/// The subcommands of the program, and what they have in common.
namespace sortie::cli {

/// Exit codes of the program.
enum class ExitCode { done = 0, failed = 1, wrong_usage = 2, check_failed = 3 };

/// Options with the same spelling and meaning in every subcommand.
struct CommonOptions {
  std::string backend = "auto";
  int device = 0;
  int threads = 0;
  std::string max_memory;
  std::uint64_t seed = 1;
  int repeat = 1;
  std::string json;
  bool quiet = false;
  bool verbose = false;
};

/// Adds the common options to a subcommand, including -V.
void add_common_options(CLI::App& parser, CommonOptions& options);

/// Adds --gpus of commands that work on one device without it.
void add_gpus_option(CLI::App& parser, int& gpus);

class Job;
/// Chooses CUDA for --gpus if the command line leaves the choice. \throws Error (usage) --backend host
void choose_devices(Job& job, const CommonOptions& options);
/// choose_devices(), then the CUDA devices of --gpus logical devices. \throws Error (unavailable) no GPU
[[nodiscard]] std::vector<int> devices_of_job(Job& job, const CommonOptions& options, int gpus);

/// Adds -V, the same to the program and every subcommand; these have -h from the program.
void add_version_option(CLI::App& parser);

/// Name, version and commit, e.g. "sortie 0.2.0 (1a2b3c4)".
[[nodiscard]] std::string program_version();

/// True for standard output ("-"), pipes and devices: output to them cannot be undone, and no
/// second file can be written next to them.
[[nodiscard]] bool is_stream(const std::string& path);

/// One run of a subcommand: its context, its report, and its access to standard output and error.
///
/// A device takes a quarter of a second to start. It starts beside the reading of the input: on a
/// thread, from the constructor if the command line names CUDA, or from choose_backend(). context()
/// waits for it; what the command does before that takes reading_context(). A command that runs on
/// the host does not start it.
class Job {
 public:
  /// \param command  the command line
  /// \throws Error (usage) an invalid memory size; as resolve_backend(); (output) the report cannot
  ///         be written
  Job(const CommonOptions& options, std::vector<std::string> command);
  /// The job of another rank of this process, in whose context it works: it prints nothing, and its
  /// report is its own.
  Job(const Job& first, const Context& context);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// The context of the command's work, whose backend is chosen and started: by default CUDA if
  /// there is a device. \throws Error (unavailable, device) the backend cannot run
  [[nodiscard]] const Context& context() const;
  /// The same, but the device that the command line names may still be starting: for work that reads
  /// its input itself, and calls context() before it uses the device.
  [[nodiscard]] const Context& starting_context() const;
  /// The settings of what comes before the work: threads, progress and report.
  [[nodiscard]] HostContext reading_context() const;
  /// Bytes of --max-memory; 0 without it.
  [[nodiscard]] std::uint64_t memory_budget() const { return context_.memory_budget; }

  /// Chooses the backend by the seconds that the work takes on each, if the command line leaves the
  /// choice. Only the first call counts. \pre context() has not been called
  void choose_backend(const BackendSeconds& seconds);
  /// Chooses the backend for another reason, if the command line leaves the choice.
  void choose_backend(Backend backend, const std::string& reason);
  /// Whether choose_backend() would have an effect: otherwise the seconds need not be estimated.
  [[nodiscard]] bool may_choose_backend() const { return context_.backend == Backend::automatic; }

  /// Frees the device on a thread, beside the rest of the command, which must not use it: the end
  /// of a process that has used a device takes as long otherwise.
  /// \param arrived  returns when no copy from the device is in progress any more
  void release_device(std::function<void()> arrived);

  /// The settings of readers, writers and checks, which a command times itself. --max-memory is of
  /// the work space of the command's algorithm, and does not limit them.
  [[nodiscard]] HostContext host_context() const;
  [[nodiscard]] RunReport& report() { return report_; }
  [[nodiscard]] const std::vector<std::string>& command() const { return command_; }

  /// Declares an output file ("" for none) and checks it before any long computation starts.
  /// \throws Error (output) it cannot be written; (usage) standard output is used twice
  void announce_output(const std::string& path) const;

  /// Runs `work` --repeat times, in a phase, and returns the median of the seconds.
  double repeated(std::string_view phase, const std::function<void()>& work) const;

  /// Prints a result on standard output. \throws Error (output)
  void print(std::string_view text) const;
  /// Prints a message: one line on standard error, unless --quiet.
  void say(std::string_view line) const;
  /// Prints a summary: on standard output if it is the only result, else as messages. The last
  /// thing that a command does: what follows, until finish(), is the phase "free".
  void summarize(const std::string& output_path, std::string_view lines);

  /// Replaces the output of --json, by default the report.
  void set_json(std::function<std::string()> make_json) { make_json_ = std::move(make_json); }

  /// Whether the report is wanted: figures that take long to compute are left out if it is not.
  [[nodiscard]] bool wants_report() const { return !options_.json.empty(); }

  /// Prints the phases if --verbose, writes the --json file, and prints the last line: version,
  /// command, seconds, memory, and the longest phase.
  void finish();

 private:
  /// Starts the device on a thread.
  void start_device() const;
  /// Waits for the device, or uses the host if none works and the command line leaves the choice.
  void settle_backend() const;
  /// Prints the phases that are parts of the phase with the path `within`, and their parts, indented.
  void say_phases(const std::string& within, std::size_t depth) const;

  CommonOptions options_;
  std::vector<std::string> command_;
  bool prints_;  ///< false: of a rank other than the first
  mutable RunReport report_{program_start()};
  bool is_automatic_;  ///< the command line leaves the choice of the backend
  // Complete with the first call of context(), which sets the backend if that is open.
  mutable Context context_;
  mutable bool is_settled_ = false;
  mutable std::optional<BackgroundTask> starting_;
  std::optional<std::uint64_t> peak_device_memory_;  ///< once the device is released
  std::optional<BackgroundTask> releasing_;
  std::function<std::string()> make_json_;
  std::optional<PhaseTimer> freeing_;  ///< after the summary
};

/// Runs a job and converts exceptions into one line on standard error and an exit code. Of several
/// ranks that have agreed on an error, rank 0 prints it.
[[nodiscard]] ExitCode run_guarded(const std::function<void()>& work);

/// Whether run_guarded() has met an error that the other ranks of the job do not know of.
[[nodiscard]] bool has_failed_alone();

/// Prints "sortie: WHAT" on standard error, with control characters and line ends replaced.
void print_error(std::string_view what);

/// A subcommand: its parser, and the function to run if it is selected.
struct Command {
  CLI::App* parser = nullptr;
  std::shared_ptr<const CommonOptions> options;
  std::function<void(Job&)> run;
  bool runs_on_ranks = false;  ///< it divides its work among the ranks of a job
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
[[nodiscard]] Command add_cluster_command(CLI::App& program);
[[nodiscard]] Command add_dedup_command(CLI::App& program);
[[nodiscard]] Command add_genome_index_command(CLI::App& program);
[[nodiscard]] Command add_matches_command(CLI::App& program);
[[nodiscard]] Command add_inverted_index_command(CLI::App& program);
[[nodiscard]] Command add_kmers_command(CLI::App& program);
[[nodiscard]] Command add_search_command(CLI::App& program);
[[nodiscard]] Command add_info_command(CLI::App& program);

/// Subcommands of `bench`.
[[nodiscard]] Command add_bench_ranks_command(CLI::App& bench_parser);
[[nodiscard]] Command add_bench_device_sort_command(CLI::App& bench_parser);
[[nodiscard]] Command add_bench_links_command(CLI::App& bench_parser);
[[nodiscard]] Command add_bench_query_command(CLI::App& bench_parser);
[[nodiscard]] Command add_bench_segsort_command(CLI::App& bench_parser);
[[nodiscard]] Command add_bench_sort_command(CLI::App& bench_parser);
[[nodiscard]] Command add_bench_tune_command(CLI::App& bench_parser);
/// `bench`, with these, `bench spgemm` and `bench suffix-array`.
[[nodiscard]] std::vector<Command> add_bench_commands(CLI::App& program);

}  // namespace sortie::cli
