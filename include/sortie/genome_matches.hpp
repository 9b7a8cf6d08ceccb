// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"
#include "sortie/text.hpp"

/// Maximal exact matches between a reference and queries, as MUMmer defines them.
///
/// A match is a substring of a query record that is equal to a substring of a reference record. It
/// is maximal if the letters before it differ, or one of the records begins there, and likewise
/// after it. Letters are compared in upper case; every letter matches itself, N too.
namespace sortie::genome_matches {

/// Which maximal matches are wanted.
enum class Kind {
  maximal,              ///< all (mummer -maxmatch)
  unique_in_reference,  ///< those whose letters occur once in the reference (mummer -mumreference)
  unique,               ///< those whose letters also occur once in the query's strand (mummer -mum)
};

/// "maximal", "unique-in-reference" or "unique".
[[nodiscard]] SORTIE_API std::string_view name(Kind kind);
/// The inverse of name(). \throws Error (usage)
[[nodiscard]] SORTIE_API Kind parse_kind(std::string_view text);

struct MatchOptions {
  std::uint64_t min_length = 20;  ///< at least 1
  Kind kind = Kind::unique_in_reference;
  bool only_acgt = false;   ///< letters other than A, C, G and T match nothing
  bool statistics = false;  ///< the index serves MatchIndex::statistics() as well
};

/// A match. Positions are counted from 0.
struct Match {
  std::uint64_t query = 0;      ///< of its first letter in the query
  std::uint64_t reference = 0;  ///< of its first letter in Text::symbols of the reference
  std::uint64_t length = 0;

  friend auto operator<=>(const Match&, const Match&) = default;
};

/// Matching statistics of consecutive positions of a query: the longest substring of the query from
/// position begin + i on that occurs in the reference has length - i letters, for begin + i < end.
struct StatisticsRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t length = 0;

  friend auto operator<=>(const StatisticsRun&, const StatisticsRun&) = default;
};

/// The index of a reference, and the search in it. Calls of const members may run at the same time.
///
/// For all maximal matches, k-mers of every s-th position of the reference are sorted by their
/// hashes, where k + s - 1 is the least length of a match: so every match contains one of them. For
/// unique matches and for statistics, the index is the suffix array of the reference. The longest
/// match from a position of the query on ends at the same letter as that of the positions before
/// it, but for few positions, and only these are searched.
class SORTIE_API MatchIndex {
 public:
  /// \param context    backend: cuda sorts the suffixes or k-mers of the reference on a GPU, else the
  ///                   host does; threads; memory budget: of the host, of all but the reference;
  ///                   progress and report of the suffix array and the sort; report: phase "index"
  /// \param reference  its symbols are changed if only_acgt is set
  /// \throws Error (usage)        a least length of 0
  /// \throws Error (input)        a reference without letters
  /// \throws Error (out_of_memory); (unavailable, device) on a GPU
  /// Complexity: O(n) for n letters, and what suffix_array::build() and sort() take.
  /// Memory: 12 to 16 bytes for each s-th letter; with a suffix array 5 to 6 bytes per letter (9 to
  /// 10 from 2^32 letters on) and up to 64 MiB (128), while it is built as suffix_array::build().
  /// Source: Khan, Bloom, Kruglyak, Singh: sparseMEM (Bioinformatics 2009); Grabowski, Bieniecki:
  /// copMEM (Bioinformatics 2019), sampled k-mers; Kurtz et al.: MUMmer 3 (Genome Biology 2004).
  MatchIndex(const Context& context, sequences::Text reference, const MatchOptions& options);
  ~MatchIndex();
  MatchIndex(MatchIndex&&) noexcept;
  MatchIndex& operator=(MatchIndex&&) noexcept;

  [[nodiscard]] const sequences::Text& reference() const;
  [[nodiscard]] const MatchOptions& options() const;

  /// Bytes of the index of a reference with so many symbols, and those that building it takes.
  [[nodiscard]] static std::uint64_t index_bytes(std::uint64_t symbols, const MatchOptions&);
  [[nodiscard]] static std::uint64_t building_bytes(std::uint64_t symbols, const MatchOptions&);

  /// Replaces letters that match nothing. find() and statistics() expect queries like this.
  void prepare_query(std::span<std::uint8_t> letters) const;

  /// The matches of one query record, or of its reverse complement, ascending.
  /// Complexity for m letters: O(m log n) and, for all maximal matches, O(1 + L / s) for each
  /// occurrence of a k-mer. One thread.
  [[nodiscard]] std::vector<Match> find(std::span<const std::uint8_t> query) const;

  /// The matching statistics of one query record: runs that are as long as possible.
  /// \pre options().statistics. O(m log n). One thread.
  [[nodiscard]] std::vector<StatisticsRun> statistics(std::span<const std::uint8_t> query) const;

  /// Compares the letters of matches, and those before and after them.
  /// \throws Error (check) naming a match that is not equal, not maximal or too short
  void check(std::span<const std::uint8_t> query, std::span<const Match> matches) const;

  struct State;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// The reverse complement of DNA as MUMmer makes it: letters that are no IUPAC code of DNA (U is
/// none) become N. Letters in upper case.
[[nodiscard]] SORTIE_API std::vector<std::uint8_t> reverse_complement(
    std::span<const std::uint8_t> letters);

enum class Strands { forward, reverse, both };
enum class MatchFormat {
  mummer,  ///< a line "> NAME" for each query and strand, and one for each match
  paf,     ///< one line of minimap2's format for each match
};

struct MatchOutput {
  Strands strands = Strands::forward;
  MatchFormat format = MatchFormat::mummer;
  // Of MUMmer's format:
  bool forward_positions =
      false;                     ///< reverse matches by the forward position of their first letter
  bool query_lengths = false;    ///< in the lines of queries
  bool reference_names = false;  ///< in the lines of matches, also of a reference of one record
  bool letters = false;          ///< a line with the letters of each match

  bool verify = false;       ///< MatchIndex::check() of all matches
  std::string matches = {};  ///< path; "-": standard output; "": none
  std::string statistics =
      {};                 ///< lines "NAME STRAND BEGIN END LENGTH", with tabs, of StatisticsRun
  std::string plot = {};  ///< a dot plot as SVG
};

struct MatchFigures {
  std::uint64_t queries = 0;  ///< records
  std::uint64_t query_letters = 0;
  std::uint64_t matches = 0;
  std::uint64_t matched_letters = 0;  ///< sum of the lengths of matches
  std::uint64_t longest = 0;
};

/// Finds and writes the matches of all records of FASTA or FASTQ files (-: standard input), in
/// their order. Queries are read while others are searched. Records beyond 256 Ki letters are
/// divided among threads.
///
/// Matches of a query and strand are in ascending order of their positions in that strand, then of
/// those in the reference. The output does not depend on the number of threads.
///
/// \param context  threads: any number; memory budget: of the queries in memory; progress
///                 "matches", in letters of queries; report: phase "matches"
/// \throws Error (input) as read_fasta(); (output); (check) with `verify`
/// Memory: the largest record (twice for both strands), and a few MiB for each thread; for unique
/// matches 24 bytes for each match of a record that is unique in the reference.
SORTIE_API MatchFigures write_matches(const HostContext& context, const MatchIndex& index,
                                      std::span<const std::string> queries,
                                      const MatchOutput& output);

}  // namespace sortie::genome_matches
