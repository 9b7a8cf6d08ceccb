// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "primitives/payload.hpp"
#include "sortie/device_segmented_sort.hpp"

/// CUB's sorts as users would call them for a segmented sort.
namespace sortie::baselines {

/// True for the types for which the peers below are compiled: u32 and u64 keys, u8 and u16 keys
/// without values of 8 bytes; 32-bit offsets.
/// Compiling all types would take minutes, and the speed depends only on the width.
[[nodiscard]] bool has_cub_peers(const segsort::DeviceRequest& request);

/// cub::DeviceSegmentedSort on a request (SortKeys or SortPairs, unstable, ascending). Two-phase
/// like segsort::sort_on_device().
/// \return cudaErrorNotSupported if has_cub_peers() is false
cudaError_t cub_segmented_sort(void* temporary, std::size_t& bytes,
                               const segsort::DeviceRequest& request, cudaStream_t stream);

/// cub::DeviceRadixSort over all items, ignoring the segments: the peer for a single segment.
/// \return cudaErrorNotSupported if has_cub_peers() is false
cudaError_t cub_radix_sort(void* temporary, std::size_t& bytes,
                           const segsort::DeviceRequest& request, cudaStream_t stream);

/// Sorts pairs of segment and key by cub::DeviceRadixSort, as CUSP does for sparse matrices. The
/// time does not depend on the segment lengths and includes computing the segment numbers.
///
/// A key of up to 4 bytes and its segment number form one 64-bit word, of which only the used bits are sorted.
/// u64 keys require two stable sorts of 32-bit indices, by key and then by segment, and a final
/// gather of keys and values.
/// \return cudaErrorNotSupported if has_cub_peers() is false
cudaError_t cub_radix_by_segment(void* temporary, std::size_t& bytes,
                                 const segsort::DeviceRequest& request, cudaStream_t stream);

/// Writes to ids[i] the number of the segment that contains item i (modulo 2^32). Two-phase like
/// segsort::sort_on_device(). \pre the segments cover the items in order without gaps
cudaError_t number_segments(void* temporary, std::size_t& bytes, const void* offsets,
                            int offset_bytes, std::int64_t segments, std::uint32_t* ids,
                            std::uint64_t items, cudaStream_t stream);

/// A call of CUB with its types. Values are null for NoValue.
template <class Key, class Value>
struct CubArrays {
  const Key* keys_in;
  Key* keys_out;
  const Value* values_in;
  Value* values_out;
  std::int64_t items;
};

/// cub::DeviceRadixSort on bits [begin_bit, end_bit) (cub_sorts.cuh).
template <class Key, class Value>
cudaError_t cub_radix(void* temporary, std::size_t& bytes, const CubArrays<Key, Value>& arrays,
                      int begin_bit, int end_bit, cudaStream_t stream);

/// cub::DeviceSegmentedSort (cub_sorts.cuh).
template <class Key, class Value>
cudaError_t cub_segmented(void* temporary, std::size_t& bytes, const CubArrays<Key, Value>& arrays,
                          std::int64_t segments, const std::uint32_t* begins,
                          const std::uint32_t* ends, cudaStream_t stream);

}  // namespace sortie::baselines
