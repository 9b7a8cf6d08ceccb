// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace sortie::test {

/// A pipe, whose bytes are read on a thread.
class PipeReader {
 public:
  /// \param most  the reader closes its end after at least so many bytes
  explicit PipeReader(std::size_t most = std::numeric_limits<std::size_t>::max()) {
    std::array<int, 2> ends = {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
    write_end_ = ends[1];
    thread_ = std::thread([this, read_end = ends[0], most] {
      std::array<char, 4096> piece = {};
      ssize_t got = 0;
      while (text_.size() < most && (got = ::read(read_end, piece.data(), piece.size())) > 0)
        text_.append(piece.data(), static_cast<std::size_t>(got));
      ::close(read_end);
    });
  }
  ~PipeReader() {
    if (thread_.joinable()) static_cast<void>(text());
  }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  /// A file name of the pipe, for writers of this process.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(write_end_); }

  /// All that was written. Waits until the writers have closed the pipe.
  [[nodiscard]] std::string text() {
    ::close(write_end_);
    thread_.join();
    return std::move(text_);
  }

 private:
  int write_end_ = -1;
  std::string text_;
  std::thread thread_;
};

}  // namespace sortie::test
