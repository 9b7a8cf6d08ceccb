#include "sortie/core/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "sortie/core/error.hpp"

namespace sortie {

namespace {

/// Small pieces are collected up to this size: a system call per line of text would dominate.
constexpr std::size_t buffer_capacity = std::size_t{256} << 10;

constexpr mode_t default_mode = 0666;  // less the umask, as for any file a program creates

Error write_error(const std::string& path, int code) {
  return {ErrorKind::output, fmt::format("{}: cannot be written: {}",
                                         path == "-" ? "<stdout>" : path, std::strerror(code))};
}

/// The file that a chain of symbolic links ends at, so that renaming replaces it and not the link.
std::string resolve_links(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  const auto target = std::filesystem::canonical(path, ignored);
  return target.empty() ? path : target.string();
}

std::optional<mode_t> mode_of(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mode;
}

}  // namespace

WholeFile::WholeFile(const std::string& path) : path_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  path_ = resolve_links(path);
  const auto existing = mode_of(path_);
  if (existing && S_ISDIR(*existing)) throw write_error(path_, EISDIR);
  if (existing && !S_ISREG(*existing)) {
    // A device or a pipe cannot be replaced by renaming; it takes the bytes as they come.
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw write_error(path_, errno);
    return;
  }
  // Renaming would replace a write-protected file without a question.
  if (existing && ::access(path_.c_str(), W_OK) != 0) throw write_error(path_, errno);
  open_temporary();
  // Best effort, as the owner of the replaced file may be somebody else.
  if (existing) static_cast<void>(::fchmod(descriptor_, *existing & 07777));
}

void WholeFile::open_temporary() {
  const auto folder = std::filesystem::path(path_).parent_path();
  for (unsigned attempt = 0; descriptor_ < 0; ++attempt) {
    // Not made from the final name, which may have the greatest length that names can have.
    temporary_path_ = (folder / fmt::format(".sortie-{}-{}.tmp", ::getpid(), attempt)).string();
    descriptor_ =
        ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, default_mode);
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) {
      const int code = errno;
      temporary_path_.clear();
      throw write_error(path_, code);
    }
  }
}

WholeFile::~WholeFile() {
  if (committed_) return;
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

void WholeFile::write(std::span<const char> bytes) {
  bytes_written_ += bytes.size();
  if (buffer_.size() + bytes.size() > buffer_capacity) {
    flush();
    if (bytes.size() >= buffer_capacity) {
      write_through(bytes);
      return;
    }
  }
  buffer_.append(bytes.data(), bytes.size());
}

void WholeFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void WholeFile::write_through(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw write_error(path_, errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void WholeFile::commit() {
  flush();
  if (descriptor_ == STDOUT_FILENO) {
    committed_ = true;
    return;
  }
  // Network file systems report a full disk or quota only here.
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0) throw write_error(path_, errno);
  if (!temporary_path_.empty() && std::rename(temporary_path_.c_str(), path_.c_str()) != 0)
    throw write_error(path_, errno);
  committed_ = true;
}

}  // namespace sortie
