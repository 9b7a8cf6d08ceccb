// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sortie::test {

/// A new empty folder that is removed with all it holds at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  /// \param base  the folder in which it is made
  explicit TemporaryFolder(const std::filesystem::path& base) {
    std::string name = (base / "sortie-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("no temporary folder can be made at " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// The path of `name` inside the folder.
  [[nodiscard]] std::string path(std::string_view name) const { return (path_ / name).string(); }

  /// Writes a file into the folder and returns its path.
  [[nodiscard]] std::string write(std::string_view name, std::string_view content) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file << content;
    if (!file.flush()) throw std::runtime_error("cannot write " + path(name));
    return path(name);
  }

  /// Number of entries in the folder.
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

/// The whole content of a file.
inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace sortie::test
