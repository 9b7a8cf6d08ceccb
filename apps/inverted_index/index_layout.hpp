// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

/// The layout of index files; docs/inverted-index.md describes it for users. All numbers are
/// little-endian.
namespace sortie::indexing {

inline constexpr std::string_view index_magic = "sortieIX";
inline constexpr std::uint32_t index_version = 1;

enum IndexFlags : std::uint32_t { has_positions = 1, has_kmers = 2, has_canonical_kmers = 4 };

/// The first bytes of an index file.
struct IndexHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t flags;
  std::uint32_t kmer_length;
  std::array<char, 20> stemmer;  ///< its name, filled up with zeros
  std::uint64_t documents;
  std::uint64_t terms;
  std::uint64_t postings;
  std::uint64_t occurrences;
  // First bytes of sections, in the order of the file. The postings begin at sizeof(IndexHeader).
  std::uint64_t terms_begin;
  std::uint64_t term_blocks_begin;
  std::uint64_t lengths_begin;
  std::uint64_t name_ends_begin;
  std::uint64_t names_begin;
  std::uint64_t checksums_begin;
  std::uint64_t file_bytes;
  std::uint64_t checksums_checksum;  ///< block_checksum() of the section of checksums
  std::array<std::uint64_t, 14> unused;
  std::uint64_t header_checksum;  ///< block_checksum() of the bytes before
};
static_assert(sizeof(IndexHeader) == 256);

/// Bytes of the file, from the header on, to which one checksum belongs.
inline constexpr std::uint64_t checked_bytes = std::uint64_t{1} << 16;

/// Terms of a block; its first term is stored whole.
inline constexpr std::uint64_t block_terms = 32;

/// A full block of postings, for skipping it.
struct PostingSkip {
  std::uint32_t last_document;
  std::uint32_t least_length;  ///< of the documents
  std::uint64_t end_and_frequency;

  /// Offset after the block in its list.
  [[nodiscard]] std::uint64_t end() const { return end_and_frequency >> frequency_bits; }
  /// The greatest frequency; most_frequency stands for all that are as great or greater.
  [[nodiscard]] std::uint32_t frequency() const {
    return static_cast<std::uint32_t>(end_and_frequency & most_frequency);
  }
  static constexpr int frequency_bits = 24;
  static constexpr std::uint64_t most_frequency = (std::uint64_t{1} << frequency_bits) - 1;
};
static_assert(sizeof(PostingSkip) == 16);

/// Reads a number of a file at any address.
template <class Number>
[[nodiscard]] Number load(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

}  // namespace sortie::indexing
