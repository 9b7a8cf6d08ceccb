// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"

/// Corpora: files of documents, which are byte strings. Files are plain, gzip (also of several
/// members, bgzf) or zstd, recognised by content, and hold one document (`plain`) or one on each
/// line (`jsonl`).
///
/// The text of a corpus is its documents one after the other, in the order of the files, without
/// separators: all 256 byte values occur in documents. A place in it is called an offset.
namespace sortie::texts {

enum class Format {
  automatic,  ///< decided for each file, see below
  plain,      ///< the file is one document; every byte belongs to it
  jsonl,      ///< one JSON object on each line, whose field of that name is a document
  /// The corpus of deduplicate-text-datasets: FILE has each document behind the bytes ff ff and its
  /// number from 1, 32 bits; FILE.size has where each begins, and the size of FILE, 64 bits each.
  table,
  /// A shard of infini-gram: tokenized.N has each document behind a token of bytes ff; offset.N
  /// beside it has where each begins, 64 bits each.
  infini_gram,
};

/// A file is JSONL if its name ends in .jsonl, .jsonlines or .ndjson, before .gz, .zst or .zstd. Any
/// other file is JSONL if its first byte is '{' and its first line, of at most 64 MiB, is a JSON
/// object that has the field, as a string. All others are plain.
///
/// "auto", "plain", "jsonl", "table" or "infini-gram".
[[nodiscard]] SORTIE_API std::string_view name(Format format);
/// The inverse of name(). \throws Error (usage)
[[nodiscard]] SORTIE_API Format parse_format(std::string_view text);

/// How a file is stored.
enum class Compression { none, gzip, zstd };

struct CorpusOptions {
  Format format = Format::automatic;
  std::string field = "text";  ///< of JSONL files
  /// Documents with bytes that are not UTF-8 are errors. Without it, they are counted and kept as
  /// they are. In JSONL, the bytes must be inside strings.
  bool refuse_invalid_utf8 = false;
  /// 2 or 4: files hold tokens, little-endian integers of that many bytes, and are plain, or table
  /// (2 only) or infini_gram; sizes must be a multiple. 1: bytes.
  int token_bytes = 1;
  /// CorpusStream: plain documents are split at the ends of blocks, between UTF-8 characters or
  /// tokens. Without it, a block is as large as its largest document.
  bool split_documents = false;
  /// CorpusStream: if all files are compressed and no memory budget is given, their content is kept
  /// for later passes, if it takes at most an eighth of the available memory. A later pass then does
  /// not notice that a file has changed.
  bool keep_content = false;
  /// Bytes of content read at a time, at least 64. Smaller if the memory budget requires it.
  std::size_t block_bytes = std::size_t{4} << 20;
};

/// One file of a corpus, after it has been read.
struct CorpusFile {
  std::string path;
  Format format = Format::plain;  ///< not automatic
  Compression compression = Compression::none;
  std::uint64_t file_bytes = 0;  ///< as stored; 0 for a pipe
  std::uint64_t content_bytes = 0;
  std::uint64_t text_bytes = 0;  ///< of its documents
  std::uint64_t first_document = 0;
  std::uint64_t documents = 0;
  std::uint64_t first_byte = 0;    ///< offset of its first document
  std::uint64_t invalid_utf8 = 0;  ///< documents that are not UTF-8 as a whole
  std::uint64_t checksum = 0;      ///< 64-bit XXH3 of the content
};

/// A corpus in memory.
struct Corpus {
  std::vector<std::uint8_t> bytes;          ///< the text
  std::vector<std::uint64_t> begins = {0};  ///< offset of each document, then the size of the text
  /// The line of each document, from 1; 0 in plain files; of table and infini_gram its number, from
  /// 1, in the file.
  std::vector<std::uint64_t> lines;
  std::vector<CorpusFile> files;

  [[nodiscard]] std::uint64_t documents() const { return begins.size() - 1; }
  [[nodiscard]] std::span<const std::uint8_t> document(std::uint64_t number) const {
    return std::span(bytes).subspan(begins[number], begins[number + 1] - begins[number]);
  }
};

/// Index of the file that contains a document: O(log files). \pre document < all documents
[[nodiscard]] SORTIE_API std::size_t file_of(std::span<const CorpusFile> files,
                                             std::uint64_t document);

/// The paths with "@LIST" replaced by the lines of the file LIST, one path on each; empty lines are
/// left out. "@-" is standard input; "./@a" is a file whose name begins with @.
/// \throws Error (input) a list cannot be read, or is empty
[[nodiscard]] SORTIE_API std::vector<std::string> expand_paths(std::span<const std::string> paths);

/// Reads a corpus into memory.
///
/// \param context  threads, which parse blocks and read small files at the same time; memory
///                 budget: of the corpus and the blocks; progress: "read corpus", in bytes of
///                 content; report: phase "read corpus"
/// \param paths    "-" is standard input; see expand_paths() for lists
/// \throws Error (input) "FILE:LINE: found ..., expected ..." for broken JSON, a line without the
///         field or with two, a field that is not a string, an unpaired surrogate; a truncated or
///         damaged .gz or .zst; a size that is no multiple of the token; separators that are not
///         where FILE.size or offset.N says; a file that cannot be read
/// \throws Error (usage) no files, or a bad option
/// \throws Error (unavailable) JSONL without simdjson, or zstd without libzstd, in this build
/// \throws Error (out_of_memory)
/// Complexity: O(content). Memory: the corpus, at most twice while it grows where the size of the
/// content is not known before (pipes, some compressed files), and 3 blocks for each thread.
[[nodiscard]] SORTIE_API Corpus read_corpus(const HostContext& context,
                                            std::span<const std::string> paths,
                                            const CorpusOptions& options = {});

/// Documents of one file, one after the other.
struct CorpusBlock {
  std::span<const std::uint8_t> bytes;    ///< the text of the documents
  std::span<const std::uint64_t> begins;  ///< in `bytes`; then bytes.size()
  std::span<const std::uint64_t> lines;   ///< of each document, as in Corpus
  std::size_t file = 0;
  bool continues = false;  ///< the first document began in the block before
  bool continued = false;  ///< the last document goes on in the next block
  // In the first pass known from the step `pass` on, in later ones from `work` on; so are `lines`:
  std::uint64_t first_document = 0;  ///< number of the first document
  std::uint64_t first_byte = 0;      ///< offset of its first byte

  [[nodiscard]] std::uint64_t documents() const { return lines.size(); }
};

/// What to do with the blocks of a corpus. Steps may be empty. `worker` is the number of the thread,
/// from 0, which has one block at a time; the spans of a block are valid until its last step ends.
struct CorpusSteps {
  using Step = std::function<void(int worker, const CorpusBlock& block)>;

  Step work;    ///< For different blocks at the same time.
  Step pass;    ///< One block at a time, in the order of the text.
  Step finish;  ///< For different blocks at the same time.
};

/// Bytes begin .. end - 1.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// The part of a range that consists of whole UTF-8 characters of the document: an end within a
/// character moves into the range. Bytes that are not UTF-8 are characters of their own.
/// \return begin == end where no character is left
/// \pre range.begin <= range.end <= document.size()
[[nodiscard]] SORTIE_API ByteRange whole_characters(std::span<const std::uint8_t> document,
                                                    ByteRange range);

struct CleaningOptions {
  /// JSONL: nothing is removed. Each document gets a field, the last one of its object, with the
  /// ranges as pairs of numbers, in bytes of its text.
  bool annotate = false;
  std::string annotation = "sa_remove_ranges";
  /// JSONL: lines whose document the ranges make empty are left out.
  bool drop_empty = false;
};

struct CleaningResult {
  std::uint64_t documents = 0;  ///< written
  std::uint64_t dropped = 0;
  std::uint64_t bytes_removed = 0;  ///< or annotated
};

/// A corpus that is read block by block, as often as needed.
class SORTIE_API CorpusStream {
 public:
  /// \param context  threads; memory budget: of the blocks; progress: "read corpus", in bytes of
  ///                 content; report: phase "read corpus" for each pass. Copied.
  /// \param paths    as those of read_corpus()
  /// \throws Error (usage) no files, or a bad option
  CorpusStream(const HostContext& context, std::span<const std::string> paths,
               const CorpusOptions& options = {});
  ~CorpusStream();
  CorpusStream(const CorpusStream&) = delete;
  CorpusStream& operator=(const CorpusStream&) = delete;

  /// Threads, that is, the values of `worker` in the steps are below this.
  [[nodiscard]] int workers() const;

  /// Reads the corpus from front to back. An exception of a step ends the pass; of several, that of
  /// the first block is thrown.
  /// \throws Error as read_corpus(); (input) "FILE: found ..., expected ..." if a file is not the
  ///         same as in the first pass, by size and checksum. That may be found at the end of the
  ///         file only, so results must not be published before the pass has ended; (usage) a
  ///         second pass over a pipe
  /// Memory: for each thread 3 blocks, or 3 times the largest document that is not split, and 4
  /// blocks for each compressed file that is read ahead, of at most 8.
  void pass(const CorpusSteps& steps);

  /// The files, complete after the first pass; before, only their paths.
  [[nodiscard]] std::span<const CorpusFile> files() const;
  /// After the first pass.
  [[nodiscard]] std::uint64_t documents() const;
  /// Size of the text, after the first pass.
  [[nodiscard]] std::uint64_t text_bytes() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
  friend CleaningResult write_cleaned_corpus(const HostContext&, CorpusStream&,
                                             std::span<const ByteRange>, const std::string&,
                                             const CleaningOptions&);
};

/// Writes the files of a corpus again without ranges of their text, compressed as they are: gzip as
/// one member, zstd as one frame, so that every reader takes them.
///
/// In JSONL, all bytes outside the field are kept, the escapes of kept characters, too, and lines
/// without an object. Ranges are reduced to whole_characters() there.
///
/// \param context  as that of CorpusStream, for this pass
/// \param corpus  after its first pass
/// \param ranges  in offsets of the text: ascending, not overlapping. Those that go over the border
///                of documents count for each of them
/// \param path    one file: a file, "-" for standard output. Several: a folder, which must be empty
///                or not there; it gets the files under their names without folders, or, if two
///                would have the same name, below the deepest folder that is common to all. Either
///                all of the output is made or nothing
/// \throws Error as CorpusStream::pass(); (output); (usage) ranges that are not ascending,
///         annotations for a plain file, files of the formats table and infini_gram; (input)
///         annotations for a line that has the field
/// Memory: as CorpusStream::pass(), and 2 blocks for each thread.
SORTIE_API CleaningResult write_cleaned_corpus(const HostContext& context, CorpusStream& corpus,
                                               std::span<const ByteRange> ranges,
                                               const std::string& path,
                                               const CleaningOptions& options = {});

}  // namespace sortie::texts
