// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sortie::sorting {

/// A temporary file for data beyond memory. It has no name, so it disappears with the process even
/// after a crash.
class SpillFile {
 public:
  /// \param folder  directory of the file
  /// \throws Error (output) the file cannot be created
  explicit SpillFile(const std::string& folder);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Appends bytes. \throws Error (output) with the system's reason (disk full, ...)
  void append(std::span<const char> bytes);
  /// Fills `into` from byte `begin` of the file. \throws Error (input)
  void read(std::uint64_t begin, std::span<char> into) const;

  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The directory for temporary files of an output: the output's own, or that of the system (TMPDIR)
/// for standard output, a pipe or no output.
[[nodiscard]] std::string spill_folder(const std::string& output_path);

}  // namespace sortie::sorting
