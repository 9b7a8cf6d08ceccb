// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>

#include "apps/suffix_array/cuda/text/common_symbols.cuh"

namespace sortie::suffix_array::cuda {

/// An entry of the LCP array that is not known yet: the suffixes agree in all symbols compared so
/// far. Both values are greater than any length, since a text has at most max_symbols<Index>
/// symbols.
enum class Unknown {
  extended,  ///< equal letters precede the suffixes: follows from another entry
  longer,    ///< different letters precede them: more symbols have to be compared
};

template <class Index>
[[nodiscard]] __host__ __device__ constexpr Index mark_of(Unknown unknown) {
  return unknown == Unknown::extended ? std::numeric_limits<Index>::max()
                                      : std::numeric_limits<Index>::max() - Index{1};
}

/// The entry of the LCP array as far as one window of each suffix determines it.
///
/// \param left, right  CommonSymbols::window_before() of the positions of the previous entry and of
///                     the entry
/// \return the entry, below CommonSymbols::window() - 1, or a mark
template <class Index>
[[nodiscard]] __host__ __device__ Index first_look(const CommonSymbols& text, std::uint64_t left,
                                                   std::uint64_t right) {
  const int common = text.common_behind_first(left, right);
  if (common < text.window() - 1) return static_cast<Index>(common);
  return mark_of<Index>(text.first_letters_equal(left, right) ? Unknown::extended
                                                              : Unknown::longer);
}

}  // namespace sortie::suffix_array::cuda
