// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "sortie/context.hpp"
#include "sortie/suffix_array.hpp"

/// A suffix array that leaves the device range by range, as what indexes of texts keep of it: letters
/// of the Burrows-Wheeler transform and samples. Source: cuda/ranges/row_stream.cu.
namespace sortie::suffix_array {

/// What is wanted of each row. Rows are the entries of the suffix array, numbered from 0.
struct RowRequest {
  bool descending = false;         ///< row 0 is the last entry
  std::uint64_t sample_step = 1;   ///< row r has a sample if r modulo this
  std::uint64_t sample_phase = 0;  ///< is this
  std::uint64_t tail = 0;          ///< suffixes of at most so many symbols have marks
  std::uint8_t first_letter = 0;   ///< letter of the row of the suffix at 0
  /// The text is the given symbols, codes 0 to 3, and behind them their reverse complement (a code c
  /// has 3 - c). It has no separators.
  bool mirrored = false;

  /// Rows below `row` that have samples.
  [[nodiscard]] constexpr std::uint64_t samples_below(std::uint64_t row) const {
    return (row + sample_step - 1 - sample_phase) / sample_step;
  }
};

inline constexpr std::uint64_t no_row = std::numeric_limits<std::uint64_t>::max();

/// Consecutive rows.
struct RowBlock {
  std::uint64_t first = 0;                 ///< number of the first row
  std::span<const std::uint8_t> letters;   ///< before the suffix of each row
  std::span<const std::uint64_t> samples;  ///< positions of the rows that have samples
  /// The row of the suffix at 0, then those of the suffixes of 1, 2, ... symbols; no_row where it
  /// comes later.
  std::span<const std::uint64_t> marks;
};

/// Page-locked host memory of cuda::stream_rows().
inline constexpr std::uint64_t row_stream_bytes = std::uint64_t{128} << 20;

using VisitRowBlock = std::function<void(const RowBlock& block)>;

namespace cuda {

struct RangePlan;

/// Builds a suffix array in ranges on the GPU (range_build.cu) and passes its rows on in ascending
/// order, block by block, on the calling thread: while a range is visited, the next one is sorted.
///
/// \tparam Index  positions on the device; addresses the text
/// \param text  not empty. Letters before which a record ends are unspecified; see
///              RowRequest::mirrored
/// \param plan  null: that for the memory of the device
/// \throws Error (out_of_memory, unavailable, device), and what `visit` throws
/// Host memory: row_stream_bytes. GPU memory: as a construction in ranges, and 1 +
/// 8 / sample_step bytes for each row of a range.
template <Position Index>
void stream_rows(const Context& context, const TextView& text, const RowRequest& request,
                 const VisitRowBlock& visit, const RangePlan* plan = nullptr);

}  // namespace cuda
}  // namespace sortie::suffix_array
