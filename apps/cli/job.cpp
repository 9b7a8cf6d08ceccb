// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/job.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <utility>

#include "apps/bench/timing.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "core/whole_file.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return ExitCode::wrong_usage;
    case ErrorKind::check:
      return ExitCode::check_failed;
    case ErrorKind::input:
    case ErrorKind::output:
    case ErrorKind::out_of_memory:
    case ErrorKind::unavailable:
    case ErrorKind::device:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

std::string describe(const RunReport::Phase& phase) {
  std::string text = fmt::format("  {:<24} {:>9.4f} s", phase.name, phase.seconds);
  if (phase.bytes != 0 && phase.seconds > 0) {
    text += fmt::format("  {:>8.1f} MB/s", static_cast<double>(phase.bytes) / 1e6 / phase.seconds);
  }
  return text;
}

Context make_context(const CommonOptions& options) {
  Context context;
  if (options.backend == name(Backend::cuda)) context.backend = Backend::cuda;
  if (options.backend == name(Backend::host)) context.backend = Backend::host;
  context.device = options.device;
  context.threads = options.threads;
  if (!options.max_memory.empty()) context.memory_budget = parse_bytes(options.max_memory);
  context.backend = resolve_backend(context);
  context.progress = terminal_progress(options.quiet);
  return context;
}

/// Throws Error (output) if `path` cannot be written, before any long computation starts. Leaves no
/// file behind. Streams are not tested.
void require_writable(const std::string& path) {
  if (!path.empty() && !is_stream(path)) WholeFile probe(path);
}

}  // namespace

Job::Job(const CommonOptions& options, std::vector<std::string> command)
    : options_(options), command_(std::move(command)), context_(make_context(options)) {
  context_.report = &report_;
  make_json_ = [this] { return report_.to_json(command_, context_); };
  require_writable(options.json);
  if (context_.backend == Backend::cuda) reset_peak_device_memory(context_.device);
}

HostContext Job::host_context() const {
  HostContext context = context_;
  context.memory_budget = 0;
  context.report = nullptr;
  return context;
}

void Job::announce_output(const std::string& path) const {
  if (path == "-" && options_.json == "-") {
    throw Error(ErrorKind::usage, "found two results for standard output, expected at most one");
  }
  require_writable(path);
}

double Job::repeated(const std::function<void()>& work) const {
  std::vector<double> seconds;
  for (int round = 0; round < options_.repeat; ++round) {
    seconds.push_back(bench::timed_seconds(work));
  }
  return bench::median(std::move(seconds));
}

void Job::print(std::string_view text) const {
  WholeFile out("-");
  out.write(text);
  out.commit();
}

void Job::say(std::string_view line) const {
  if (options_.quiet) return;
  if (context_.progress) context_.progress("", 1, 1);  // erases the progress line
  fmt::print(stderr, "{}\n", line);
}

void Job::summarize(const std::string& output_path, std::string_view lines) const {
  if (output_path.empty() && options_.json != "-") {
    print(fmt::format("{}\n", lines));
  } else {
    say(lines);
  }
}

void Job::finish() {
  if (options_.verbose) {
    for (const RunReport::Phase& phase : report_.phases()) say(describe(phase));
  }
  if (!options_.json.empty()) {
    WholeFile file(options_.json);
    file.write(std::string_view(make_json_()));
    file.commit();
  }
  std::string line =
      fmt::format("{}: {}; {:.3f} s wall, {:.3f} s CPU, {} peak memory", program_version(),
                  fmt::join(command_, " "), report_.seconds_since_start(), process_cpu_seconds(),
                  format_bytes(peak_host_memory()));
  if (context_.backend == Backend::cuda) {
    line += fmt::format(", {} peak GPU memory", format_bytes(peak_device_memory(context_.device)));
  }
  say(line);
}

void print_error(std::string_view what) {
  std::string line = "sortie: ";
  for (const char byte : what) line += static_cast<unsigned char>(byte) < 0x20 ? ' ' : byte;
  fmt::print(stderr, "{}\n", line);
}

ExitCode run_guarded(const std::function<void()>& work) {
  try {
    work();
    return ExitCode::done;
  } catch (const Error& error) {
    print_error(error.what());
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    print_error(fmt::format("out of memory: {} in use at most so far, {} free",
                            format_bytes(peak_host_memory()),
                            format_bytes(host_memory_available())));
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return ExitCode::failed;
}

}  // namespace sortie::cli
