// SPDX-License-Identifier: Apache-2.0
#include "core/files/whole_folder.hpp"

#include <fmt/format.h>

#include <system_error>

#include "core/files/temporary_name.hpp"
#include "sortie/error.hpp"

namespace sortie {
namespace {

namespace fs = std::filesystem;

Error cannot_make(const std::string& path, const std::string& reason) {
  return {ErrorKind::output, fmt::format("{}: cannot be written: {}", path, reason)};
}

}  // namespace

WholeFolder::WholeFolder(const std::string& path) : path_(path) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  std::error_code failed;
  if (fs::exists(path_, failed) &&
      !(fs::is_directory(path_, failed) && fs::is_empty(path_, failed)))
    throw cannot_make(path_, "found something there, expected an empty folder, or none");
  const std::string temporary = TemporaryName::unused_name(fs::path(path_).parent_path().string());
  if (!fs::create_directory(temporary, failed)) throw cannot_make(path_, failed.message());
  temporary_ = temporary;
}

WholeFolder::~WholeFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
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
