// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/suffix_array/ranks/packed_text.hpp"
#include "sortie/cluster_suffix_array.hpp"

namespace sortie::suffix_array::on_ranks {

/// cluster::build_suffix_array() of a text that may be packed: rank 0 then takes no more memory than
/// the others and two chunks of SymbolBlocks.
/// \pre on CUDA, the symbols of the text are in memory
template <Position Pos>
[[nodiscard]] cluster::SuffixArrayShare<Pos> build(cluster::Ranks& ranks, const Context& context,
                                                   const RankText& text,
                                                   const cluster::SuffixArrayOptions& options);

}  // namespace sortie::suffix_array::on_ranks
