// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

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

/// Whether the GPU has the shared memory for the largest tiles of a request. Arrays with values of 1 or 2
/// bytes have no others. True without a GPU.
[[nodiscard]] bool has_large_tiles(const DeviceRequest& request);

/// Whether temporary storage is aligned as StorageCarver requires.
[[nodiscard]] inline bool is_aligned_storage(const void* storage) {
  return reinterpret_cast<std::uintptr_t>(storage) % 16 == 0;
}

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
/// Shared memory per block of a GPU that has `bytes`, as far as it may be used.
[[nodiscard]] int limited_shared_bytes(int bytes);

/// Which arrays are sorted by digits; known on the host.
enum class DigitUse : std::uint32_t {
  never,
  uneven,   ///< if the sample is unevenly spread over its range, or has few digits that differ
  always,   ///< the kernels that sort by ranges are not launched
  buckets,  ///< if the sample is evenly spread, by buckets; otherwise as uneven
  buckets_or_digits,  ///< if the sample is evenly spread, by buckets; otherwise by digits
};
/// Whether arrays may be sorted by buckets.
[[nodiscard]] constexpr bool may_take_buckets(DigitUse use) {
  return use == DigitUse::buckets || use == DigitUse::buckets_or_digits;
}

/// Makes all arrays from 2^21 items on use digits in this way that can, whatever is faster. For
/// tests, whose arrays are short. Must not change between the two phases of a call. Not thread-safe.
void preset_use_of_digits(std::optional<DigitUse> use);
[[nodiscard]] bool has_preset_use_of_digits();

}  // namespace sortie::segsort
