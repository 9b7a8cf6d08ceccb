// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace sortie::test {

/// Ignores a signal for a scope, so that the system call that causes it fails instead.
class IgnoredSignal {
 public:
  explicit IgnoredSignal(int signal) : signal_(signal), previous_(std::signal(signal, SIG_IGN)) {}
  ~IgnoredSignal() { std::signal(signal_, previous_); }
  IgnoredSignal(const IgnoredSignal&) = delete;
  IgnoredSignal& operator=(const IgnoredSignal&) = delete;

 private:
  int signal_;
  void (*previous_)(int);
};

/// Lowers the largest file size that this process may write for a scope: a disk that gets full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &previous_);
    const rlimit lowered = {bytes, previous_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lowered);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &previous_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  IgnoredSignal ignored_{SIGXFSZ};
  rlimit previous_ = {};
};

}  // namespace sortie::test
