#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"
#include "sortie/apps/suffix_array/packing.hpp"

namespace sortie::suffix_array::cuda {

/// Bits of a word that the first sort looks at, at most. Seven passes of an 8-bit radix sort
/// instead of eight take an eighth off the sort, which is the largest phase, and still leave 24 of
/// 27 DNA symbols: on human chrX 19 % of the suffixes are unresolved after 24 symbols, 14 %
/// after 32.
inline constexpr int first_sort_bits = 56;

/// One bit for every position of the text, set at separators.
[[nodiscard]] DeviceBuffer<std::uint32_t> mark_separators(const DeviceText& text,
                                                          cudaStream_t stream);

/// The packing plan for the letters of the text, with as many symbols as first_sort_bits hold.
/// Waits for the stream.
[[nodiscard]] PackingPlan plan_first_sort(const DeviceText& text,
                                          const std::uint32_t* separator_bits, cudaStream_t stream);

/// The plan with fewer symbols, so that words have at most `bits` bits (at least one symbol stays).
[[nodiscard]] PackingPlan narrowed(PackingPlan plan, int bits);

/// Writes word and position of every suffix, in text order.
/// \param words, positions  one item for every symbol of the text
template <Position Index>
void pack_prefixes(const DeviceText& text, const std::uint32_t* separator_bits,
                   const PackingPlan& plan, std::uint64_t* words, Index* positions,
                   cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
