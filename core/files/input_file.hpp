// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sortie {

/// A file or standard input that is open for reading. Its bytes are returned as they are.
class InputFile {
 public:
  /// \param path     file name; "-" is standard input
  /// \param threads  threads that read() may use, at least 1
  /// \throws Error (input) if it cannot be opened or is a folder
  explicit InputFile(const std::string& path, int threads = 1);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The name for messages ("<stdin>" for "-").
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Size in bytes when the file was opened; 0 for a pipe.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Whether it is a file, so that read_at() works, and not a pipe or a device.
  [[nodiscard]] bool is_regular() const { return regular_; }
  /// Whether its content may be read by read_at() alone: a file that was opened by its name. Of
  /// standard input, other processes share the position, so it is read from front to back.
  [[nodiscard]] bool in_any_order() const { return regular_ && !standard_input_; }

  /// Reads the next bytes, large ranges of a file by several threads. Returns fewer bytes than
  /// `into` holds only at the end of the file. \throws Error (input)
  [[nodiscard]] std::size_t read(std::span<char> into);

  /// Reads the bytes at an offset, which does not change what read() returns next. Several threads
  /// may call it at the same time. Returns fewer bytes only at the end of the file.
  /// \pre is_regular()
  /// \throws Error (input)
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<char> into) const;

  /// The same by several threads.
  [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<char> into, int threads) const;

 private:
  std::string name_;
  bool standard_input_;
  int descriptor_;
  int threads_;
  bool regular_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;  ///< of the next read(), if in_any_order()
};

}  // namespace sortie
