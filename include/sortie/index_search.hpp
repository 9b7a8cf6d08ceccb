// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"

/// Searches in inverted indexes (inverted_index.hpp).
namespace sortie::indexing {

class MappedIndex;

/// An index file, mapped to memory. Several threads may search it at the same time.
///
/// Nothing of the file is trusted: the header and the table of checksums are checked when it is
/// opened, and every block of 64 KiB by its checksum when it is first used. So searches, too, throw
/// Error (input) if the file is damaged.
class SORTIE_API InvertedIndex {
 public:
  /// \throws Error (input) the file cannot be read, is not an index, is truncated or damaged
  explicit InvertedIndex(const std::string& path);
  ~InvertedIndex();
  InvertedIndex(InvertedIndex&&) noexcept;
  InvertedIndex& operator=(InvertedIndex&&) noexcept;

  [[nodiscard]] std::uint64_t documents() const;
  [[nodiscard]] std::uint64_t terms() const;
  [[nodiscard]] std::uint64_t postings() const;
  [[nodiscard]] std::uint64_t occurrences() const;
  [[nodiscard]] bool has_positions() const;
  [[nodiscard]] int kmer_length() const;  ///< 0: terms are words
  [[nodiscard]] bool is_canonical() const;
  [[nodiscard]] std::string stemmer() const;  ///< empty: words are not stemmed

  /// \pre document < documents()
  [[nodiscard]] std::string document_name(std::uint32_t document) const;
  /// Occurrences of terms in a document. \pre document < documents()
  [[nodiscard]] std::uint32_t document_length(std::uint32_t document) const;

  [[nodiscard]] const MappedIndex& mapped() const { return *mapped_; }

 private:
  std::unique_ptr<MappedIndex> mapped_;
};

/// A document that was found.
struct Hit {
  std::uint32_t document = 0;  ///< number, from 0
  double score = 0;
  friend bool operator==(const Hit&, const Hit&) = default;
};

/// Parameters of search_bm25(). The defaults of k1 and b are those of PISA and Anserini.
struct Bm25Options {
  double k1 = 0.9;
  double b = 0.4;
  std::uint64_t top = 10;  ///< documents wanted
};

/// The documents with the highest BM25 scores, by descending score, equal scores by document.
///
/// The score of a document of length l is the sum over the words of the query, in their order, of
///
///     ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * l / average length))
///
/// where n of N documents have the word, and this one f times. A word counts as often as it is in
/// the query. Documents without any of the words are not found.
/// \throws Error (usage) the index is one of k-mers, or a parameter is out of range; (input)
/// Complexity: at most O(postings of the words); lists that cannot change the result are skipped
/// (MaxScore). Memory: `top` and a block of postings for each word.
/// Source: Turtle and Flood: Query evaluation: strategies and optimizations (Information Processing
/// and Management 1995).
[[nodiscard]] SORTIE_API std::vector<Hit> search_bm25(const InvertedIndex& index,
                                                      std::string_view query,
                                                      const Bm25Options& options = {});

/// The documents that satisfy a boolean expression, ascending.
///
///     expression  =  term AND term, or term term, or term OR term; AND binds more strongly
///     term        =  word, NOT term, (expression), or "several words" that follow each other
///
/// Words are as in documents; one with other characters inside, such as don't, counts as several
/// words that all must occur. Words that follow each other require an index with positions.
/// \param most  documents wanted
/// \throws Error (usage) a query that is empty or not well-formed; the index is one of k-mers, or
///         has no positions for words that follow each other; (input)
/// Complexity: AND of k documents in the shortest list and n in another one: O(k log(n / k)).
[[nodiscard]] SORTIE_API std::vector<std::uint32_t> search_boolean(
    const InvertedIndex& index, std::string_view query,
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Checks the result of search_bm25() by the scores of all documents.
/// \throws Error (check) it differs; as search_bm25()
/// Memory: 24 bytes for each document.
SORTIE_API void check_bm25(const InvertedIndex& index, std::string_view query,
                           const Bm25Options& options, std::span<const Hit> hits);

/// Checks the result of search_boolean() by whole lists of documents.
/// \throws Error (check) it differs; as search_boolean()
SORTIE_API void check_boolean(const InvertedIndex& index, std::string_view query,
                              std::uint64_t most, std::span<const std::uint32_t> documents);

/// The documents that hold at least a share of the distinct k-mers of a sequence, by descending
/// share, which is the score, equal shares by document.
/// \param share  above 0, at most 1
/// \throws Error (usage) the index is one of words; the share is out of range; (input)
/// Complexity: O(postings of the k-mers). Memory: 4 bytes for each document of the index.
[[nodiscard]] SORTIE_API std::vector<Hit> search_kmers(const InvertedIndex& index,
                                                       std::string_view sequence, double share);

}  // namespace sortie::indexing
