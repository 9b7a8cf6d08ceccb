// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "core/phase_timer.hpp"

namespace {

/// Replaces standard error by a terminal for a scope and keeps what is written to it.
class TerminalOnStandardError {
 public:
  TerminalOnStandardError() : saved_(::dup(STDERR_FILENO)) {
    int terminal = -1;
    if (::openpty(&control_, &terminal, nullptr, nullptr, nullptr) != 0) return;
    ::dup2(terminal, STDERR_FILENO);
    ::close(terminal);
  }
  ~TerminalOnStandardError() {
    restore();
    ::close(control_);
  }
  TerminalOnStandardError(const TerminalOnStandardError&) = delete;
  TerminalOnStandardError& operator=(const TerminalOnStandardError&) = delete;

  [[nodiscard]] bool works() const { return control_ >= 0; }

  /// Gives standard error back and returns what was written meanwhile.
  std::string finish() {
    restore();  // with its last writer gone, the terminal ends after what it still holds
    std::string text;
    std::array<char, 4096> piece = {};
    for (ssize_t got = 0; (got = ::read(control_, piece.data(), piece.size())) > 0;)
      text.append(piece.data(), static_cast<std::size_t>(got));
    return text;
  }

 private:
  void restore() {
    if (saved_ >= 0) {
      ::dup2(saved_, STDERR_FILENO);
      ::close(saved_);
    }
    saved_ = -1;
  }

  int saved_ = -1;
  int control_ = -1;
};

TEST(Progress, IsSilentWithoutATerminal) {
  if (::isatty(STDERR_FILENO) != 0) GTEST_SKIP() << "standard error is a terminal";
  EXPECT_FALSE(sortie::terminal_progress(false));
}

TEST(Progress, DrawsOneLineAndWipesIt) {
  TerminalOnStandardError terminal;
  if (!terminal.works()) GTEST_SKIP() << "this machine gives no pseudo terminal";
  {
    const auto progress = sortie::terminal_progress(false);
    ASSERT_TRUE(progress);
    progress("sorting", 1, 4);
    progress("sorting", 4, 4);
  }
  EXPECT_EQ(terminal.finish(), "\rsorting: 25 %\x1b[K\r\x1b[K");
}

TEST(Progress, WipesALineThatWasLeftUnfinished) {
  TerminalOnStandardError terminal;
  if (!terminal.works()) GTEST_SKIP() << "this machine gives no pseudo terminal";
  sortie::terminal_progress(false)("reading", 12, 0);
  EXPECT_EQ(terminal.finish(), "\rreading: 12\x1b[K\r\x1b[K");
}

TEST(Progress, DrawsAtMostTenTimesASecond) {
  TerminalOnStandardError terminal;
  if (!terminal.works()) GTEST_SKIP() << "this machine gives no pseudo terminal";
  const auto start = std::chrono::steady_clock::now();
  {
    const auto progress = sortie::terminal_progress(false);
    for (int i = 0; i < 1000; ++i) progress("sorting", 1, 4);
  }
  const auto tenths = (std::chrono::steady_clock::now() - start) / std::chrono::milliseconds(100);
  const std::string drawn = terminal.finish();
  EXPECT_LE(std::count(drawn.begin(), drawn.end(), ':'), tenths + 1);
}

TEST(Progress, QuietIsQuietOnATerminalToo) {
  const TerminalOnStandardError terminal;
  EXPECT_FALSE(sortie::terminal_progress(true));
}

}  // namespace
