// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/files/byte_buffer.hpp"
#include "core/files/input_file.hpp"
#include "core/files/stream_decoder.hpp"

namespace sortie {

/// Reads a file or standard input from front to back. Gzip, also of several members, bgzf and zstd,
/// also of several frames, are recognised by content. A truncated or damaged stream is an error,
/// never a short result.
class ByteSource {
 public:
  enum class Content {
    any,  ///< gzip and zstd are decompressed
    raw,  ///< all bytes are returned as they are
  };

  /// \param path     file name; "-" is standard input
  /// \param threads  threads that read large ranges of a file that is not compressed, at least 1;
  ///                 what they return does not depend on it
  /// \param decoders  threads that decompress zstd files of several frames, which then take up to 384
  ///                  MiB
  /// \throws Error (input) if it cannot be opened or is a folder; (unavailable) it is zstd and this
  ///         build has no libzstd
  explicit ByteSource(const std::string& path, Content content = Content::any, int threads = 1,
                      int decoders = 1);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Returns the number of bytes read, which is less than `into.size()` only at the end.
  /// \throws Error (input) naming the file and the compressed byte at which the stream is damaged
  [[nodiscard]] std::size_t read(std::span<char> into);

  /// The name for messages ("<stdin>" for "-").
  [[nodiscard]] const std::string& name() const;

  /// Size of the file in bytes (compressed size for gzip and zstd); 0 for a pipe.
  [[nodiscard]] std::uint64_t size_hint() const;
  /// Estimate of the total bytes that read() will return: exact for a plain file, for gzip of one
  /// member below 4 GiB, and for zstd of one frame that declares it; 0 if unknown. At most 1032
  /// times the compressed size, even for a forged file.
  [[nodiscard]] std::uint64_t content_size_hint() const;
  [[nodiscard]] bool compressed() const;
  [[nodiscard]] Encoding encoding() const;

  /// The file itself, for readers that take its bytes in another order.
  [[nodiscard]] const InputFile& file() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads the whole content of `path` ("-": standard input), decompressed. Several threads read a
/// plain file and decompress a bgzf file; pipes, and gzip files of one member, take one thread.
/// \param memory_budget  bytes that the call may take; 0: no limit
/// \param threads        at least 1
/// \throws Error as for ByteSource, (out_of_memory)
/// Memory: the content. That of a pipe or a zstd file doubles its allocation while it grows; a gzip
/// file is in memory as well, if the budget, or the free memory, allows it.
[[nodiscard]] ByteBuffer read_all(const std::string& path, std::uint64_t memory_budget = 0,
                                  int threads = 1);

}  // namespace sortie
