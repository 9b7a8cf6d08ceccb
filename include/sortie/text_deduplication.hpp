// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/corpus.hpp"
#include "sortie/export.hpp"

/// Exact deduplication of texts: passages of at least L bytes that occur more than once.
///
/// A window is the L bytes from an offset on, within one document. Two occurrences of a window may
/// overlap. A window that occurs more than once is a duplicate; the occurrence with the least
/// offset is its first one.
namespace sortie::texts {

/// Which bytes are removed.
enum class Keep {
  none,   ///< those of all duplicates: of every passage that occurs twice, nothing remains
  first,  ///< those of all duplicates but the first occurrence of each
};

/// "none" or "first".
[[nodiscard]] SORTIE_API std::string_view name(Keep keep);
/// The inverse of name(). \throws Error (usage)
[[nodiscard]] SORTIE_API Keep parse_keep(std::string_view text);

/// Limits of DeduplicationOptions::min_length and of the size of a text.
inline constexpr std::uint64_t most_min_length = std::uint64_t{1} << 20;
inline constexpr std::uint64_t most_text_bytes = std::uint64_t{1} << 40;

struct DeduplicationOptions {
  std::uint64_t min_length = 100;  ///< L, in bytes, from 1 to most_min_length
  Keep keep = Keep::none;
  /// With Keep::first: bytes of a first occurrence are never removed, though they may be part of a
  /// later occurrence of another window. Without it, a run of period p keeps p bytes only.
  bool protect_first = false;
  bool across_documents = false;  ///< windows may cross borders of documents
  /// Ranges are reduced to whole_characters() of UTF-8.
  bool whole_characters = true;
  /// What remains between two ranges of a document, or between a range and the border of the
  /// document, is removed as well if it has fewer bytes.
  std::uint64_t min_island = 0;
  /// Documents from this number on are another corpus. Then all windows that occur in both corpora
  /// are duplicates, and no others. Requires Keep::none. Windows must not cross the border between
  /// the corpora.
  std::uint64_t other_corpus = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] bool has_other_corpus() const {
    return other_corpus != std::numeric_limits<std::uint64_t>::max();
  }
};

/// A passage of which every window occurs equally often.
struct Passage {
  std::uint64_t begin = 0;  ///< of the first occurrence
  std::uint64_t end = 0;
  std::uint64_t copies = 0;  ///< occurrences, the first one included

  friend bool operator==(const Passage&, const Passage&) = default;
};

/// Element i of a histogram counts the numbers from 2^i to 2^(i+1) - 1.
using PowerHistogram = std::array<std::uint64_t, 41>;

/// What deduplication removes, and what it found. Nothing in it depends on threads or memory.
struct Deduplication {
  std::uint64_t text_bytes = 0;
  std::uint64_t documents = 0;
  /// Bytes to remove: ascending, disjoint, not touching each other; also over borders of documents.
  /// With another corpus, its ranges are among them: other_begin separates them.
  std::vector<ByteRange> ranges;
  std::uint64_t other_begin = 0;  ///< offset of the other corpus; text_bytes without one

  std::uint64_t duplicate_windows = 0;  ///< offsets of duplicates, first occurrences included
  std::uint64_t bytes_removed = 0;
  std::uint64_t documents_changed = 0;
  std::uint64_t documents_emptied = 0;  ///< all of their bytes are removed
  PowerHistogram range_lengths{};       ///< number of ranges by length
  PowerHistogram copies{};              ///< duplicate_windows by the number of occurrences
  /// The 100 most repeated passages, by descending copies, then descending length, then offset.
  std::vector<Passage> passages;
  /// Passages with fewer copies were not considered. 2, but in streams with very many duplicates.
  std::uint64_t least_copies_of_passages = 2;
};

/// Finds duplicates of a text in memory.
///
/// \param context  backend, threads; memory budget of all but the operands; progress: "anchors" in
///                 bytes of text, "groups" in passes; report: phases "anchors", "sort
///                 anchors", "groups" and "ranges", and figures "passes" and "anchors"
/// \param text     the documents, one after the other
/// \param begins   offset of each document, ascending, the first at 0; then the size of the text
/// \throws Error (usage) an option out of range; begins that are not ascending
/// \throws Error (out_of_memory)
///
/// Each window is represented by one of its k-grams, the one with the least hash (its anchor), so
/// that equal windows have equal anchors at equal places. Neighbouring windows share anchors: there
/// are about 2/(L-k+2) of them a byte, where k is half of L up to 24. Anchors are sorted by another
/// hash. Those that are equal are compared to the left and to the right, which decides for all their
/// windows at once.
///
/// Complexity: O(n + d) expected, for d bytes in duplicates and in windows with equal anchors.
/// On a GPU, all equal anchors are compared with the first one at once, in rounds. What is left after
/// some rounds is divided into windows, by a hash of all of their bytes.
///
/// Memory: n/8 bytes for one bit per offset, twice with `protect_first`; 32 bytes per anchor (L =
/// 100: 0.8 n) in one or, within the memory budget, several passes; 24 bytes for each pair of
/// equal anchors. On a GPU: the text, too, and at most 48 bytes per anchor, in as many passes as
/// needed.
/// Source: Roberts, Hayes, Hunt, Mount, Yorke: Reducing storage requirements for biological
/// sequence comparison (Bioinformatics 2004), minimizers; Schleimer, Wilkerson, Aiken: Winnowing
/// (SIGMOD 2003).
[[nodiscard]] SORTIE_API Deduplication find_duplicates(const Context& context,
                                                       std::span<const std::uint8_t> text,
                                                       std::span<const std::uint64_t> begins,
                                                       const DeduplicationOptions& options = {});

/// What deduplicating a corpus takes, known before the work.
struct DeduplicationPlan {
  std::uint64_t text_bytes = 0;
  std::uint64_t documents = 0;
  bool in_memory =
      true;  ///< the text is; else its anchors with their bytes are, a part in each pass
  std::uint64_t passes = 1;  ///< over the anchors; in streams, each reads the corpus
  std::uint64_t memory = 0;  ///< bytes, with the text if it is in memory
  std::uint64_t disk = 0;    ///< most bytes of the state file
};

struct CorpusDeduplicationOptions {
  /// Of all but the other corpus.
  DeduplicationOptions windows;
  /// Files of the corpus from this number on are another corpus.
  std::size_t other_file = std::numeric_limits<std::size_t>::max();
  /// Streams: written after each pass, as a whole, with all marks. If the same call is made again
  /// with the same files, it goes on after that pass. Empty: none. The caller removes it.
  std::string state_file;
  std::function<void(const DeduplicationPlan&)> announce;  ///< called before the work; may be empty
  /// Called when the text has been read, for the backend: a device may start beside the reading.
  /// Empty: that of the context.
  std::function<Backend()> backend;
  bool plan_only = false;  ///< returns after that
};

struct CorpusDeduplication {
  DeduplicationPlan plan;
  Deduplication result;
  std::vector<std::uint64_t> begins = {0};  ///< of the documents; then the size of the text
  std::vector<std::string> excerpts;        ///< first bytes of the passages, at most 200
  std::uint64_t resumed_passes = 0;         ///< read from the state file

  std::shared_ptr<const std::uint8_t> storage;  ///< of the text; null unless the plan is in_memory
  std::uint64_t text_size = 0;                  ///< bytes in it

  [[nodiscard]] std::span<const std::uint8_t> text() const { return {storage.get(), text_size}; }
};

/// Finds duplicates of a corpus. If its text takes more than two thirds of the memory budget, it is
/// read several times. Passes over a part of the anchors, by their hash, keep the bytes of these
/// anchors' windows; a first pass counts hashes, so that only anchors that occur twice are kept.
/// The ranges are those of a text in memory.
///
/// \param context  as above; memory budget: of all, without one what is available
/// \param corpus   with `split_documents`; its blocks are not part of the budget. A pipe must fit
///                 in memory
/// \throws Error as CorpusStream::pass() and find_duplicates(); (out_of_memory) also if the windows
///         of one of 4096 parts of all hashes do not fit; (output) the state file
/// Memory: in streams, one or two bits per offset, 8 bytes per document, an eighth of the budget
/// for counts, and the rest for anchors: 32 bytes each, and 32 more with the bytes of their windows,
/// 138 on average for L = 100, where these are not the same as those of another anchor.
[[nodiscard]] SORTIE_API CorpusDeduplication find_duplicates(
    const Context& context, CorpusStream& corpus, const CorpusDeduplicationOptions& options);

/// Finds the ranges again by sorting the hashes of all windows, and compares.
/// \param context  threads; memory budget; report: phase "verify"
/// \throws Error (check) naming the first range that differs
/// Memory: 16 bytes per window, or as many as the budget allows in several passes; n/8.
SORTIE_API void check_duplicates(const HostContext& context, std::span<const std::uint8_t> text,
                                 std::span<const std::uint64_t> begins,
                                 const DeduplicationOptions& options, const Deduplication& result);

}  // namespace sortie::texts
