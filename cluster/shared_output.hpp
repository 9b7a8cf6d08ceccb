// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/files/temporary_name.hpp"
#include "core/files/whole_file.hpp"
#include "sortie/cluster.hpp"

namespace sortie::cluster {

/// A file that all ranks write, each its own ranges. It appears whole or not at all: rank 0 creates
/// a temporary file beside it, which all ranks open, and renames it at the end.
///
/// \pre all ranks see the same file system. The constructor finds out.
class SharedOutput {
 public:
  /// Collective. \throws Error (output) the folder cannot be written, a rank does not see the
  /// temporary file, or the path is not a regular file
  SharedOutput(Ranks& ranks, const std::string& path);
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  /// Writes bytes of this rank. Not collective; several threads may call it. \throws Error (output)
  void write_at(std::uint64_t offset, std::span<const char> bytes) const;

  /// Collective, phase "close output": all that needs space or may report that earlier bytes were
  /// lost. Only renaming is left then. Of files that belong together, all are prepared before one is
  /// committed. \param bytes  length of the file \throws Error (output)
  void prepare(std::uint64_t bytes);

  /// Collective, phase "rename output": the file gets its name. \pre prepare() was called
  /// \throws Error (output)
  void commit();

 private:
  /// Closes its file, also where the constructor throws.
  struct Descriptor {
    Descriptor() = default;
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int number = -1;
  };

  Ranks& ranks_;
  std::string path_;
  std::optional<WholeFile> file_;  ///< on rank 0
  Descriptor others_;              ///< on the others
  /// On the others until the file is closed: if rank 0 is killed, a signal that ends one of them
  /// removes the file.
  TemporaryName name_of_others_;
};

}  // namespace sortie::cluster
