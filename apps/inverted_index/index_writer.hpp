// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inverted_index/index_layout.hpp"
#include "apps/inverted_index/packed_block.hpp"
#include "apps/sort/spill_file.hpp"
#include "core/files/whole_file.hpp"
#include "sortie/inverted_index.hpp"

namespace sortie::indexing {

/// Bytes that are appended, and copied to a file at the end. Most of them are in a temporary file.
class SpilledBytes {
 public:
  explicit SpilledBytes(std::string folder) : folder_(std::move(folder)) {}
  void append(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= most_buffered) spill();
  }
  template <class Number>
  void append_number(Number number) {
    append({reinterpret_cast<const char*>(&number), sizeof(number)});
  }
  [[nodiscard]] std::uint64_t size() const { return spilled_ + buffer_.size(); }
  void copy_to(WholeFile& file);

 private:
  static constexpr std::size_t most_buffered = std::size_t{1} << 20;
  void spill();

  std::string folder_;
  std::string buffer_;
  std::uint64_t spilled_ = 0;
  std::optional<sorting::SpillFile> file_;
};

/// Makes the postings of one term after the other, in the form of the file.
class PostingsEncoder {
 public:
  /// \param lengths  of all documents
  /// \param out      receives the bytes
  /// \param flush    called after each block of postings; it may write `out` and empty it
  PostingsEncoder(std::span<const std::uint32_t> lengths, std::string& out,
                  std::function<void()> flush)
      : lengths_(lengths), out_(out), flush_(std::move(flush)) {}

  /// Adds occurrences in a document, the last one again or a later one.
  void add(std::uint32_t document, std::uint64_t frequency) {
    occurrences_ += frequency;
    if (count_ > 0 && documents_[count_ - 1] == document) {
      frequencies_[count_ - 1] += static_cast<std::uint32_t>(frequency);
      return;
    }
    if (count_ == packed_numbers) end_block();
    documents_[count_] = document;
    frequencies_[count_++] = static_cast<std::uint32_t>(frequency);
    last_position_ = 0;
  }
  /// Adds the position of an occurrence that add() has counted. Positions ascend.
  void add_position(std::uint64_t position);

  /// What a list has.
  struct List {
    std::uint64_t documents;
    std::uint64_t occurrences;
    std::uint64_t bytes;
  };
  /// Ends the list.
  List finish();

 private:
  void end_block();
  void append(std::string_view bytes) {
    out_.append(bytes);
    bytes_ += bytes.size();
  }

  std::span<const std::uint32_t> lengths_;
  std::string& out_;
  std::function<void()> flush_;
  std::array<std::uint32_t, packed_numbers> documents_;
  std::array<std::uint32_t, packed_numbers> frequencies_;
  std::size_t count_ = 0;
  std::uint32_t before_ = ~std::uint32_t{0};  ///< last document of the block before
  std::uint64_t last_position_ = 0;
  std::string position_bytes_;  ///< of the block
  std::vector<PostingSkip> skips_;
  std::uint64_t bytes_ = 0;
  std::uint64_t occurrences_ = 0;
};

/// Writes an index file.
class IndexWriter {
 public:
  /// \throws Error (usage) the path is a pipe or a device; (output)
  IndexWriter(const std::string& path, const IndexOptions& options);

  /// The file, to which postings are appended in the order of terms.
  [[nodiscard]] WholeFile& file() { return file_; }
  /// Adds the term whose postings follow those of the term before.
  void add_term(std::string_view term, const PostingsEncoder::List& list);

  /// Adds documents. The first one may continue the last one that was added.
  void add_documents(const Documents& block, std::span<const std::uint32_t> lengths);
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return lengths_; }
  [[nodiscard]] std::uint64_t documents() const { return lengths_.size(); }

  /// Writes what follows the postings, and checksums, and names the file.
  /// \param figures  receives the figures of the file
  void finish(int threads, IndexFigures& figures);

 private:
  WholeFile file_;
  IndexHeader header_{};
  std::vector<std::uint32_t> lengths_;
  SpilledBytes name_ends_;
  SpilledBytes names_;
  SpilledBytes terms_;
  SpilledBytes term_blocks_;
  std::string last_term_;
  std::string entry_;
  std::uint64_t next_postings_ = 0;  ///< offset of the next list in the section
};

}  // namespace sortie::indexing
