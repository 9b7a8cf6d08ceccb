// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// An output folder that gets its name when all of its files are written: before, it is a hidden
/// folder beside it, which the destructor removes if commit() was not called. A process that is
/// killed leaves it to the next one that writes a folder beside it: hidden folders are locked as long
/// as their process lives, and those without a lock are removed.
class WholeFolder {
 public:
  /// \throws Error (output) there is something at the path, other than an empty folder; the folder
  ///         cannot be made
  explicit WholeFolder(const std::string& path);
  ~WholeFolder();
  WholeFolder(const WholeFolder&) = delete;
  WholeFolder& operator=(const WholeFolder&) = delete;

  /// The path of a file, whose folder is made. \param name  relative \throws Error (output)
  [[nodiscard]] std::string file(const std::filesystem::path& name) const;

  /// \throws Error (output)
  void commit();

 private:
  std::string path_;
  std::string temporary_;  ///< empty after commit()
  int lock_ = -1;          ///< the open folder, locked
};

}  // namespace sortie
