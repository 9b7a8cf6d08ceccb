#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sortie::sorting {

/// A temporary file for what does not fit in memory. It has no name as soon as it is there, so that
/// it goes with the process, however that ends.
class SpillFile {
 public:
  /// \param folder  where it lies
  /// \throws Error (output) it cannot be made there
  explicit SpillFile(const std::string& folder);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Appends bytes. \throws Error (output) with the system's reason (disk full, ...)
  void append(std::span<const char> bytes);
  /// Reads all of `into` from byte `begin` on. \throws Error (input)
  void read(std::uint64_t begin, std::span<char> into) const;

  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The folder for temporary files of an output: its own, or that of the system (TMPDIR) for
/// standard output, a pipe or no output.
[[nodiscard]] std::string spill_folder(const std::string& output_path);

}  // namespace sortie::sorting
