#pragma once

#include <cstdint>
#include <span>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"

namespace sortie::suffix_array::cuda {

/// suffix_array::inverse_suffix_array (inverse.hpp) from device memory to device memory.
/// \param context  stream, memory budget, report (phase "inverse"); the current device must be the
///                 context's
/// \throws Error (out_of_memory, device)
/// Complexity: n writes to random places. Memory: the result. Does not wait for the stream.
template <Position Index>
[[nodiscard]] DeviceBuffer<Index> inverse_on_device(const Context& context,
                                                    std::span<const Index> suffixes);

/// suffix_array::burrows_wheeler_transform (burrows_wheeler.hpp) from device memory to device
/// memory.
/// \param context   as above, phase "bwt"
/// \param suffixes  the suffix array of the text
/// \throws Error (out_of_memory, device)
/// Complexity: n reads of a byte at random places. Memory: the result. Does not wait for the
/// stream.
template <Position Index>
[[nodiscard]] DeviceBuffer<std::uint8_t> burrows_wheeler_on_device(const Context& context,
                                                                   const DeviceText& text,
                                                                   std::span<const Index> suffixes);

}  // namespace sortie::suffix_array::cuda
