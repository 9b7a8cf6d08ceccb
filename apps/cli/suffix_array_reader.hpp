// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/indexed_text.hpp"

namespace sortie::cli {

/// The content of PATH.json, which describes the suffix array in PATH.
struct SuffixArrayDescription {
  std::string path;  ///< file of the array
  std::uint64_t symbols = 0;
  int width_bytes = 4;
  TextPolicy policy;
  std::uint64_t max_context = 0;  ///< number of letters that determine the order; 0: all
  std::string checksum;           ///< checksum of the positions as written
  std::string text_checksum;      ///< empty in files of older versions
};

/// Reads the description of a suffix array written by `sortie suffix-array -o PATH`.
/// \throws Error (input) it is missing, or does not describe a suffix array that this version reads
[[nodiscard]] SuffixArrayDescription read_suffix_array_description(const std::string& path);

/// Checks that a suffix array was built from this text, by length and checksum.
/// \param text_path  file name of the text for messages
/// \throws Error (input) it was built from another text
void require_same_text(const SuffixArrayDescription& description, const std::string& text_path,
                       const sequences::Text& text);

/// Reads the positions, plain or gzip.
/// \param context  report (phase "read array")
/// \tparam Pos     wide enough for the text
/// \throws Error (input) too few or too many bytes, a position beyond the text, or a checksum that
///         differs from the description
template <suffix_array::Position Pos>
[[nodiscard]] std::vector<Pos> read_suffix_array(const Context& context,
                                                 const SuffixArrayDescription& description);

}  // namespace sortie::cli
