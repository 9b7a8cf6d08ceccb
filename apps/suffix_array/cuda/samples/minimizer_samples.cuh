// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/samples/sampling.cuh"
#include "apps/suffix_array/cuda/scan.cuh"

namespace sortie::suffix_array::cuda {

/// Sampling whose choices for minimizers may have been made before, in the order of the text:
/// neighbours read the same part of it, while a group's members each read another.
template <class Index>
struct KnownSamples {
  Sampling sampling;
  NumberedSet<Index> minimizers{};
  /// By minimizer: distance of its own sample, and 256 times that of the next one; 0: not known.
  const std::uint16_t* distances = nullptr;

  /// Symbols of the text, and padding, that a choice may read.
  static constexpr std::uint64_t reach = 256;

  /// As Sampling::samples().
  __device__ void samples(Index position, Index& own, Index& next) const {
    const std::uint32_t both =
        distances == nullptr ? 0U : std::uint32_t{distances[minimizers.rank(position)]};
    if (both == 0) return sampling.samples(position, own, next);
    own = position + static_cast<Index>(both % 256);
    next = position + static_cast<Index>(both / 256);
  }

  /// The word of `distances` of a minimizer, which needs not be in a group.
  /// \param size  symbols of the text
  __device__ std::uint16_t word(Index position, std::uint64_t size) const {
    if (position + reach > size) return 0;
    Index own = 0;
    Index next = 0;
    sampling.samples(position, own, next);
    return static_cast<std::uint16_t>((own - position) | (next - position) << 8);
  }
};

}  // namespace sortie::suffix_array::cuda
