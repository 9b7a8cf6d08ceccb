#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "sortie/core/context.hpp"
#include "sortie/matrices/matrix_market.hpp"

namespace sortie::matrices {

/// How the work on a text is cut up; the result is the same for every choice.
struct TextPartition {
  /// Bytes of text a task parses. Small enough that tasks even out and the text stays in the cache
  /// between counting lines and parsing them, large enough that starting a task costs nothing. At
  /// least 1; a line is never cut.
  std::size_t chunk_bytes = std::size_t{1} << 19;
  int parts = 0;  ///< pieces of the sort by row; 0: one a thread
};

/// read_matrix_market for a text that is in memory already (decompressed).
/// \param name  to show in messages
/// \throws Error (input) as read_matrix_market
template <Scalar Value, Index Idx = std::int32_t>
[[nodiscard]] Csr<Value, Idx> parse_matrix_market(const Context& context, std::string_view name,
                                                  std::span<const char> text,
                                                  MatrixMarketHeader* header = nullptr,
                                                  const TextPartition& partition = {});

/// read_matrix_market_header for a text that is in memory already.
/// \throws Error (input)
[[nodiscard]] MatrixMarketHeader parse_matrix_market_header(std::string_view name,
                                                            std::span<const char> text);

}  // namespace sortie::matrices
