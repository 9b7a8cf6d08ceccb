#pragma once

#include <cstdint>
#include <span>

#include "sortie/apps/suffix_array/cuda/device_build.hpp"

namespace sortie::suffix_array::cuda {

/// suffix_array::document_array (documents.hpp) from device memory to device memory.
/// \param context        stream, memory budget, report (phase "documents"); the current device must
///                       be the context's
/// \param suffixes       the suffix array
/// \param record_begins  in device memory, ascending, the first 0; not empty unless `suffixes` is
/// \throws Error (out_of_memory, device)
/// Complexity: a thread a position, O(log r) reads for r records. Memory: the result, 4 bytes a
/// position. Does not wait for the stream.
template <Position Index>
[[nodiscard]] DeviceBuffer<std::uint32_t> documents_on_device(
    const Context& context, std::span<const Index> suffixes,
    std::span<const std::uint64_t> record_begins);

}  // namespace sortie::suffix_array::cuda
