// SPDX-License-Identifier: Apache-2.0
#include "core/phase_timer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

namespace sortie {

namespace {

const std::chrono::steady_clock::time_point loaded = std::chrono::steady_clock::now();

/// The line on the terminal, erased when the last copy of the callback is destroyed.
class ProgressLine {
 public:
  ProgressLine() = default;
  ~ProgressLine() { wipe(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(std::string_view phase, std::uint64_t done, std::uint64_t total) {
    if (total != 0 && done >= total) return wipe();
    const auto now = std::chrono::steady_clock::now();
    if (now - last_drawn_ < std::chrono::milliseconds(100)) return;
    last_drawn_ = now;
    const std::string amount =
        total == 0
            ? fmt::format("{}", done)
            : fmt::format("{:.0f} %", 100 * static_cast<double>(done) / static_cast<double>(total));
    draw(fmt::format("{}: {}", phase, amount));
  }

 private:
  void wipe() {
    if (visible_) draw("");
  }

  void draw(std::string_view line) {
    // Returns to the first column, prints the text and erases the rest of the previous line.
    fmt::print(stderr, "\r{}\x1b[K", line);
    std::fflush(stderr);
    visible_ = !line.empty();
  }

  std::chrono::steady_clock::time_point last_drawn_ = {};
  bool visible_ = false;
};

}  // namespace

std::chrono::steady_clock::time_point program_start() {
  return loaded;
}

double PhaseTimer::stop() {
  const double seconds = seconds_since(start_);
  if (!stopped_ && report_ != nullptr) report_->close_phase(phase_, seconds, bytes_);
  stopped_ = true;
  return seconds;
}

ProgressCallback terminal_progress(bool quiet) {
  if (quiet || ::isatty(STDERR_FILENO) == 0) return {};
  return [line = std::make_shared<ProgressLine>()](std::string_view phase, std::uint64_t done,
                                                   std::uint64_t total) {
    line->update(phase, done, total);
  };
}

}  // namespace sortie
