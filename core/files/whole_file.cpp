// SPDX-License-Identifier: Apache-2.0
#include "core/files/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "sortie/error.hpp"

namespace sortie {

namespace {

/// Small writes are buffered up to this size: a system call per line of text would dominate.
constexpr std::size_t buffer_capacity = std::size_t{256} << 10;

/// Smaller writes are left to pwrite() by a mapped file: pages are prepared in ranges.
constexpr std::size_t smallest_mapped_write = std::size_t{64} << 10;

#ifdef MADV_POPULATE_WRITE
constexpr int advice_populate_write = MADV_POPULATE_WRITE;
#else
constexpr int advice_populate_write = 23;  // older headers do not have it
#endif

constexpr mode_t default_mode = 0666;  // less the umask, as for any file a program creates

/// The folder that lists the open files of the process.
constexpr const char* own_descriptors = "/proc/self/fd";

Error write_error(const std::string& path, int code) {
  return {ErrorKind::output, fmt::format("{}: cannot be written: {}",
                                         path == "-" ? "<stdout>" : path, std::strerror(code))};
}

/// Bytes that a call of write() or pwrite() took, from its result; 0 if a signal interrupted it.
/// \pre there were some
std::size_t accepted(const std::string& path, ssize_t result) {
  if (result > 0) return static_cast<std::size_t>(result);
  if (result == 0) throw write_error(path, ENOSPC);  // a device that takes no more, with no reason
  if (errno == EINTR) return 0;
  throw write_error(path, errno);
}

/// Follows symbolic links to their target, so that renaming replaces the target and not the link.
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

WholeFile::WholeFile(const std::string& path, bool named) : path_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  path_ = resolve_links(path);
  const auto existing = mode_of(path_);
  if (existing && S_ISDIR(*existing)) throw write_error(path_, EISDIR);
  if (existing && !S_ISREG(*existing)) {
    // A device or a pipe cannot be replaced by renaming; the bytes are written to it directly.
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw write_error(path_, errno);
    return;
  }
  stream_ = false;
  // Renaming would replace a write-protected file silently.
  if (existing && ::access(path_.c_str(), W_OK) != 0) throw write_error(path_, errno);
  open_temporary(named);
  // Best effort: the replaced file may belong to another user.
  if (existing) static_cast<void>(::fchmod(descriptor_, *existing & 07777));
}

std::string WholeFile::folder() const {
  return std::filesystem::path(path_).parent_path().string();
}

void WholeFile::open_temporary(bool named) {
  // An unnamed file disappears with the process, however it ends. It is given its name through
  // /proc. File systems without O_TMPFILE (network file systems) get a named temporary file.
  if (!named && ::access(own_descriptors, X_OK) == 0) {
    const std::string in = folder();
    descriptor_ =
        ::open(in.empty() ? "." : in.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, default_mode);
    nameless_ = descriptor_ >= 0;
  }
  while (descriptor_ < 0) {
    // Not derived from the final name, which may already have the maximum length.
    temporary_.set(TemporaryName::unused_name(folder()));
    descriptor_ = ::open(temporary_.path(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, default_mode);
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) {
      const int code = errno;
      temporary_.clear();
      throw write_error(path_, code);
    }
  }
}

void WholeFile::give_name() {
  const std::string self = fmt::format("{}/{}", own_descriptors, descriptor_);
  while (true) {
    temporary_.set(TemporaryName::unused_name(folder()));
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.path(), AT_SYMLINK_FOLLOW) == 0)
      break;
    const int code = errno;
    temporary_.clear();
    if (code != EEXIST && code != EINTR) throw write_error(path_, code);
  }
  nameless_ = false;
}

WholeFile::~WholeFile() {
  unmap();
  close_direct();
  if (committed_) return;
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.path());
}

void WholeFile::write(std::span<const char> bytes) {
  if (buffer_.size() + bytes.size() > buffer_capacity) flush();
  if (bytes.size() >= buffer_capacity) {
    write_through(bytes_written_, bytes);
  } else {
    buffer_.append(bytes.data(), bytes.size());
  }
  bytes_written_ += bytes.size();
}

void WholeFile::flush() {
  write_through(bytes_written_ - buffer_.size(), buffer_);
  buffer_.clear();
}

void WholeFile::write_through(std::uint64_t offset, std::span<const char> bytes) const {
  if (!stream_) return write_at(offset, bytes);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    bytes = bytes.subspan(accepted(path_, written));
  }
}

void WholeFile::write_at(std::uint64_t offset, std::span<const char> bytes) const {
  if (copy_to_pages(offset, bytes)) return;
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    const std::size_t count = accepted(path_, written);
    bytes = bytes.subspan(count);
    offset += count;
  }
}

void WholeFile::read_at(std::uint64_t offset, std::span<char> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const std::string reason =
          got == 0 ? fmt::format("found its end at byte {}", offset) : std::strerror(errno);
      throw Error(ErrorKind::input,
                  fmt::format("{}: a temporary file beside it cannot be read: {}", path_, reason));
    }
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

std::uint64_t WholeFile::reserve(std::uint64_t bytes) {
  flush();
  const std::uint64_t offset = bytes_written_;
  bytes_written_ += bytes;
  // Pages exist within the length of the file only.
  if (!mapped_.empty() && ::ftruncate(descriptor_, static_cast<off_t>(bytes_written_)) != 0)
    throw write_error(path_, errno);
  return offset;
}

void WholeFile::map_writes() {
  struct statfs system = {};
  if (!mapped_.empty() || ::fstatfs(descriptor_, &system) != 0 || system.f_type != TMPFS_MAGIC)
    return;
  // As long as the file system; what is beyond is left to pwrite(). A file system without a limit
  // has no number of blocks.
  const std::uint64_t length = system.f_blocks == 0
                                   ? std::uint64_t{1} << 40
                                   : std::uint64_t{system.f_blocks} * system.f_bsize;
  void* const pages =
      ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (pages != MAP_FAILED) mapped_ = {static_cast<char*>(pages), length};
}

void WholeFile::open_direct() {
  if (direct_ >= 0) return;
  struct statfs system = {};
  if (::fstatfs(descriptor_, &system) != 0 || system.f_type == TMPFS_MAGIC) return;
  const std::string self = fmt::format("{}/{}", own_descriptors, descriptor_);
  direct_ = ::open(self.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);
  if (direct_ < 0) return;
  // Writes that make a file longer, and look for space, exclude each other for longer. File systems
  // that cannot allocate so do without.
  while (::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes_written_)) != 0) {
    if (errno == ENOSPC) throw write_error(path_, errno);
    if (errno != EINTR) return;
  }
}

bool WholeFile::write_pages(std::uint64_t offset, std::span<const char> bytes) const {
  if (direct_ < 0) return false;
  bool is_begun = false;
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(direct_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINVAL && !is_begun) return false;
    std::size_t count = accepted(path_, written);
    // Of a page that was not taken as a whole, all is written again.
    count = count / page_bytes * page_bytes;
    if (count == 0 && written > 0) {
      write_at(offset, bytes);
      return true;
    }
    bytes = bytes.subspan(count);
    offset += count;
    is_begun |= count != 0;
  }
  return true;
}

void WholeFile::close_direct() {
  if (direct_ >= 0) ::close(std::exchange(direct_, -1));
}

void WholeFile::unmap() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
  mapped_ = {};
}

bool WholeFile::copy_to_pages(std::uint64_t offset, std::span<const char> bytes) const {
  if (bytes.size() < smallest_mapped_write || offset + bytes.size() > mapped_.size()) return false;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = offset / page * page;
  const std::uint64_t end = offset + bytes.size();
  // A copy to a page that does not exist would end the process if memory runs out.
  if (::madvise(mapped_.data() + first, end - first, advice_populate_write) != 0) return false;
  std::memcpy(mapped_.data() + offset, bytes.data(), bytes.size());
  // The pages remain in the file. Released here, by all threads, they do not delay unmap().
  const std::uint64_t inner = (offset + page - 1) / page * page;
  const std::uint64_t inner_end = end / page * page;
  static_cast<void>(::madvise(mapped_.data() + inner, inner_end - inner, MADV_DONTNEED));
  return true;
}

bool WholeFile::takes_rewrites(const std::string& path) {
  if (path == "-") return false;
  const auto existing = mode_of(path);
  return !existing || S_ISREG(*existing);
}

void WholeFile::rewrite(std::uint64_t offset, std::string_view text) {
  flush();
  write_at(offset, text);
}

void WholeFile::prepare() {
  flush();
  unmap();
  close_direct();
  if (descriptor_ != STDOUT_FILENO) {
    if (nameless_) give_name();
    // Network file systems report a full disk or an exceeded quota only on close.
    if (::close(std::exchange(descriptor_, -1)) != 0) throw write_error(path_, errno);
  }
  prepared_ = true;
}

void WholeFile::commit() {
  if (!prepared_) prepare();
  if (!temporary_.empty()) {
    if (std::rename(temporary_.path(), path_.c_str()) != 0) throw write_error(path_, errno);
    temporary_.clear();
  }
  committed_ = true;
}

}  // namespace sortie
