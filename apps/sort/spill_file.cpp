// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/spill_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/files/temporary_name.hpp"
#include "core/files/whole_file.hpp"
#include "sortie/error.hpp"

namespace sortie::sorting {

Error spill_error(const std::string& folder, int code) {
  return {ErrorKind::output,
          fmt::format("{}: temporary file cannot be written: {}", folder, std::strerror(code))};
}

void write_temporary(const std::string& folder, int descriptor, std::uint64_t begin,
                     std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(begin));
    if (written < 0 && errno == EINTR) continue;
    // A device that takes no more may give no reason.
    if (written <= 0) throw spill_error(folder, written == 0 ? ENOSPC : errno);
    begin += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void read_temporary(const std::string& folder, int descriptor, std::uint64_t begin,
                    std::span<char> into) {
  while (!into.empty()) {
    const ssize_t got = ::pread(descriptor, into.data(), into.size(), static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(ErrorKind::input,
                  fmt::format("{}: temporary file cannot be read: {}", folder,
                              got == 0 ? "it ends too early" : std::strerror(errno)));
    }
    begin += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
}

void discard_temporary(int descriptor, std::uint64_t begin, std::uint64_t bytes) {
  // An error is no fault: the space is freed with the file then.
  static_cast<void>(::fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(begin), static_cast<off_t>(bytes)));
}

SpillFile::SpillFile(const std::string& folder) : folder_(folder) {
  constexpr mode_t own = 0600;
  descriptor_ = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, own);
  if (descriptor_ >= 0) return;
  // File systems without O_TMPFILE: unlink the name before anything is written.
  TemporaryName name;
  name.set(TemporaryName::unused_name(folder));
  descriptor_ = ::open(name.path(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, own);
  if (descriptor_ < 0) throw spill_error(folder, errno);
  ::unlink(name.path());
}

SpillFile::~SpillFile() {
  ::close(descriptor_);
}

void SpillFile::write(std::uint64_t begin, std::span<const char> bytes) const {
  write_temporary(folder_, descriptor_, begin, bytes);
}

void SpillFile::read(std::uint64_t begin, std::span<char> into) const {
  read_temporary(folder_, descriptor_, begin, into);
}

void SpillFile::discard(std::uint64_t begin, std::uint64_t bytes) const {
  discard_temporary(descriptor_, begin, bytes);
}

std::string spill_folder(const std::string& output_path) {
  if (!output_path.empty() && WholeFile::takes_rewrites(output_path)) {
    std::error_code ignored;
    // The output is written beside the target of a link; so is the temporary file.
    const auto path =
        std::filesystem::weakly_canonical(std::filesystem::absolute(output_path), ignored);
    if (!path.empty() && path.has_parent_path()) return path.parent_path().string();
  }
  return std::filesystem::temp_directory_path().string();
}

}  // namespace sortie::sorting
