#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/apps/cli/indexed_text.hpp"
#include "sortie/apps/suffix_array/query.hpp"

namespace sortie::cli {

/// Patterns of a query, and what they are called in its results.
struct QueryPatterns {
  std::vector<std::uint8_t> letters;
  std::vector<std::uint64_t> begins = {0};
  std::vector<std::string> names;  ///< as given, before case and ambiguity; of FASTA, first words

  [[nodiscard]] std::uint64_t size() const { return begins.size() - 1; }
  [[nodiscard]] suffix_array::PatternView view() const { return {letters, begins}; }
};

/// Takes patterns from the command line, in order, and then those of a file: FASTA or FASTQ records
/// where its first byte is '>' or '@', else one a line. Files may be gzip; "-" is standard input;
/// line ends may be LF or CRLF, and the last one may be missing.
///
/// \param words   from the command line
/// \param path    of the file; "" for none
/// \param policy  of the text; letters are mapped in the same way
/// \throws Error (usage)  an empty pattern on the command line
/// \throws Error (input)  no pattern, an empty one, or a control character in the file
[[nodiscard]] QueryPatterns read_query_patterns(const Context& context,
                                                const std::vector<std::string>& words,
                                                const std::string& path, const TextPolicy& policy);

/// \throws Error (input)  a pattern is longer than that, naming it
void require_patterns_up_to(const QueryPatterns& patterns, std::uint64_t most_letters);

}  // namespace sortie::cli
