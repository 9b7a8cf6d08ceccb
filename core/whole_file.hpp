#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sortie {

/// An output file that appears whole or not at all: written beside its final name, renamed by
/// commit(), removed by the destructor when commit() was not reached. Where the file system can, it
/// has no name before commit(), so that a process that is killed leaves nothing. "-" writes to
/// standard output; a device or pipe that exists under the name gets the bytes directly.
///
/// Small pieces are collected in a buffer, so writing line by line costs no system call each.
class WholeFile {
 public:
  /// \throws Error (output) when the folder cannot be written
  explicit WholeFile(const std::string& path);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Appends bytes. \throws Error (output) with the system's reason (disk full, ...)
  void write(std::span<const char> bytes);
  void write(std::string_view text) { write(std::span<const char>{text.data(), text.size()}); }
  // Texts convert to a span as well as to a view; these two keep such calls unambiguous.
  void write(const std::string& text) { write(std::string_view(text)); }
  void write(const char* text) { write(std::string_view(text)); }

  /// True when a file of this name could take rewrite(): one that is written beside its name. Not
  /// so for standard output, devices and pipes.
  [[nodiscard]] static bool takes_rewrites(const std::string& path);

  /// Writes over bytes that were written before, for what is known only after them.
  /// \pre takes_rewrites() of its path, and offset + text.size() <= bytes_written()
  /// \throws Error (output)
  void rewrite(std::uint64_t offset, std::string_view text);

  /// Flushes, closes and renames. \throws Error (output)
  void commit();

  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  [[nodiscard]] std::string temporary_name(unsigned attempt) const;
  void open_temporary();
  void give_name();
  void flush();
  void write_through(std::span<const char> bytes);

  std::string path_;
  std::string temporary_path_;  ///< empty while nameless, and when the bytes go straight to path_
  std::string buffer_;
  int descriptor_ = -1;
  bool nameless_ = false;
  std::uint64_t bytes_written_ = 0;
  bool committed_ = false;
};

}  // namespace sortie
