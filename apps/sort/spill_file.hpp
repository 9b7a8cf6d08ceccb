// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sortie/error.hpp"

namespace sortie::sorting {

/// The error of a temporary file in a folder. \param code  of the system
[[nodiscard]] Error spill_error(const std::string& folder, int code);
/// Writes bytes at byte `begin` of an open temporary file in `folder`.
/// \throws Error (output) with the system's reason (disk full, ...)
void write_temporary(const std::string& folder, int descriptor, std::uint64_t begin,
                     std::span<const char> bytes);
/// Fills `into` from byte `begin` of an open temporary file in `folder`. \throws Error (input)
void read_temporary(const std::string& folder, int descriptor, std::uint64_t begin,
                    std::span<char> into);
/// Frees the space of bytes that are read no more, as SpillFile::discard().
void discard_temporary(int descriptor, std::uint64_t begin, std::uint64_t bytes);

/// A temporary file for data beyond memory. It has no name, so it disappears with the process even
/// after a crash. Several threads may read and write it at the same time.
class SpillFile {
 public:
  /// \param folder  directory of the file
  /// \throws Error (output) the file cannot be created
  explicit SpillFile(const std::string& folder);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Writes bytes at byte `begin`. \throws Error (output) with the system's reason (disk full, ...)
  void write(std::uint64_t begin, std::span<const char> bytes) const;
  /// Fills `into` from byte `begin` of the file. \throws Error (input)
  void read(std::uint64_t begin, std::span<char> into) const;
  /// Frees the space of bytes that are read no more, where the file system can. They count as zeros
  /// then. Pages that were not written to the disk yet need not be, and a file in memory gives its
  /// pages to the output.
  void discard(std::uint64_t begin, std::uint64_t bytes) const;

 private:
  std::string folder_;
  int descriptor_ = -1;
};

/// The directory for temporary files of an output: the output's own, or that of the system (TMPDIR)
/// for standard output, a pipe or no output.
[[nodiscard]] std::string spill_folder(const std::string& output_path);

/// A sorted range of a spill file.
struct SpilledRun {
  std::uint64_t begin = 0;  ///< first record
  std::uint64_t records = 0;
};

}  // namespace sortie::sorting
