// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/files/whole_file.hpp"
#include "sortie/corpus.hpp"

/// Files that are compressed while they are written.
namespace sortie::texts {

/// A block on its way into a CompressedFile. One thread at a time.
class PackedBlock {
 public:
  PackedBlock();
  ~PackedBlock();
  PackedBlock(PackedBlock&&) noexcept;
  PackedBlock& operator=(PackedBlock&&) noexcept;

  /// Compresses bytes for gzip, which need not be there afterwards; for other files, refers to them.
  /// \throws Error (out_of_memory)
  void pack(Compression compression, std::span<const char> bytes);

 private:
  friend class CompressedFile;
  struct Deflater;
  std::unique_ptr<Deflater> deflater_;
  std::span<const char> bytes_;  ///< as they are written to the file, or to its encoder
  std::uint64_t content_size_ = 0;
  std::uint64_t checksum_ = 0;  ///< CRC-32 of the content
};

/// A file of blocks. Gzip: one member, whose blocks are compressed apart from each other and end at
/// a byte. Zstd: one frame with a checksum, compressed by threads of libzstd if it is large.
class CompressedFile {
 public:
  /// \param workers   threads of libzstd; the result does not depend on them
  /// \param expected  bytes of content, of which the result may depend
  /// \throws Error (output); (unavailable) zstd without libzstd in this build
  CompressedFile(const std::string& path, Compression compression, int workers,
                 std::uint64_t expected);
  ~CompressedFile();
  CompressedFile(const CompressedFile&) = delete;
  CompressedFile& operator=(const CompressedFile&) = delete;

  /// Appends a block that was packed for this compression. \throws Error (output)
  void append(const PackedBlock& block);
  /// Writes what is left, and gives the file its name. \throws Error (output)
  void commit();

 private:
  struct ZstdEncoder;
  WholeFile file_;
  Compression compression_;
  std::unique_ptr<ZstdEncoder> encoder_;
  std::uint64_t content_size_ = 0;
  std::uint64_t checksum_ = 0;
};

}  // namespace sortie::texts
