// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "sortie/context.hpp"
#include "sortie/run_report.hpp"

namespace sortie {

/// CPU seconds (user and system) used so far by all threads of this process.
[[nodiscard]] inline double process_cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// When the program had been loaded, before main(): the start of the runs that it reports.
[[nodiscard]] std::chrono::steady_clock::time_point program_start();

/// Times a scope and adds it to the context's report, if there is one. Phases that begin before its
/// end are parts of it. Asynchronous work on a CUDA stream counts only if the scope waits for it.
class PhaseTimer {
 public:
  PhaseTimer(const HostContext& context, std::string_view name, std::uint64_t bytes = 0)
      : report_(context.report), bytes_(bytes) {
    if (report_ != nullptr) phase_ = report_->open_phase(name);
  }
  ~PhaseTimer() { stop(); }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

  void set_bytes(std::uint64_t bytes) { bytes_ = bytes; }
  /// Ends the phase; later calls add nothing. Returns the seconds since the start.
  double stop();

 private:
  RunReport* report_;
  std::size_t phase_ = 0;  ///< of the report
  std::uint64_t bytes_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool stopped_ = false;
};

/// Calls the context's callback, if there is one.
inline void report_progress(const HostContext& context, std::string_view phase, std::uint64_t done,
                            std::uint64_t total) {
  if (context.progress) context.progress(phase, done, total);
}

/// A callback that updates one line on standard error at most ten times a second and erases it when
/// a phase ends. Empty if standard error is not a terminal or `quiet` is set.
[[nodiscard]] ProgressCallback terminal_progress(bool quiet);

}  // namespace sortie
