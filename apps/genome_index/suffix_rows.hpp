// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "apps/suffix_array/row_stream.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::genomes {

/// In which order the blocks of a suffix array come. Within a block, rows always ascend.
enum class RowOrder { ascending, descending };

/// Receives the rows [first, first + rows.size()) of a suffix array. Called on the thread that has
/// called for_each_rows(); it may use the threads of the host runtime.
template <suffix_array::Position Pos>
using VisitRows = std::function<void(std::uint64_t first, std::span<const Pos> rows)>;

/// Builds the suffix array of a text and passes it on block by block. Blocks follow each other in
/// the given order; none is empty. The suffix array exists as a whole only if the memory suffices;
/// otherwise it is built in ranges (host::build_in_ranges()).
///
/// \param context  as suffix_array::build()
/// \param text     not empty; its bytes are not changed
/// \throws Error as suffix_array::build(), and what `visit` throws
/// \pre not streams_from_device(), which has for_each_row_block()
template <suffix_array::Position Pos>
void for_each_rows(const Context& context, const suffix_array::TextView& text, RowOrder order,
                   const VisitRows<Pos>& visit);

/// The same as letters and samples, in ascending order of the rows of the request. From a GPU, only
/// these are copied, while it sorts the next range; on the host, they are taken from rows of the
/// suffix array.
/// \param request  ascending, without a tail, and not mirrored, unless streams_from_device()
void for_each_row_block(const Context& context, const suffix_array::TextView& text,
                        const suffix_array::RowRequest& request,
                        const suffix_array::VisitRowBlock& visit);

/// Whether rows come from a GPU.
[[nodiscard]] bool streams_from_device(const Context& context);

/// Calls build(Pos()) with the smaller type of positions that addresses `symbols` symbols.
template <class Build>
void with_position_type(std::uint64_t symbols, const Build& build) {
  constexpr std::uint64_t longest = (std::uint64_t{1} << 32) - 2;
  if (symbols <= longest) return build(std::uint32_t{});
  build(std::uint64_t{});
}

/// Bytes of host memory that the rows of a text take at most, without a memory budget.
[[nodiscard]] std::uint64_t memory_of_rows(const Context& context, std::uint64_t symbols);

}  // namespace sortie::genomes
