// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "apps/text_deduplication/duplicate_marks.hpp"
#include "sortie/corpus.hpp"

namespace sortie::texts::host {

/// How far the passes are.
struct Progress {
  std::uint64_t bins = 0;  ///< parts of all hashes
  std::uint64_t passes = 0;
};

/// A file with the marks after a pass, from which a later run goes on. Format, in words of 8 bytes,
/// little-endian:
///
///     magic, fingerprint, bins, passes, duplicate windows, least copies, copies[41],
///     number of first windows, words of the marks, words of the protected marks,
///     first windows (begin, copies, windows), marks, protected marks, checksum
class StateFile {
 public:
  /// \param path   empty: nothing is written
  /// \param files   of the corpus, after its first pass
  /// \param method  a number for the hashes that divide the work into passes
  StateFile(std::string path, const DeduplicationOptions& options, std::size_t other_file,
            std::span<const CorpusFile> files, std::uint64_t method);

  /// Reads the marks if the file belongs to the same files and options and is complete.
  [[nodiscard]] Progress read(DuplicateMarks& marks) const;
  /// Replaces the file as a whole. \throws Error (output)
  void write(DuplicateMarks& marks, const Progress& progress) const;

 private:
  std::string path_;
  std::uint64_t fingerprint_;
};

}  // namespace sortie::texts::host
