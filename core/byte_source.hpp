// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sortie {

/// Reads a file or standard input from front to back. Gzip, also of several members, and bgzf are
/// recognised by content. A truncated or damaged gzip stream is an error, never a short result.
class ByteSource {
 public:
  enum class Content {
    any,  ///< gzip is decompressed
    raw,  ///< all bytes are returned as they are
  };

  /// \param path  file name; "-" is standard input
  /// \throws Error (input) if it cannot be opened or is a folder
  explicit ByteSource(const std::string& path, Content content = Content::any);
  ~ByteSource();

  /// Returns the number of bytes read, which is less than `into.size()` only at the end.
  /// \throws Error (input) naming the file and the compressed byte at which the stream is damaged
  [[nodiscard]] std::size_t read(std::span<char> into);

  /// The name for messages ("<stdin>" for "-").
  [[nodiscard]] const std::string& name() const;

  /// Size of the file in bytes (compressed size for gzip); 0 for a pipe.
  [[nodiscard]] std::uint64_t size_hint() const;
  /// Estimate of the total bytes that read() will return: exact for a plain file and for gzip of
  /// one member below 4 GiB; 0 if unknown. At most 1032 times the compressed size, even for a
  /// forged file.
  [[nodiscard]] std::uint64_t content_size_hint() const;
  [[nodiscard]] bool compressed() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Bytes in memory, not zeroed on allocation.
struct ByteBuffer {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;

  [[nodiscard]] std::span<const char> span() const { return {data.get(), size}; }
};

/// Reads the whole content of `path` ("-": standard input), decompressed.
/// \param memory_budget  bytes that the call may take; 0: no limit
/// \throws Error as for ByteSource, (out_of_memory)
[[nodiscard]] ByteBuffer read_all(const std::string& path, std::uint64_t memory_budget = 0);

}  // namespace sortie
