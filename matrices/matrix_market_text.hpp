// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "sortie/context.hpp"
#include "sortie/matrix_market.hpp"

namespace sortie::matrices {

/// Partition of the work on a text. The result does not depend on it.
struct TextPartition {
  /// Bytes of text per task. Small enough to balance the load and to keep the text in the cache
  /// between counting lines and parsing them, large enough to make the cost of starting a task
  /// negligible. At least 1; lines are never split.
  std::size_t chunk_bytes = std::size_t{1} << 19;
  int parts = 0;  ///< parts of the sort by row; 0: one per thread
};

/// read_matrix_market() for decompressed text in memory.
/// \param name  file name for messages
/// \throws Error as read_matrix_market()
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> parse_matrix_market(const HostContext& context, std::string_view name,
                                                  std::span<const char> text,
                                                  MatrixMarketHeader* header = nullptr,
                                                  const TextPartition& partition = {});

/// read_matrix_market_header() for decompressed text in memory.
/// \throws Error (input)
[[nodiscard]] MatrixMarketHeader parse_matrix_market_header(std::string_view name,
                                                            std::span<const char> text);

}  // namespace sortie::matrices

/// Internal to matrices: banner and size line of a Matrix Market file, lines and words.
namespace sortie::matrices::detail {

struct ParsedHeader {
  MatrixMarketHeader header;
  std::int64_t size_line = 0;  ///< number of the size line, 1-based
  std::size_t data_begin = 0;  ///< offset of the first byte after that line
};

/// Parses the banner, comments and size line at the start of `text`.
/// \param complete  false: more text may follow
/// \return empty if the text is not complete and ends before the end of the size line
/// \throws Error (input)
[[nodiscard]] std::optional<ParsedHeader> parse_header(std::string_view name, std::string_view text,
                                                       bool complete);

/// "skew-symmetric"
[[nodiscard]] std::string_view name(Symmetry symmetry);

/// Number of '\n' in [begin, end).
inline std::int64_t count_newlines(const char* begin, const char* end) {
  // Blocks are short enough that a byte-wide sum cannot overflow. Compilers vectorise the inner
  // loop to 16 or more comparisons per instruction, which they do not with a 64-bit sum.
  constexpr std::ptrdiff_t block = 255;
  std::int64_t newlines = 0;
  while (begin != end) {
    const std::ptrdiff_t length = std::min(block, end - begin);
    std::uint8_t sum = 0;
    for (std::ptrdiff_t i = 0; i < length; ++i) {
      sum = static_cast<std::uint8_t>(sum + (begin[i] == '\n' ? 1 : 0));
    }
    newlines += sum;
    begin += length;
  }
  return newlines;
}

/// Position of the first '\n' in [begin, end); `end` if there is none.
inline const char* find_newline(const char* begin, const char* end) {
  const void* found =
      begin == end ? nullptr : std::memchr(begin, '\n', static_cast<std::size_t>(end - begin));
  return found == nullptr ? end : static_cast<const char*>(found);
}

/// White space within a line. CR is included: it is the first character of CRLF line ends.
inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

inline std::string_view skip_blanks(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  return line;
}

inline std::string_view trimmed(std::string_view line) {
  line = skip_blanks(line);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

/// Removes the next word from the front of `line` and returns it; empty at the end of the line.
inline std::string_view take_word(std::string_view& line) {
  line = skip_blanks(line);
  const auto length =
      static_cast<std::size_t>(std::find_if(line.begin(), line.end(), is_blank) - line.begin());
  const std::string_view word = line.substr(0, length);
  line.remove_prefix(length);
  return word;
}

/// True for lines without data: blank lines and comments.
inline bool is_skipped(std::string_view line) {
  line = skip_blanks(line);
  return line.empty() || line.front() == '%';
}

}  // namespace sortie::matrices::detail
