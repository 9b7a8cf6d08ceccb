#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/apps/cli/indexed_text.hpp"

namespace sortie::cli {

/// What PATH.json says of the suffix array in PATH.
struct SuffixArrayDescription {
  std::string path;  ///< of the array
  std::uint64_t symbols = 0;
  int width_bytes = 4;
  TextPolicy policy;
  std::uint64_t max_context = 0;  ///< letters that decide the order; 0: all
  std::string checksum;           ///< of the positions as written
  std::string text_checksum;      ///< empty in files of versions that did not write one
};

/// Reads the description of a suffix array that `sortie suffix-array -o PATH` wrote.
/// \throws Error (input) there is none, or it is none of a suffix array that this version reads
[[nodiscard]] SuffixArrayDescription read_suffix_array_description(const std::string& path);

/// Checks that a suffix array was built from this text, by length and checksum.
/// \param text_path  for messages
/// \throws Error (input) it was not
void require_same_text(const SuffixArrayDescription& description, const std::string& text_path,
                       const sequences::Text& text);

/// Reads the positions, plain or gzip.
/// \param context  report (phase "read array")
/// \tparam Pos  wide enough for the text
/// \throws Error (input) too few or too many bytes, a position beyond the text, or another checksum
///         than the description's
template <suffix_array::Position Pos>
[[nodiscard]] std::vector<Pos> read_suffix_array(const Context& context,
                                                 const SuffixArrayDescription& description);

}  // namespace sortie::cli
