// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sortie/sort.hpp"

/// Designs as their papers published them, to compare with. A program that calls register_all() may
/// use these names like those of the library: `options.algorithm = papers::rmg`. The policy of
/// segmented sort, papers::ics17, is declared in papers/ics17/sort_ics17.hpp, which needs CUDA.
namespace sortie::papers {

/// Array sorts, on CUDA.
inline constexpr SortAlgorithm rmg{16};      ///< rmg/: the radix sort over GPUs of Ilic
inline constexpr SortAlgorithm tanasic{17};  ///< tanasic/: the merge sort in log2(G) stages
inline constexpr SortAlgorithm het{18};      ///< het/: GPUs sort chunks, host threads merge them
/// bitonic/: one GPU; in place, constant extra memory, not stable
inline constexpr SortAlgorithm bitonic{19};
/// rmg/: host memory only; the host merges the parts of large buckets
inline constexpr SortAlgorithm rmg_repair{20};

/// Registers all of them, once. Called by main() of the program and of the tests; in a build without
/// CUDA only the names become known.
void register_all();

}  // namespace sortie::papers
