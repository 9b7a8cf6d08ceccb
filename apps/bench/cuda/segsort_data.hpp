// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/bench/segsort/segment_cases.hpp"
#include "apps/bench/sort/sort_bench.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/key_types.hpp"

/// Input and result check of the segmented-sort benchmark on the device. For 2^27 pairs, each takes
/// a few milliseconds, whereas generating, copying and checking on the host takes seconds.
namespace sortie::bench {

/// Segments on the device: one more offset than segments, from 0 to the number of items.
struct DeviceSegments {
  DeviceBuffer<std::byte> offsets;
  int offset_bytes = 4;  ///< the smallest sufficient width, since reading them is part of the work
  std::int64_t count = 0;
};

/// Distribution of the keys. Where keys are in order, they are in each segment, over the whole range
/// of unsigned keys.
struct KeyDistribution {
  SortCase keys{"uniform", SortCase::Kind::uniform, 0};  ///< uniform: the keys of random_keys()
  const std::uint32_t* ids = nullptr;  ///< of each item, from baselines::number_segments()
  const void* offsets = nullptr;       ///< of the segments
  int offset_bytes = 4;
};

/// Writes keys of type `type`; those of a distribution other than uniform are unsigned.
void fill_random_keys(KeyType type, void* keys, std::uint64_t items, std::uint64_t seed,
                      cudaStream_t stream, const KeyDistribution& distribution = {});

/// Writes 0, 1, 2, ... as values of `value_bytes` (4 or 8) bytes each; writes nothing for 0.
void fill_index_values(int value_bytes, void* values, std::uint64_t items, cudaStream_t stream);

/// The same segments as make_segment_case(). Waits for the stream if their number is computed on
/// the device. \pre items > 0
[[nodiscard]] DeviceSegments make_device_segments(const SegmentShape& shape, std::uint64_t items,
                                                  std::uint64_t seed, cudaStream_t stream);

/// Numbers of wrong items in a result, by kind of error.
struct ResultFaults {
  unsigned long long unsorted = 0;       ///< keys less than the preceding key of the segment
  unsigned long long foreign = 0;        ///< values that are not an index in the segment
  unsigned long long mismatched = 0;     ///< keys that differ from the original key of their value
  unsigned long long repeated = 0;       ///< values that occur more than once
  unsigned long long overwritten = 0;    ///< keys of the input that were changed
  unsigned long long first = ~0ULL;      ///< smallest position in the output with an error
  unsigned long long hashes[2][2] = {};  ///< of keys and segments: input, output; two sums each
  /// Keys without values only: the keys of some segment are not those of the input.
  [[nodiscard]] bool other_keys() const {
    return hashes[0][0] != hashes[1][0] || hashes[0][1] != hashes[1][1];
  }
  [[nodiscard]] bool none() const {
    return unsorted + foreign + mismatched + repeated + overwritten == 0 && !other_keys();
  }
};

/// A result to check. The input is that of fill_random_keys() and fill_index_values().
struct ResultToCheck {
  KeyType key_type = KeyType::u32;
  int value_bytes = 0;
  std::uint64_t items = 0;
  std::uint64_t seed = 0;         ///< seed of fill_random_keys()
  const void* keys_in = nullptr;  ///< must be unchanged
  const void* keys_out = nullptr;
  const void* values_out = nullptr;
  const std::uint32_t* ids = nullptr;  ///< from baselines::number_segments()
  KeyDistribution distribution = {};   ///< of fill_random_keys()
};

/// Checks that keys ascend in every segment and that the values are a permutation of the indices of
/// their segment under which each key has its original value. The original keys are recomputed from
/// the seed, so overwritten input cannot hide an error. Waits for the stream.
///
/// Without values, the pairs (segment, key) of input and output are compared as multisets, by two
/// sums of 64-bit hashes over all pairs. For random hashes, a wrong multiset of n items would pass
/// with probability below (n / 2^64)^2: for n = 2^27, 2^-74.
[[nodiscard]] ResultFaults check_result(const ResultToCheck& result, cudaStream_t stream);

}  // namespace sortie::bench
