// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_segments.hpp"

#include <algorithm>

namespace sortie::segsort {
namespace {

constexpr unsigned int offset_threads = 256;
constexpr std::uint64_t most_offset_blocks = 1 << 14;

/// Thread i writes the offsets of the segments after that of item i - 1, up to that of item i; the
/// thread after the last item, all that remain.
template <class Id, class Offset>
__global__ void __launch_bounds__(offset_threads)
    offsets_of_ids_kernel(const Id* ids, std::uint64_t items, std::uint64_t segments,
                          Offset* offsets) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * offset_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * offset_threads + threadIdx.x; i <= items;
       i += step) {
    const std::uint64_t first = i == 0 ? 0 : static_cast<std::uint64_t>(ids[i - 1]) + 1;
    const std::uint64_t last = i == items ? segments : static_cast<std::uint64_t>(ids[i]);
    for (std::uint64_t s = first; s <= last && s <= segments; ++s)
      offsets[s] = static_cast<Offset>(i);
  }
}

/// Thread s writes the offset of segment s.
template <class Offset>
__global__ void __launch_bounds__(offset_threads)
    offsets_of_length_kernel(std::uint64_t length, std::uint64_t items, std::uint64_t segments,
                             Offset* offsets) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * offset_threads;
  for (std::uint64_t s = std::uint64_t{blockIdx.x} * offset_threads + threadIdx.x; s <= segments;
       s += step)
    offsets[s] = static_cast<Offset>(min(s * length, items));
}

unsigned int blocks_of(std::uint64_t threads) {
  return static_cast<unsigned int>(
      std::min((threads + offset_threads - 1) / offset_threads, most_offset_blocks));
}

/// Returns function(pointer of 4- or 8-byte numbers).
template <class Function>
auto with_numbers(void* numbers, int bytes, const Function& function) {
  return bytes == 4 ? function(static_cast<std::uint32_t*>(numbers))
                    : function(static_cast<std::uint64_t*>(numbers));
}

}  // namespace

cudaError_t write_offsets_of_ids(const void* ids, int id_bytes, std::int64_t num_items,
                                 std::int64_t num_segments, void* offsets, int offset_bytes,
                                 cudaStream_t stream) {
  if (num_items < 0 || num_segments < 0) return cudaErrorInvalidValue;
  const auto items = static_cast<std::uint64_t>(num_items);
  with_numbers(const_cast<void*>(ids), id_bytes, [&](const auto* typed_ids) {
    with_numbers(offsets, offset_bytes, [&](auto* typed_offsets) {
      offsets_of_ids_kernel<<<blocks_of(items + 1), offset_threads, 0, stream>>>(
          typed_ids, items, static_cast<std::uint64_t>(num_segments), typed_offsets);
    });
  });
  return cudaGetLastError();
}

cudaError_t write_offsets_of_length(std::int64_t length, std::int64_t num_items,
                                    std::int64_t num_segments, void* offsets, int offset_bytes,
                                    cudaStream_t stream) {
  if (length < 0 || num_items < 0 || num_segments < 0) return cudaErrorInvalidValue;
  const auto segments = static_cast<std::uint64_t>(num_segments);
  with_numbers(offsets, offset_bytes, [&](auto* typed) {
    offsets_of_length_kernel<<<blocks_of(segments + 1), offset_threads, 0, stream>>>(
        static_cast<std::uint64_t>(length), static_cast<std::uint64_t>(num_items), segments, typed);
  });
  return cudaGetLastError();
}

}  // namespace sortie::segsort
