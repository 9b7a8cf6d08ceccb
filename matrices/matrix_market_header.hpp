// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sortie/matrix_market.hpp"

/// Internal to matrices: banner and size line of a Matrix Market file.
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

}  // namespace sortie::matrices::detail
