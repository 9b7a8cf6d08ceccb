// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"

/// Counts of the k-mers of sequences, by sorting, and tables of them.
namespace sortie::kmers {

inline constexpr int longest_kmer = 64;

/// Lines of a table. All are in ascending order of the k-mers, A < C < G < T.
enum class TableFormat {
  text,              ///< KMER tab COUNT
  kmc,               ///< the same, which `kmc_tools transform ... dump -s` writes
  jellyfish,         ///< ">COUNT" and KMER on the next line, as `jellyfish dump`
  jellyfish_column,  ///< KMER space COUNT, as `jellyfish dump --column`
};

/// "text", "kmc", "jellyfish" or "jellyfish-column".
[[nodiscard]] SORTIE_API std::string_view name(TableFormat format);
/// The inverse of name(). \throws Error (usage)
[[nodiscard]] SORTIE_API TableFormat parse_table_format(std::string_view text);

/// Counts of the table: k-mers with other counts are left out.
struct CountRange {
  std::uint64_t least = 1;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// What counting takes, known once the files are read.
struct CountPlan {
  std::uint64_t kmers = 0;          ///< occurrences
  std::uint64_t packed_bytes = 0;   ///< of the letters, 2 bits each
  std::uint64_t spilled_bytes = 0;  ///< of these, in the temporary file
  std::uint64_t passes = 0;         ///< over the letters
  std::uint64_t memory = 0;         ///< most bytes at a time
};

struct CountOptions {
  int k = 31;             ///< 1 to longest_kmer
  bool canonical = true;  ///< a k-mer and its reverse complement count as the lesser of both
  CountRange counts;
  TableFormat format = TableFormat::text;
  bool checksum = false;                           ///< compute KmerFigures::checksum
  std::function<void(const CountPlan&)> announce;  ///< called before the passes; may be empty
  bool plan_only = false;                          ///< returns after that
  /// Called when the files are read, before a GPU is used, which may start meanwhile; may be empty.
  std::function<void()> await_device;
  /// Called when all that is wanted of a GPU is in host memory, before it is written: the GPU may be
  /// given up beside that. May be empty. Not called for each input.
  std::function<void()> release_device;
};

/// Number of distinct k-mers for each count that occurs, by ascending count.
using CountHistogram = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Nothing but `plan` depends on threads or memory.
struct KmerFigures {
  CountPlan plan;
  std::uint64_t kmers = 0;     ///< occurrences
  std::uint64_t distinct = 0;  ///< thresholds aside
  std::uint64_t once = 0;      ///< distinct ones that occur once
  std::uint64_t written = 0;   ///< lines of the table
  std::uint64_t table_bytes = 0;
  CountHistogram histogram;    ///< thresholds aside
  std::uint64_t checksum = 0;  ///< sum of a hash of each occurrence
};

/// Counts the k-mers of FASTA and FASTQ files. Lower case counts as upper case; every letter but A,
/// C, G and T ends a k-mer, U included. K-mers do not extend over records.
///
/// \param context  backend: cuda makes the k-mers of packed letters, sorts and counts them on the
///                 GPU, for k from 12 to 32, and the host does below; threads; memory budget;
///                 progress: "read" in bytes, "scan" and "partition" in blocks, "count" in
///                 k-mers (cuda: in passes); report: phases "read",
///                 "scan", "partition" (cuda: "k-mers", "sort"), "count"
/// \param paths    plain, gzip or zstd by content; "-" is standard input
/// \param table    file to write, "-" for standard output, empty for none
/// \param finish   called when the table is complete, before it has its name; if it throws, there
///                 is no table. May be empty
/// \throws Error (usage) k or the range of counts is wrong, or there are no files; (unavailable)
///         k > 32 on cuda
/// \throws Error (input) as read_fasta(); (output) the table, or the temporary file beside it;
///         (out_of_memory)
///
/// The letters are packed to 2 bits. A scan counts the k-mers by their first 8 letters, which gives
/// buckets of about equal size that fit in the cache. Each pass takes as many buckets as the memory
/// holds, in ascending order: it moves the k-mers of these buckets there, sorts each bucket, and
/// writes its lines. So a table needs no merging, whatever the memory.
///
/// Complexity: O(n) for n letters, for each of p passes. Extra memory: 0.25 to 0.5 bytes a letter,
/// in a temporary file beyond a third of the budget; w bytes for each k-mer of a pass, w = 4 for
/// k <= 21, 8 for k <= 32, else 16; buffers of each thread.
/// Source: Deorowicz, Kokot, Grabowski, Debudaj-Grabysz: KMC 2 (Bioinformatics 2015), buckets that
/// are sorted; here they are by the first letters, not by minimizers.
SORTIE_API KmerFigures count_kmers(const Context& context, std::span<const std::string> paths,
                                   const CountOptions& options, const std::string& table,
                                   const std::function<void(const KmerFigures&)>& finish = {});

/// Reads the files again, adds the hashes of all k-mers by a plain algorithm, and compares with
/// figures of count_kmers(). K-mers of a table ascend, so equal sums prove the counts, but for a
/// chance of 2^-64. Sequential.
/// \param context  memory budget: of the text of a file; progress: "verify" in letters; report:
///                 phase "verify"
/// \pre options.checksum was set
/// \throws Error (check)
SORTIE_API void check_kmers(const HostContext& context, std::span<const std::string> paths,
                            const CountOptions& options, const KmerFigures& figures);

/// Operations on two tables.
enum class TableOperation {
  intersect,  ///< k-mers of both, with the lesser count
  subtract,   ///< counts of A less those of B, where more than 0 remain
  unite,      ///< k-mers of either, with the sum of the counts
};

/// Reads two tables of any TableFormat, recognised by content, plain or compressed, and writes the
/// result of an operation.
/// \param context  progress: "combine" in bytes of the tables; report: phase "combine". Sequential
/// \param table    as that of count_kmers(); so is `finish`
/// \throws Error (input) "FILE:LINE: found ..., expected ..." for a line of another form, k-mers of
///         different length, in one file or two, and k-mers that are not in ascending order;
///         (output); (usage) the range of counts
/// Complexity: O(bytes). Memory: constant, 5 MiB.
SORTIE_API KmerFigures combine_tables(const HostContext& context, TableOperation operation,
                                      const std::string& a, const std::string& b, CountRange counts,
                                      TableFormat format, const std::string& table,
                                      const std::function<void(const KmerFigures&)>& finish = {});

}  // namespace sortie::kmers
