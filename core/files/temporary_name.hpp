// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace sortie {

/// The name of a temporary file that a signal removes if it ends the program, after a call of
/// remove_temporary_files_on_signals(). It may be set before the file is created, so that no signal
/// comes between: no other file has the name that unused_name() returns.
class TemporaryName {
 public:
  TemporaryName() = default;
  ~TemporaryName() { clear(); }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  /// A name in a folder (empty: the working directory) with 64 random bits.
  [[nodiscard]] static std::string unused_name(const std::string& folder);

  /// Whether the last part of a path is such a name.
  [[nodiscard]] static bool is_one(const std::string& path);

  /// Replaces the name. Of more than 64 names in the process, some are not known to signals.
  void set(const std::string& path);
  /// Forgets the name: the file was renamed, removed or not created.
  void clear();

  [[nodiscard]] bool empty() const { return !path_; }
  /// \pre !empty()
  [[nodiscard]] const char* path() const { return path_.get(); }

 private:
  std::unique_ptr<char[]> path_;  ///< at an address that does not change
  bool registered_ = false;       ///< signals know it
};

/// Lets signals that end a program (SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ)
/// first remove the files of all names. Signals that are ignored or handled remain so. The library
/// never calls it, since signals belong to the program.
void remove_temporary_files_on_signals();

}  // namespace sortie
