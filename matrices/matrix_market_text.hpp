// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
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
