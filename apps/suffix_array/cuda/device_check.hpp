#pragma once

#include <cstdint>
#include <span>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"

namespace sortie::suffix_array::cuda {

/// Checks on the device, in O(n), that `suffixes` is the suffix array of `text`:
/// suffix_array::check for texts and arrays that lie there. \param context  stream and memory
/// budget; the current device must be the context's \throws Error (check) naming the first entry at
/// fault \throws Error (out_of_memory, device) Extra memory: sizeof(Index) bytes a symbol, and a
/// bit if there are separators. Waits for the stream. Source: Burkhardt, Karkkainen (CPM 2003),
/// section 8.
template <Position Index>
void check_on_device(const Context& context, const DeviceText& text,
                     std::span<const Index> suffixes);

}  // namespace sortie::suffix_array::cuda
