// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sortie {

/// The content of a file, decompressed, in pieces that several threads load: the steps `take` and
/// `work` of run_blocks() call take() and load().
///
/// | file                        | before                | take()                 | load()       |
/// |-----------------------------|-----------------------|------------------------|--------------|
/// | plain                       |                       | chooses a range        | reads it     |
/// | bgzf                        |                       | reads blocks           | decompresses |
/// | gzip, within the memory     | decompresses it whole | chooses a range        |              |
/// | pipe, standard input, zstd, |                       | reads and decompresses |              |
/// | gzip beyond the memory      |                       |                        |              |
class PieceSource {
 public:
  struct Options {
    int workers = 1;              ///< threads that load pieces, at least 1
    std::size_t piece_bytes = 1;  ///< most bytes of a piece, at least 1; bgzf: 64 KiB more
    std::uint64_t memory = 0;     ///< bytes that the content and its consumer's copy may take
  };

  /// Thrown by take() and load() for a bgzf file that is not well-formed. It has to be read again,
  /// after read_in_order(); the errors of that tell what is wrong.
  struct NotWellFormed {};

  /// \param path  file name; "-" is standard input
  /// \throws Error as ByteSource, (input) the file cannot be read
  PieceSource(const std::string& path, const Options& options);
  ~PieceSource();
  PieceSource(const PieceSource&) = delete;
  PieceSource& operator=(const PieceSource&) = delete;

  /// The name for messages ("<stdin>" for "-").
  [[nodiscard]] const std::string& name() const;
  /// As those of ByteSource.
  [[nodiscard]] std::uint64_t size_hint() const;
  [[nodiscard]] bool compressed() const;
  /// Workers that load pieces at the same time: one where take() does the work, else those of the
  /// options. A decoder of zstd that moves between two threads takes twice as long, since what it
  /// refers to is in the cache of the other one; the parser takes a tenth of its time.
  [[nodiscard]] int workers() const;
  /// Bytes of content that are in memory as a whole.
  [[nodiscard]] std::uint64_t held_bytes() const;

  /// Takes the next piece for a worker. One call at a time. Returns false at the end.
  /// \throws Error (input), NotWellFormed
  [[nodiscard]] bool take(int worker);

  /// The bytes of the piece that the worker took last, until its next one. Workers may call it at
  /// the same time. \throws Error (input), NotWellFormed
  [[nodiscard]] std::span<const char> load(int worker);

  /// Whether the file has shrunk and ended within the piece, which load() has returned: the pieces
  /// after it are not part of the file.
  [[nodiscard]] bool is_last(int worker) const;

  /// Starts again from the front of the file, without bgzf blocks.
  /// \pre take() or load() has thrown NotWellFormed, and no other call is under way
  void read_in_order();

 private:
  class Pieces;
  class FileRanges;
  class BgzfBlocks;
  class MemoryRanges;
  class Stream;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie
