// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/corpus.hpp"
#include "sortie/export.hpp"
#include "sortie/sort.hpp"

/// Inverted indexes of documents and of sequences, and searches in them (index_search.hpp).
namespace sortie::indexing {

/// How blocks of documents are parsed and sorted, as in section 7 of the source of build_index().
enum class Indexer {
  cpu,             ///< all threads parse a block each; then each block is sorted by all threads
  cpu_overlapped,  ///< each thread parses and sorts its blocks, while the others do the same
  gpu,             ///< as cpu, but a GPU sorts
  gpu_overlapped,  ///< a GPU sorts blocks while all threads parse the next ones
};

/// "cpu", "cpu-overlapped", "gpu" or "gpu-overlapped".
[[nodiscard]] SORTIE_API std::string_view name(Indexer indexer);
/// The inverse of name(). \throws Error (usage)
[[nodiscard]] SORTIE_API Indexer parse_indexer(std::string_view text);

/// A block of documents.
struct Documents {
  std::string bytes;                        ///< of all documents, one after the other
  std::vector<std::uint64_t> begins = {0};  ///< of each document in `bytes`; then bytes.size()
  std::vector<std::string> names;           ///< of each document
  /// The first document is the last one of the previous block, continued. Words do not span blocks.
  /// k-mers do: the first K - 1 letters are the last ones of the block before.
  bool continues = false;

  [[nodiscard]] std::uint64_t size() const { return names.size(); }
  /// Makes the block empty, and keeps its memory.
  void clear();
  /// Ends a document, whose bytes were appended to `bytes`.
  void end_document(std::string_view name);
};

/// Fills an empty block with the next documents, of about `block_bytes` in all, at least one
/// document or part of it. Returns false if there are none. Called by one thread at a time, but not
/// always the same one.
using DocumentSource = std::function<bool(Documents& block, std::uint64_t block_bytes)>;

/// The documents of a corpus, from the first one on. A document that is a file has its path as its
/// name; one that is a line of JSONL has "FILE:LINE".
/// \param context  threads
/// \param paths, options  as those of texts::CorpusStream, whose blocks are read on its threads;
///                        `split_documents` and `block_bytes` are set here
/// \throws Error as texts::CorpusStream::pass(), from the source when it is called
[[nodiscard]] SORTIE_API DocumentSource corpus_documents(const HostContext& context,
                                                         std::vector<std::string> paths,
                                                         const texts::CorpusOptions& options = {});

/// The records of FASTA and FASTQ files. Their names are the first words of their headers, or "#"
/// and their number in all files. Each file is read as a whole.
/// \param context      threads
/// \param kmer_length  of the index
/// \throws Error as sequences::read_fasta(), from the source when it is called
[[nodiscard]] SORTIE_API DocumentSource sequence_documents(const HostContext& context,
                                                           std::vector<std::string> paths,
                                                           int kmer_length);

/// What is indexed, and how.
struct IndexOptions {
  Indexer indexer = Indexer::cpu_overlapped;
  bool positions = false;  ///< store where in its document each term occurs
  /// 0: terms are words; 1 to 31: terms are the k-mers of sequences.
  int kmer_length = 0;
  /// Of a k-mer and its reverse complement, the smaller one is the term.
  bool canonical = false;
  /// Words are stemmed by this algorithm of libstemmer ("english"); empty: they are not.
  std::string stemmer = {};
  std::uint64_t block_bytes = 0;  ///< 0: as the memory budget allows
  /// How the GPU sorts a run of words: automatic (radix), merge, or a registered algorithm that sorts
  /// in the memory of one GPU. The index is the same.
  SortAlgorithm gpu_sort = SortAlgorithm::automatic;
};

/// Memory and work of build_index().
struct IndexPlan {
  std::uint64_t block_bytes = 0;    ///< of documents, in each block
  std::uint64_t run_items = 0;      ///< most items (occurrences of terms) in a run
  std::uint64_t memory = 0;         ///< of all blocks and runs
  std::uint64_t resident_runs = 0;  ///< bytes of sorted runs in memory; more go to a temporary file
  std::uint64_t runs = 0;           ///< of the content that plan_index() is told of
};

/// \param content_bytes  of all documents
/// \throws Error (out_of_memory) the budget is too small; (usage) invalid options
[[nodiscard]] SORTIE_API IndexPlan plan_index(const HostContext& context,
                                              const IndexOptions& options,
                                              std::uint64_t content_bytes);

/// What build_index() has done.
struct IndexFigures {
  std::uint64_t documents = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t terms = 0;        ///< distinct
  std::uint64_t postings = 0;     ///< pairs of a term and a document
  std::uint64_t occurrences = 0;  ///< of terms in documents
  std::uint64_t runs = 0;
  std::uint64_t spilled_bytes = 0;  ///< of runs, in the temporary file
  std::uint64_t index_bytes = 0;
  // Sums over all threads.
  double parse_seconds = 0;
  double sort_seconds = 0;
  double encode_seconds = 0;
};

/// Builds an inverted index by blocked sorting.
///
/// Threads parse blocks of documents into occurrences: keys that hold the number of the term in its
/// block above that of the document. Blocks are sorted by sortie::sort() and written as runs of
/// postings in lexicographic order of terms. Blocks have dictionaries of their own, so these are as
/// bounded as blocks are; runs are merged by terms at the end. The file depends on documents and
/// options only: not on threads, indexer, or budget.
///
/// Words are maximal sequences of letters and digits of Unicode (class alnum of the locale C.UTF-8
/// of the C library), in lower case by single characters; those of more than 255 bytes are split.
/// Bytes that are not UTF-8 separate words. k-mers consist of A, C, G, T and U, which counts as T,
/// in either case; those with other letters are left out.
///
/// \param context  backend and device: of the indexers `gpu` and `gpu_overlapped`, which require
///                 CUDA; threads; memory budget; progress: "index" and "merge", in bytes; report:
///                 phases "parse and sort", "merge"
/// \param path     the index file (docs/inverted-index.md describes it), created as a whole or not
///                 at all; the temporary file of runs is beside it
/// \throws Error (usage)         invalid options; `gpu_sort` without a GPU or with k-mers; `path` is a pipe or a device
/// \throws Error (unavailable)   no GPU for an indexer that needs it; stemming without libstemmer
/// \throws Error (input)         more than 2^32 - 2 documents; what the source throws
/// \throws Error (out_of_memory, output)
/// Complexity: O(bytes) for parsing and sorting, O(r log runs) for merging r terms of all runs.
/// Memory: see plan_index(), and 4 bytes for each document.
/// Source: Capannini, Silvestri, Baraglia: Sorting on GPUs for large scale datasets: A thorough
/// comparison (Information Processing and Management 2012), section 7.
SORTIE_API IndexFigures build_index(const Context& context, const DocumentSource& source,
                                    const std::string& path, const IndexOptions& options = {});

/// Compares an index with one that a plain sequential algorithm builds in memory.
/// \param context  memory budget: of the other index; progress, report: phase "check index"
/// \param source   the documents again, from the first one
/// \param options  those of build_index(); the indexer does not matter
/// \throws Error (check) naming the first term or document that differs; (out_of_memory); as
///         InvertedIndex()
SORTIE_API void check_index(const HostContext& context, const DocumentSource& source,
                            const std::string& path, const IndexOptions& options);

/// Writes an index as CIFF, the common index file format of Lucene, PISA and Terrier: messages of
/// protobuf (Header, then a PostingsList for each term, then a DocRecord for each document), each
/// after its length. k-mers are written as letters. CIFF has no positions.
/// \param context  progress, report: phase "write CIFF"; threads and budget are ignored
/// \param path     "-" is standard output
/// \throws Error (input) as InvertedIndex(); more than 2^31 - 1 documents or terms, which CIFF
///         cannot number; (output)
/// Memory: the longest list of postings.
/// Source: Lin et al.: Supporting Interoperability Between Open-Source Search Engines with the
/// Common Index File Format (SIGIR 2020).
SORTIE_API void write_ciff(const HostContext& context, const std::string& index,
                           const std::string& path);

}  // namespace sortie::indexing
