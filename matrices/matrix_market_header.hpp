#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sortie/matrices/matrix_market.hpp"

/// Internal to matrices: banner and size line of a Matrix Market file.
namespace sortie::matrices::detail {

struct ParsedHeader {
  MatrixMarketHeader header;
  std::int64_t size_line = 0;  ///< line on which the sizes stand, from 1
  std::size_t data_begin = 0;  ///< first byte behind that line
};

/// Reads banner, comments and size line at the front of `text`.
/// \param complete  false: more text may follow
/// \return nothing when the text ends before the size line does and is not complete
/// \throws Error (input)
[[nodiscard]] std::optional<ParsedHeader> parse_header(std::string_view name, std::string_view text,
                                                       bool complete);

/// "skew-symmetric"
[[nodiscard]] std::string_view name(Symmetry symmetry);

}  // namespace sortie::matrices::detail
