// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sortie/device_segmented_sort.hpp"

/// What requests refer to that is not installed, and what a program may set before it sorts.
namespace sortie::segsort {

/// Least and greatest key of a segment, as unsigned numbers that ascend in sort order:
/// BitRangeCodec has encoded signed and floating-point keys, and all keys of a descending sort.
struct SegmentRange {
  std::uint64_t least;
  std::uint64_t greatest;
};

/// Returns false for negative counts, bits outside of the key, and unsupported widths.
[[nodiscard]] bool is_valid(const DeviceRequest& request);

/// A two-phase sort with the conventions of sort_on_device().
using RegisteredSort = cudaError_t (*)(void* temp_storage, std::size_t& temp_storage_bytes,
                                       const DeviceRequest& request, cudaStream_t stream);

/// Makes sort_on_device() call `sort` for requests with this policy. A second registration of the
/// same policy is ignored. Not thread-safe. \pre policy != Policy::tuned
void register_policy(Policy policy, RegisteredSort sort);

/// Makes Policy::tuned choose its kernels as on a GPU that has at most `bytes` of shared memory per
/// block; 0: as the GPU has. For tests of GPUs with less shared memory. Must not change between the
/// two phases of a call. Not thread-safe.
void limit_shared_bytes(int bytes);

/// Makes all arrays from 2^21 items on be sorted by digits that can be, whatever is faster. For
/// tests, whose arrays are short. Must not change between the two phases of a call. Not thread-safe.
void sort_arrays_by_digits(bool always);

}  // namespace sortie::segsort
