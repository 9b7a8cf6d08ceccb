// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// How one array is sorted, decided by a sample of it on the device.
namespace sortie::segsort {

/// Arrays of fewer items are not examined: the launches would take longer than they save. Those of
/// 8-byte keys, of which all digits take 8 passes, are examined from fewer items on if they are not
/// in place.
inline constexpr std::uint64_t least_examined = 1 << 21;
inline constexpr std::uint64_t least_long_keys_examined = 1 << 16;

/// What an array may be, by a sample of it. For a copy in reverse, items with values must descend
/// strictly, since equal keys keep their order.
enum class InputKind : std::uint32_t { other, ascending, descending, few_keys };

/// How an array is sorted that is none of the known kinds: by ranges of its keys (partition.cuh),
/// by their digits (radix_passes.cuh), or by the two highest digits, and then each run of buckets
/// that fits a tile by a block (bucket_runs.cuh). By magnitudes: as by buckets, but those of the keys
/// as floating-point numbers of 16 bits.
enum class ArrayMethod : std::uint32_t { ranges, digits, buckets, magnitudes };

/// In temporary storage.
struct ArrayDecision {
  InputKind sampled;
  ArrayMethod method;
  std::uint32_t disproved;  ///< not 0 if some items contradict `sampled`

  /// Whether the array is to be sorted by `tried`.
  [[nodiscard]] __device__ bool is_due(ArrayMethod tried) const {
    return method == tried && (sampled == InputKind::other || disproved != 0);
  }
  /// Whether the kernels of `tried` are to run: both kinds of buckets share kernels.
  [[nodiscard]] __device__ bool takes_kernels_of(ArrayMethod tried) const {
    return is_due(tried) || (tried == ArrayMethod::buckets && is_due(ArrayMethod::magnitudes));
  }
  /// Whether the array has few distinct keys, which have been counted.
  [[nodiscard]] __device__ bool has_few_keys() const {
    return sampled == InputKind::few_keys && disproved == 0;
  }
};

}  // namespace sortie::segsort
