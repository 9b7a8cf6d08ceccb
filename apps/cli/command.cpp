// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <new>

#include "apps/bench/timing.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "core/device_lifetime.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/version.hpp"

namespace sortie::cli {
namespace {

Context make_context(const CommonOptions& options) {
  Context context;
  if (options.backend == name(Backend::cuda)) context.backend = Backend::cuda;
  if (options.backend == name(Backend::host)) context.backend = Backend::host;
  context.device = options.device;
  context.threads = options.threads;
  if (!options.max_memory.empty()) context.memory_budget = parse_bytes(options.max_memory);
  context.progress = terminal_progress(options.quiet);
  if (const cluster::Ranks* const ranks = job_ranks()) {
    if (context.threads == 0) context.threads = threads_of_rank(*ranks);
    // Each rank of a machine has the next GPU, unless its launcher shows it only one.
    if (context.backend == Backend::cuda && cuda_device_count() > 0)
      context.device = (context.device + ranks->rank_on_machine()) % cuda_device_count();
  }
  return context;
}

/// Of several ranks, one prints messages and writes the report.
CommonOptions options_of_process(CommonOptions options) {
  if (is_reporting_rank()) return options;
  options.quiet = true;
  options.verbose = false;
  options.json.clear();
  return options;
}

/// Throws Error (output) if `path` cannot be written, before any long computation starts. Leaves no
/// file behind. Streams are not tested.
void require_writable(const std::string& path) {
  if (!path.empty() && !is_stream(path)) WholeFile probe(path);
}

void write_whole(const std::string& path, std::string_view text) {
  WholeFile file(path);
  file.write(text);
  file.commit();
}

/// Whether an error has ended this rank without the others.
bool failed_alone = false;

std::string describe(const RunReport::Phase& phase, std::size_t depth) {
  std::string text = fmt::format("{:{}}{:<{}} {:>9.4f} s", "", 2 * depth + 2, phase.name,
                                 24 - std::min<std::size_t>(2 * depth, 20), phase.seconds);
  if (phase.bytes != 0 && phase.seconds > 0) {
    text += fmt::format("  {:>8.1f} MB/s", static_cast<double>(phase.bytes) / 1e6 / phase.seconds);
  }
  return text;
}

}  // namespace

void add_common_options(CLI::App& parser, CommonOptions& options) {
  add_version_option(parser);
  const std::string usual_group = parser.option_defaults()->get_group();
  parser.option_defaults()->group("Options of every subcommand");
  parser
      .add_option("--backend", options.backend,
                  "Backend: auto (the faster one for the whole job), cuda or host")
      ->check(CLI::IsMember({"auto", "cuda", "host"}))
      ->capture_default_str();
  parser.add_option("--device", options.device, "Number of the CUDA device")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  parser.add_option("-t,--threads", options.threads, "Host threads (default: all cores)")
      ->check(CLI::Range(1, 4096));
  parser.add_option("--max-memory", options.max_memory, "Maximum workspace, e.g. 4G");
  parser.add_option("--seed", options.seed, "Seed of all random numbers")->capture_default_str();
  parser.add_option("--repeat", options.repeat, "Repeat the work N times, report the median")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  parser.add_option("--json", options.json, "Write a report to this file (-: standard output)");
  parser.add_flag("-q,--quiet", options.quiet, "No messages except errors");
  parser.add_flag("-v,--verbose", options.verbose, "Show the seconds of every phase")
      ->excludes("--quiet");
  parser.option_defaults()->group(usual_group);
}

void add_gpus_option(CLI::App& parser, int& gpus) {
  parser
      .add_option("--gpus", gpus,
                  "Number of devices: GPUs, or logical devices if there are fewer GPUs (default: "
                  "one GPU)")
      ->check(CLI::Range(1, most_logical_devices));
}

void choose_devices(Job& job, const CommonOptions& options) {
  if (options.backend == name(Backend::host))
    throw Error(ErrorKind::usage, "found --gpus with --backend host, expected cuda or auto");
  job.choose_backend(Backend::cuda, "--gpus asks for devices");
}

std::vector<int> devices_of_job(Job& job, const CommonOptions& options, int gpus) {
  choose_devices(job, options);
  return spread_over_gpus(job.context(), gpus);
}

void add_version_option(CLI::App& parser) {
  parser.set_version_flag("-V,--version", program_version(), "Show the version and exit");
}

std::string program_version() {
  return fmt::format("sortie {} ({})", version(), commit());
}

bool is_stream(const std::string& path) {
  return path == "-" || (!WholeFile::takes_rewrites(path) && !std::filesystem::is_directory(path));
}

Job::Job(const CommonOptions& options, std::vector<std::string> command)
    : options_(options_of_process(options)),
      command_(std::move(command)),
      prints_(is_reporting_rank()),
      is_automatic_(options.backend == name(Backend::automatic)),
      context_(make_context(options_)) {
  make_json_ = [this] { return report_.to_json(command_, context()); };
  require_writable(options_.json);
  context_.report = &report_;
  if (!may_have_cuda_device()) {
    // Refuses CUDA at once, and takes no time.
    context_.backend = resolve_backend(context_);
    is_settled_ = true;
  } else if (context_.backend == Backend::cuda) {
    start_device();
  } else if (context_.backend == Backend::host) {
    is_settled_ = true;
  }
  report_.add_phase("start", report_.seconds_since_start());
}

Job::Job(const Job& first, const Context& context)
    : options_(first.options_),
      command_(first.command_),
      prints_(false),
      is_automatic_(false),
      context_(context),
      is_settled_(true) {
  options_.quiet = true;
  options_.verbose = false;
  options_.json.clear();
  context_.report = &report_;
}

void Job::start_device() const {
  Context context = context_;
  context.report = nullptr;
  // The host is used if the choice is left and the driver finds no device.
  if (is_automatic_) context.backend = Backend::automatic;
  starting_.emplace([context] {
    if (resolve_backend(context) == Backend::cuda)
      sortie::start_device(context.device, threads_of(context));
  });
}

void Job::settle_backend() const {
  const PhaseTimer timer(context_, "start device");
  if (!starting_) start_device();
  try {
    starting_->wait();
    // The device is there, or the command line does not ask for it.
    if (is_automatic_) context_.backend = Backend::automatic;
    context_.backend = resolve_backend(context_);
  } catch (const Error& error) {
    // A device that another process keeps for itself, or whose memory is full.
    const bool fails =
        error.kind() == ErrorKind::device || error.kind() == ErrorKind::out_of_memory;
    if (!is_automatic_ || !fails) throw;
    const std::string reason = fmt::format("the device does not start: {}", error.what());
    say(fmt::format("backend host: {}", reason));
    report_.set("backend_choice", reason);
    context_.backend = Backend::host;
  }
  if (context_.backend == Backend::cuda) reset_peak_device_memory(context_.device);
}

const Context& Job::context() const {
  if (!is_settled_) settle_backend();
  is_settled_ = true;
  return context_;
}

const Context& Job::starting_context() const {
  // If the choice is open, a device that does not start changes it.
  return is_automatic_ ? context() : context_;
}

HostContext Job::reading_context() const {
  HostContext context = context_;
  context.memory_budget = 0;
  return context;
}

void Job::choose_backend(const BackendSeconds& seconds) {
  const std::string reason = fmt::format(
      "beside reading and writing, {} takes about {:.2f} s, {} {:.2f} s", name(seconds.best()),
      seconds.of(seconds.best()), name(seconds.other()), seconds.of(seconds.other()));
  choose_backend(seconds.best(), reason);
}

void Job::choose_backend(Backend backend, const std::string& reason) {
  if (!may_choose_backend()) return;
  context_.backend = backend;
  report_.set("backend_choice", reason);
  if (options_.verbose) say(fmt::format("backend {}: {}", name(context_.backend), reason));
  if (context_.backend == Backend::cuda) {
    start_device();
  } else {
    is_settled_ = true;
  }
}

void Job::release_device(std::function<void()> arrived) {
  // The report describes the device at the end.
  if (context_.backend != Backend::cuda || wants_report()) return;
  static_cast<void>(report_.phases());  // the times of some are on the device
  peak_device_memory_ = peak_device_memory(context_.device);
  releasing_.emplace([device = context_.device, arrived = std::move(arrived)] {
    try {
      arrived();
    } catch (const Error&) {
      return;  // of the copy: the command meets it, too
    }
    end_device(device);
  });
}

HostContext Job::host_context() const {
  HostContext context = context_;
  context.memory_budget = 0;
  context.report = nullptr;
  return context;
}

void Job::announce_output(const std::string& path) const {
  if (path == "-" && options_.json == "-")
    throw Error(ErrorKind::usage, "found two results for standard output, expected at most one");
  require_writable(path);
}

double Job::repeated(std::string_view phase, const std::function<void()>& work) const {
  const PhaseTimer timer(context_, phase);
  std::vector<double> seconds(options_.repeat);
  for (double& taken : seconds) taken = bench::timed_seconds(work);
  return bench::median(std::move(seconds));
}

void Job::print(std::string_view text) const {
  write_whole("-", text);
}

void Job::say(std::string_view line) const {
  if (options_.quiet) return;
  if (context_.progress) context_.progress("", 1, 1);  // erases the progress line
  fmt::print(stderr, "{}\n", line);
}

void Job::summarize(const std::string& output_path, std::string_view lines) {
  if (!prints_) {
    // Rank 0 prints it.
  } else if (!output_path.empty() || options_.json == "-") {
    say(lines);
  } else {
    print(fmt::format("{}\n", lines));
  }
  freeing_.emplace(context_, "free");
}

void Job::say_phases(const std::string& within, std::size_t depth) const {
  for (const RunReport::Phase& phase : report_.phases()) {
    if (phase.within != within) continue;
    say(describe(phase, depth));
    say_phases(phase.path(), depth + 1);
  }
}

void Job::finish() {
  if (releasing_) releasing_->wait();
  releasing_.reset();
  freeing_.reset();
  if (options_.verbose) say_phases({}, 0);
  if (!options_.json.empty()) write_whole(options_.json, make_json_());
  std::string line =
      fmt::format("{}: {}; {:.3f} s wall, {:.3f} s CPU, {} peak memory", program_version(),
                  fmt::join(command_, " "), report_.seconds_since_start(), process_cpu_seconds(),
                  format_bytes(peak_host_memory()));
  if (context_.backend == Backend::cuda) {
    const std::uint64_t peak =
        peak_device_memory_ ? *peak_device_memory_ : peak_device_memory(context_.device);
    line += fmt::format(", {} peak GPU memory", format_bytes(peak));
  }
  const RunReport::Phase* longest = nullptr;
  for (const RunReport::Phase& phase : report_.phases()) {
    if (!phase.within.empty()) continue;
    if (longest == nullptr || phase.seconds > longest->seconds) longest = &phase;
  }
  say(fmt::format("{}; longest phase: {}, {:.3f} s", line, longest->name, longest->seconds));
}

void print_error(std::string_view what) {
  std::string line = "sortie: ";
  for (const char byte : what) line += static_cast<unsigned char>(byte) < 0x20 ? ' ' : byte;
  fmt::print(stderr, "{}\n", line);
}

bool has_failed_alone() {
  return failed_alone;
}

ExitCode run_guarded(const std::function<void()>& work) {
  const cluster::Ranks* const ranks = job_ranks();
  const bool several = ranks != nullptr && ranks->size() > 1;
  try {
    work();
    return ExitCode::done;
  } catch (const Error& error) {
    const bool agreed = ranks != nullptr && ranks->has_agreed_error();
    failed_alone = several && !agreed;
    if (!agreed || is_reporting_rank()) print_error(error.what());
    if (error.kind() == ErrorKind::usage) return ExitCode::wrong_usage;
    if (error.kind() == ErrorKind::check) return ExitCode::check_failed;
  } catch (const std::bad_alloc&) {
    failed_alone = several;
    print_error(fmt::format("out of memory: {} in use at most so far, {} free",
                            format_bytes(peak_host_memory()),
                            format_bytes(host_memory_available())));
  } catch (const std::exception& error) {
    failed_alone = several;
    print_error(error.what());
  }
  return ExitCode::failed;
}

}  // namespace sortie::cli
