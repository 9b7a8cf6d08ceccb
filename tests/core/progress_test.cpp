#include "sortie/core/progress.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <string>

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
    std::array<char, 4096> text = {};
    const ssize_t got = ::read(control_, text.data(), text.size());
    restore();
    return {text.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
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
    progress("sorting", 2, 4);  // less than a tenth of a second later: not drawn
    progress("sorting", 4, 4);
  }
  EXPECT_EQ(terminal.finish(), "\rsorting: 25 %\x1b[K\r\x1b[K");
}

TEST(Progress, QuietIsQuietOnATerminalToo) {
  const TerminalOnStandardError terminal;
  EXPECT_FALSE(sortie::terminal_progress(true));
}

}  // namespace
