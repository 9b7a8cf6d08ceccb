#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sortie {

/// A file or standard input read from front to back; gzip is recognised by its content.
///
/// Handles single- and multi-member gzip and bgzf. Reading past a cut-off or damaged gzip stream is
/// an error, never a short result.
class ByteSource {
 public:
  /// \param path  file name; "-" is standard input
  /// \throws Error (input) when it cannot be opened or is a folder
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;

  /// Fills `into` from the front as far as there is data; returns the bytes written, less than
  /// `into.size()` only at the end.
  /// \throws Error (input) naming the file and the compressed byte where the stream is damaged
  [[nodiscard]] std::size_t read(std::span<char> into);

  /// The name to show in messages ("<stdin>" for "-").
  [[nodiscard]] const std::string& name() const;

  /// Size of the file in bytes (compressed size for gzip); 0 when it has none (a pipe).
  [[nodiscard]] std::uint64_t size_hint() const;
  /// A guess of the bytes that read() will give in all: exact for a plain file and for gzip of one
  /// member below 4 GiB; 0 when nothing is known. Never far too large, even for a forged file.
  [[nodiscard]] std::uint64_t content_size_hint() const;
  [[nodiscard]] bool compressed() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Bytes in memory, not zeroed before they are read into.
struct ByteBuffer {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;

  [[nodiscard]] std::span<const char> span() const { return {data.get(), size}; }
};

/// Reads everything that `path` ("-": standard input) holds, decompressed.
/// \throws Error as ByteSource
[[nodiscard]] ByteBuffer read_all(const std::string& path);

}  // namespace sortie
