// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/byte_source.hpp"
#include "sortie/corpus.hpp"

/// Files of a corpus as blocks of content that end between documents.
namespace sortie::texts {

/// Memory of the blocks of a corpus, of all threads.
class BlockMemory {
 public:
  /// \param limit  bytes; 0: none
  explicit BlockMemory(std::uint64_t limit) : limit_(limit) {}

  /// \throws Error (out_of_memory) naming the file
  void take(std::uint64_t bytes, const std::string& file);
  void give_back(std::uint64_t bytes) { held_ -= bytes; }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> held_ = 0;
};

/// An array of bytes that grows and keeps its memory. Its new bytes are not initialised.
class BlockBuffer {
 public:
  explicit BlockBuffer(BlockMemory& memory) : memory_(&memory) {}
  ~BlockBuffer() { memory_->give_back(capacity_); }
  BlockBuffer(const BlockBuffer&) = delete;
  BlockBuffer& operator=(const BlockBuffer&) = delete;

  /// Makes `size` bytes available, of which the first `kept` remain.
  /// \throws Error (out_of_memory) naming the file
  void reserve(std::size_t size, std::size_t kept, const std::string& file);
  void swap(BlockBuffer& other) noexcept;

  [[nodiscard]] char* data() { return data_.get(); }
  [[nodiscard]] const char* data() const { return data_.get(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  BlockMemory* memory_;
  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
};

/// Where the documents of a file with separators begin, and its end. Ascending from 0.
using DocumentBegins = std::vector<std::uint64_t>;

/// Bytes of the separator before each document; 0 in formats without.
[[nodiscard]] std::size_t separator_bytes(Format format, int token_bytes);

/// A block of the content of a file.
struct ContentBlock {
  explicit ContentBlock(BlockMemory& memory) : bytes(memory) {}

  BlockBuffer bytes;  ///< json_padding more than `size`
  std::size_t size = 0;
  std::uint64_t offset = 0;                      ///< in the content
  std::shared_ptr<const DocumentBegins> begins;  ///< of files with separators
  bool is_first = false;                         ///< of the file
  bool is_last = false;

  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
  void swap(ContentBlock& other) noexcept;
};

/// Whether the name of a file says that it is compressed.
[[nodiscard]] bool is_named_packed(std::string_view path);
/// Whether the name of a file says that it is JSONL.
[[nodiscard]] bool is_named_jsonl(std::string_view path);

/// A file that is read block by block, of which there is at least one. JSONL is divided at ends of
/// lines; plain files, if at all, between characters.
class FileContent {
 public:
  /// \param decoders  as those of ByteSource
  /// \throws Error as ByteSource
  FileContent(const std::string& path, const CorpusOptions& options, std::size_t block_bytes,
              BlockMemory& memory, int decoders = 1);

  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] const ByteSource& source() const { return source_; }

  /// Reads the next block. \pre the block before was not the last
  /// \throws Error (input, out_of_memory)
  void next(ContentBlock& block);

 private:
  [[nodiscard]] Format find_format();
  void read_ahead(std::size_t size);
  [[nodiscard]] std::size_t fill(ContentBlock& block, std::size_t filled, std::size_t wanted);
  [[nodiscard]] std::size_t cut(std::string_view content) const;
  [[nodiscard]] std::shared_ptr<const DocumentBegins> read_begins() const;

  std::string path_;
  const CorpusOptions& options_;
  std::size_t block_bytes_;
  ByteSource source_;
  BlockBuffer ahead_;  ///< content that follows the last block
  std::size_t ahead_size_ = 0;
  bool ended_ = false;  ///< there is no content behind `ahead_`
  bool started_ = false;
  std::uint64_t offset_ = 0;  ///< of the next block
  Format format_;
  std::shared_ptr<const DocumentBegins> begins_;
};

/// The same, read by a thread of its own some blocks ahead if the file is compressed: the decoder
/// stays on one core, whose cache has the window that it refers to.
class ContentReader {
 public:
  /// Does not throw what FileContent does; next() does.
  /// \param blocks_ahead  most blocks that are read ahead; 0: none, without a thread
  ContentReader(const std::string& path, const CorpusOptions& options, std::size_t block_bytes,
                BlockMemory& memory, int blocks_ahead, int decoders);
  ~ContentReader();
  ContentReader(const ContentReader&) = delete;
  ContentReader& operator=(const ContentReader&) = delete;

  /// \pre next() has returned
  [[nodiscard]] const FileContent& file() const;
  /// As FileContent::next(). \throws Error as FileContent
  void next(ContentBlock& block);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie::texts
