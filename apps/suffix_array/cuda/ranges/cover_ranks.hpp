// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// CoverRanks and their memory: sizeof(Index) bytes for each position of the cover.
template <Position Index>
struct RankedCover {
  DeviceBuffer<Index> ranks;
  DeviceBuffer<std::uint16_t> places;
  DeviceBuffer<std::uint16_t> starts;
  std::uint32_t period = 0;
  std::uint32_t elements = 0;
  std::uint64_t rounds = 0;  ///< rounds of doubling that the ranking took

  [[nodiscard]] CoverRanks<Index> view() const {
    return {ranks.data(), places.data(), starts.data(), period, elements};
  }
};

/// Ranks the suffixes that start at positions of a cover: by a period of symbols of the text, then
/// by prefix doubling with steps of a period in place of symbols.
/// \param symbols      symbols of the text, at least 1
/// \param cover_order  see DifferenceCover
/// \throws Error (out_of_memory, device)
/// Waits for the stream several times. Memory: bytes_to_rank() of range_plan.hpp.
template <Position Index>
[[nodiscard]] RankedCover<Index> rank_cover(const SymbolStream& text, std::uint64_t symbols,
                                            std::uint32_t cover_order, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
