// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inverted_index/index_layout.hpp"
#include "apps/inverted_index/packed_block.hpp"
#include "sortie/error.hpp"

namespace sortie::indexing {

/// The postings of a term.
struct TermPostings {
  std::uint64_t documents = 0;
  std::uint64_t occurrences = 0;
  std::uint64_t begin = 0;  ///< first byte in the file
  std::uint64_t bytes = 0;
};

/// An index file in memory, whose bytes are checked before they are used.
class MappedIndex {
 public:
  /// \throws Error (input)
  explicit MappedIndex(const std::string& path);
  ~MappedIndex();
  MappedIndex(const MappedIndex&) = delete;
  MappedIndex& operator=(const MappedIndex&) = delete;

  [[nodiscard]] const IndexHeader& header() const { return header_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string stemmer() const;

  /// The postings of a term, if it is in the index. \throws Error (input)
  [[nodiscard]] std::optional<TermPostings> find(std::string_view term) const;
  /// Calls visit() for all terms in ascending order. \throws Error (input)
  void for_each_term(const std::function<void(std::string_view, const TermPostings&)>& visit) const;

  /// \pre document < header().documents
  [[nodiscard]] std::string_view document_name(std::uint32_t document) const;
  [[nodiscard]] std::uint32_t document_length(std::uint32_t document) const {
    return load<std::uint32_t>(bytes(
        header_.lengths_begin + sizeof(document) * std::uint64_t{document}, sizeof(document)));
  }
  /// The average length of documents.
  [[nodiscard]] double average_length() const {
    return header_.documents == 0
               ? 0
               : static_cast<double>(header_.occurrences) / static_cast<double>(header_.documents);
  }

  /// Bytes of the file, whose checksums are right. \throws Error (input)
  [[nodiscard]] const char* bytes(std::uint64_t begin, std::uint64_t size) const {
    if (begin < sizeof(header_) || begin > header_.checksums_begin ||
        size > header_.checksums_begin - begin)
      fail("a place outside of its section");
    if (size > 0) {
      const std::uint64_t last = (begin + size - 1 - sizeof(header_)) / checked_bytes;
      for (std::uint64_t block = (begin - sizeof(header_)) / checked_bytes; block <= last; ++block)
        if (!checked_[block].load(std::memory_order_relaxed)) check(block);
    }
    return data_ + begin;
  }
  /// \throws Error (input) "FILE: found FOUND, expected ..."
  [[noreturn]] void fail(std::string_view found) const;

 private:
  void check(std::uint64_t block) const;
  [[nodiscard]] std::uint64_t term_block(std::uint64_t block) const;
  /// Calls visit(term, postings) for the terms of a block until it returns false.
  template <class Visit>
  void visit_block(std::uint64_t block, const Visit& visit) const;

  std::string path_;
  const char* data_ = nullptr;
  std::uint64_t size_ = 0;
  IndexHeader header_{};
  std::uint64_t term_blocks_ = 0;
  std::unique_ptr<std::atomic<bool>[]> checked_;
};

/// Goes through the postings of a term.
class PostingCursor {
 public:
  static constexpr std::uint32_t end_document = 0xffffffff;

  /// At the first document. \throws Error (input), as do all functions
  PostingCursor(const MappedIndex& index, const TermPostings& postings);

  /// The document; end_document after the last one.
  [[nodiscard]] std::uint32_t document() const { return document_; }
  /// The frequency in the document. \pre document() != end_document
  [[nodiscard]] std::uint32_t frequency() {
    if (!has_frequencies_) load_frequencies();
    return frequencies_[at_];
  }
  /// The positions in the document, ascending. \pre the index has positions
  void positions(std::vector<std::uint64_t>& positions);

  void next() {
    if (++at_ < count_) [[likely]] {
      document_ = documents_[at_];
    } else {
      load(block_ + 1);
    }
  }
  /// Goes to the first document that is at least `target`, unless it is there already.
  void advance(std::uint32_t target);

  [[nodiscard]] std::uint64_t documents() const { return postings_.documents; }
  /// Full blocks, which can be skipped.
  [[nodiscard]] std::uint64_t full_blocks() const { return full_blocks_; }
  [[nodiscard]] PostingSkip skip(std::uint64_t block) const {
    return sortie::indexing::load<PostingSkip>(
        index_->bytes(skips_begin_ + block * sizeof(PostingSkip), sizeof(PostingSkip)));
  }

 private:
  /// Loads the documents of a block, the last one of which may not be full.
  void load(std::uint64_t block);
  void load_last();
  void load_frequencies();

  const MappedIndex* index_;
  TermPostings postings_;
  std::uint64_t full_blocks_;
  std::uint64_t skips_begin_;  ///< in the file
  std::uint64_t block_ = 0;
  std::uint32_t document_ = end_document;
  std::uint32_t at_ = 0;
  std::uint32_t count_ = 0;  ///< documents of the block
  bool has_frequencies_ = false;
  // Of the block, in the file:
  const char* packed_frequencies_ = nullptr;
  int frequency_bits_ = 0;
  const char* positions_ = nullptr;
  const char* positions_end_ = nullptr;
  std::array<std::uint32_t, packed_numbers> documents_;
  std::array<std::uint32_t, packed_numbers> frequencies_;
};

}  // namespace sortie::indexing
