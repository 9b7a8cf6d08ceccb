// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/indexed_text.hpp"
#include "sortie/query.hpp"

namespace sortie::cli {

/// Patterns of a query, and their names in the results.
struct QueryPatterns {
  std::vector<std::uint8_t> letters;
  std::vector<std::uint64_t> begins = {0};
  std::vector<std::string> names;  ///< patterns before case and ambiguity; first words for FASTA

  [[nodiscard]] std::uint64_t size() const { return begins.size() - 1; }
  [[nodiscard]] suffix_array::PatternView view() const { return {letters, begins}; }
};

/// Reads the patterns of the command line, in order, followed by those of a file: FASTA or FASTQ
/// records if its first byte is '>' or '@', else one pattern per line. Files may be gzip; "-" is
/// standard input; line ends may be LF or CRLF, and the last one may be missing.
///
/// \param words   patterns of the command line
/// \param path    file name; "" for none
/// \param policy  policy of the text; letters are mapped in the same way
/// \throws Error (usage)  an empty pattern on the command line
/// \throws Error (input)  no pattern, an empty one, or a control character in the file
[[nodiscard]] QueryPatterns read_query_patterns(const Context& context,
                                                const std::vector<std::string>& words,
                                                const std::string& path, const TextPolicy& policy);

/// \throws Error (input)  a pattern is longer than `most_letters`, naming the pattern
void require_patterns_up_to(const QueryPatterns& patterns, std::uint64_t most_letters);

}  // namespace sortie::cli
