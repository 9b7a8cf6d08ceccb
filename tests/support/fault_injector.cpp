// SPDX-License-Identifier: Apache-2.0

// Loaded into a program with LD_PRELOAD: injects a fault into one of its system calls. Only calls
// on files in one folder count, and on standard input and output, so those of the start of the
// program do not. The environment says what to do; tests/faults/injection.hpp has its fields.
//
//   SORTIE_FAULT_FOLDER    start of the paths of its files: absolute, without symbolic links
//   SORTIE_FAULT_CALL      name of the call: open, tmpfile (open() of a file without a name), read,
//                          write, truncate, punch, map, populate, link, rename, close
//   SORTIE_FAULT_NUMBER    the call that gets the fault, from 1
//   SORTIE_FAULT_KIND      error, lasting (an error, of later calls too), short (half of the bytes),
//                          nothing (no bytes) or signal
//   SORTIE_FAULT_VALUE     errno, or the number of the signal
//   SORTIE_FAULT_NO_TMPFILE  if set, the file system has no files without a name
//   SORTIE_FAULT_LOG       file for a line "CALL" per counted call, and "CALL !" at the fault

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool in_folder(std::string_view path) {
  const std::string_view folder = variable("SORTIE_FAULT_FOLDER");
  return !folder.empty() && path.starts_with(folder);
}

bool counts(int descriptor) {
  if (descriptor == STDIN_FILENO || descriptor == STDOUT_FILENO) return true;
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  std::array<char, 4096> target = {};
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  return length > 0 && in_folder({target.data(), static_cast<std::size_t>(length)});
}

void log(std::string_view call, bool fault) {
  const int file = static_cast<int>(
      ::syscall(SYS_openat, AT_FDCWD, std::getenv("SORTIE_FAULT_LOG"), O_WRONLY | O_APPEND, 0));
  const std::string line = std::string(call) + (fault ? " !\n" : "\n");
  static_cast<void>(::syscall(SYS_write, file, line.data(), line.size()));
  ::syscall(SYS_close, file);
}

enum class Fault { none, error, shortened, nothing };

/// Counts a call and tells what is to become of it; a signal is raised here.
Fault next(std::string_view call) {
  static std::atomic<long> calls = 0;
  const std::string_view kind = variable("SORTIE_FAULT_KIND");
  const long first = std::atol(std::getenv("SORTIE_FAULT_NUMBER"));
  const long number = call == variable("SORTIE_FAULT_CALL") ? ++calls : 0;
  const bool fault = number != 0 && (number == first || (kind == "lasting" && number > first));
  log(call, fault);
  if (!fault) return Fault::none;
  const int value = std::atoi(std::getenv("SORTIE_FAULT_VALUE"));
  if (kind == "short") return Fault::shortened;
  if (kind == "nothing") return Fault::nothing;
  if (kind == "signal") {
    ::kill(::getpid(), value);
    return Fault::none;
  }
  errno = value;
  return Fault::error;
}

/// A call that moves bytes from or to a descriptor.
/// \param address  of the bytes, as a number: the compiler would warn of bytes not yet read
ssize_t moved(std::string_view call, long number, int descriptor, std::uintptr_t address,
              std::size_t size, off_t offset) {
  if (size != 0 && counts(descriptor)) {
    const Fault fault = next(call);
    if (fault == Fault::error) return -1;
    if (fault == Fault::nothing) return 0;
    if (fault == Fault::shortened) size = (size + 1) / 2;
  }
  return ::syscall(number, descriptor, address, size, offset);
}

int opened(const char* path, int flags, mode_t mode) {
  const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
  if (in_folder(path)) {
    if (nameless && !variable("SORTIE_FAULT_NO_TMPFILE").empty()) {
      errno = EOPNOTSUPP;
      return -1;
    }
    if (next(nameless ? "tmpfile" : "open") == Fault::error) return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // namespace

// They take the place of the C library's functions in the program.
extern "C" {

ssize_t read(int descriptor, void* into, std::size_t size) {
  return moved("read", SYS_read, descriptor, reinterpret_cast<std::uintptr_t>(into), size, 0);
}
ssize_t pread(int descriptor, void* into, std::size_t size, off_t offset) {
  return moved("read", SYS_pread64, descriptor, reinterpret_cast<std::uintptr_t>(into), size,
               offset);
}
ssize_t write(int descriptor, const void* from, std::size_t size) {
  return moved("write", SYS_write, descriptor, reinterpret_cast<std::uintptr_t>(from), size, 0);
}
ssize_t pwrite(int descriptor, const void* from, std::size_t size, off_t offset) {
  return moved("write", SYS_pwrite64, descriptor, reinterpret_cast<std::uintptr_t>(from), size,
               offset);
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : mode_t{0};
  va_end(rest);
  return opened(path, flags, mode);
}
int ftruncate(int descriptor, off_t size) noexcept {
  if (counts(descriptor) && next("truncate") == Fault::error) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
}
int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  if (counts(descriptor) && next("punch") == Fault::error) return -1;
  return static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, offset, size));
}
void* mmap(void* at, std::size_t size, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  if (descriptor >= 0 && counts(descriptor) && next("map") == Fault::error) return MAP_FAILED;
  const long pages = ::syscall(SYS_mmap, at, size, protection, flags, descriptor, offset);
  return std::bit_cast<void*>(pages);
}
int madvise(void* begin, std::size_t size, int advice) noexcept {
  constexpr int populate_write = 23;
  if (advice == populate_write && next("populate") == Fault::error) return -1;
  return static_cast<int>(::syscall(SYS_madvise, begin, size, advice));
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (in_folder(to) && next("link") == Fault::error) return -1;
  return static_cast<int>(::syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
int rename(const char* from, const char* to) noexcept {
  if (in_folder(to) && next("rename") == Fault::error) return -1;
  return static_cast<int>(::syscall(SYS_rename, from, to));
}
int close(int descriptor) {
  // The descriptor is free after an error, too.
  const bool fails = counts(descriptor) && next("close") == Fault::error;
  const int code = errno;
  const long result = ::syscall(SYS_close, descriptor);
  if (fails) errno = code;
  return fails ? -1 : static_cast<int>(result);
}

}  // extern "C"
