// SPDX-License-Identifier: Apache-2.0
#include "core/files/whole_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "core/files/temporary_name.hpp"
#include "sortie/error.hpp"

namespace sortie {
namespace {

namespace fs = std::filesystem;

Error cannot_make(const std::string& path, const std::string& reason) {
  return {ErrorKind::output, fmt::format("{}: cannot be written: {}", path, reason)};
}

/// Opens and locks a folder. \return the descriptor; -1 if the folder is locked or has been removed, or
/// is not of this user
int locked(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  struct stat status = {};
  if (::flock(folder, LOCK_EX | LOCK_NB) == 0 && ::fstat(folder, &status) == 0 &&
      status.st_nlink != 0 && status.st_uid == ::geteuid())
    return folder;
  ::close(folder);
  return -1;
}

/// Removes the hidden folders of processes that were killed.
void remove_abandoned(const fs::path& parent) {
  std::error_code ignored;
  for (fs::directory_iterator each(parent.empty() ? "." : parent, ignored), end;
       !ignored && each != end; each.increment(ignored)) {
    const std::string path = each->path().string();
    if (!TemporaryName::is_one(path)) continue;
    const int folder = locked(path);
    if (folder < 0) continue;
    std::error_code failed;
    fs::remove_all(path, failed);
    ::close(folder);
  }
}

}  // namespace

WholeFolder::WholeFolder(const std::string& path) : path_(path) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  std::error_code failed;
  if (fs::exists(path_, failed) &&
      !(fs::is_directory(path_, failed) && fs::is_empty(path_, failed)))
    throw cannot_make(path_, "found something there, expected an empty folder, or none");
  const fs::path parent = fs::path(path_).parent_path();
  remove_abandoned(parent);
  // Before it is locked, another process may take the folder for an abandoned one. A file system
  // without locks gets no further attempts.
  constexpr int most_attempts = 10;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::string temporary = TemporaryName::unused_name(parent.string());
    if (!fs::create_directory(temporary, failed)) throw cannot_make(path_, failed.message());
    lock_ = locked(temporary);
    if (lock_ < 0 && !fs::exists(temporary, failed)) continue;
    temporary_ = temporary;
    return;
  }
  throw cannot_make(path_, "its temporary folder was removed");
}

WholeFolder::~WholeFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

std::string WholeFolder::file(const fs::path& name) const {
  const fs::path path = fs::path(temporary_) / name;
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed) throw cannot_make(path_, failed.message());
  return path.string();
}

void WholeFolder::commit() {
  std::error_code failed;
  fs::rename(temporary_, path_, failed);  // also over an empty folder
  if (failed) throw cannot_make(path_, failed.message());
  temporary_.clear();
}

}  // namespace sortie
