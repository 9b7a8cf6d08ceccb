// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sortie/error.hpp"
#include "sortie/sort_file.hpp"

namespace sortie::sorting {
namespace {

class RecordFile : public RecordSource {
 public:
  RecordFile(const std::string& path, const RecordFormat& format) : path_(path), format_(format) {
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      throw Error(ErrorKind::input,
                  fmt::format("{}: cannot be opened: {}, expected a readable file", path,
                              std::strerror(errno)));
    }
    try {
      inspect_file();
    } catch (...) {
      close();
      throw;
    }
  }
  ~RecordFile() override { close(); }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  std::uint64_t read(std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const ssize_t got = ::read(descriptor_, into.data() + filled, into.size() - filled);
      if (got == 0) break;
      if (got < 0) {
        if (errno == EINTR) continue;
        throw Error(ErrorKind::input,
                    fmt::format("{}: cannot be read: {}, expected a readable file", name(),
                                std::strerror(errno)));
      }
      filled += static_cast<std::size_t>(got);
    }
    bytes_ += filled;
    if (filled < into.size()) check_length(bytes_);
    return filled / format_.record_bytes();
  }

  [[nodiscard]] std::optional<std::uint64_t> records() const override { return records_; }

 private:
  void inspect_file() {
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) return;
    if (S_ISDIR(status.st_mode)) throw input_error(path_, 0, "a folder", "a file");
    // Standard input may have been read in part; its length is known only at its end.
    if (!S_ISREG(status.st_mode) || path_ == "-") return;
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    check_length(bytes);
    records_ = bytes / format_.record_bytes();
    // A hint for read-ahead; failure does not matter.
    static_cast<void>(::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL));
  }

  void check_length(std::uint64_t bytes) const {
    if (bytes % format_.record_bytes() == 0) return;
    throw input_error(
        path_, 0, fmt::format("{} bytes", bytes),
        fmt::format("a multiple of the {} bytes of {}", format_.record_bytes(), describe(format_)));
  }

  [[nodiscard]] std::string name() const { return path_ == "-" ? "<stdin>" : path_; }

  void close() const {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }

  std::string path_;
  RecordFormat format_;
  int descriptor_ = -1;
  std::optional<std::uint64_t> records_;
  std::uint64_t bytes_ = 0;  ///< read so far
};

}  // namespace

std::unique_ptr<RecordSource> open_record_file(const std::string& path,
                                               const RecordFormat& format) {
  return std::make_unique<RecordFile>(path, format);
}

RecordFormat parse_record_format(std::string_view key, std::string_view value) {
  RecordFormat format{parse_key_type(key), std::nullopt};
  if (value.empty()) return format;
  format.value = parse_key_type(value);
  if (format.value_bytes() < 4)
    throw Error(ErrorKind::usage, fmt::format("values: found {}, expected a type of 4 or 8 bytes",
                                              name(*format.value)));
  return format;
}

std::string describe(const RecordFormat& format) {
  std::string text = fmt::format("{} keys", name(format.key));
  if (format.value) text += fmt::format(" with {} values", name(*format.value));
  return text;
}

}  // namespace sortie::sorting
