// SPDX-License-Identifier: Apache-2.0
#include "core/files/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "core/files/block_pipeline.hpp"
#include "sortie/error.hpp"

namespace sortie {
namespace {

/// Bytes that a thread reads at a time: the start of a thread takes as long as some 100 KB.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

/// Fills `into` by `read_some(span)`, which returns what the system call does. Returns fewer bytes
/// only at the end of the file.
template <class ReadSome>
std::size_t fill(const std::string& name, std::span<char> into, ReadSome&& read_some) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got = read_some(into.subspan(filled), filled);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw Error(ErrorKind::input, fmt::format("{}: cannot be read: {}, expected a readable file",
                                                name, std::strerror(errno)));
    }
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

}  // namespace

InputFile::InputFile(const std::string& path, int threads)
    : name_(path == "-" ? "<stdin>" : path),
      standard_input_(path == "-"),
      descriptor_(standard_input_ ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      threads_(threads) {
  if (descriptor_ < 0)
    throw Error(ErrorKind::input, fmt::format("{}: cannot be opened: {}, expected a readable file",
                                              path, std::strerror(errno)));
  struct stat status = {};
  if (::fstat(descriptor_, &status) != 0) return;
  if (S_ISDIR(status.st_mode)) {
    if (!standard_input_) ::close(descriptor_);
    throw input_error(name_, 0, "a folder", "a file");
  }
  if (!S_ISREG(status.st_mode)) return;
  size_ = static_cast<std::uint64_t>(status.st_size);
  regular_ = true;
  // Advice only: correctness does not depend on it.
  static_cast<void>(::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL));
}

InputFile::~InputFile() {
  if (!standard_input_) ::close(descriptor_);
}

std::size_t InputFile::read(std::span<char> into) {
  if (!in_any_order()) {
    return fill(name_, into, [&](std::span<char> rest, std::size_t) {
      return ::read(descriptor_, rest.data(), rest.size());
    });
  }
  const std::size_t filled = read_at(position_, into, threads_);
  position_ += filled;
  return filled;
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<char> into) const {
  return fill(name_, into, [&](std::span<char> rest, std::size_t filled) {
    return ::pread(descriptor_, rest.data(), rest.size(), static_cast<off_t>(offset + filled));
  });
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<char> into, int threads) const {
  // Bytes beyond the size, of a file that grows or has none, are read in order.
  const std::uint64_t known = size_ - std::min(size_, offset);
  const auto in_pieces = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), known));
  const std::uint64_t pieces = (in_pieces + piece_bytes - 1) / piece_bytes;
  if (threads < 2 || pieces < 2) return read_at(offset, into);
  // Where the file ends if it has shrunk. What later pieces found is not used.
  std::atomic<std::size_t> end = in_pieces;
  BlockSteps steps;
  steps.take = [&](int, std::uint64_t piece) { return piece < pieces; };
  steps.work = [&](int, std::uint64_t piece) {
    const auto begin = static_cast<std::size_t>(piece) * piece_bytes;
    const std::size_t wanted = std::min(piece_bytes, in_pieces - begin);
    const std::size_t got = read_at(offset + begin, into.subspan(begin, wanted));
    if (got == wanted) return;
    std::size_t known_end = end;
    while (begin + got < known_end && !end.compare_exchange_weak(known_end, begin + got)) {
    }
  };
  run_blocks(static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), pieces)),
             steps);
  if (end < in_pieces) return end;
  return in_pieces + read_at(offset + in_pieces, into.subspan(in_pieces));
}

}  // namespace sortie
