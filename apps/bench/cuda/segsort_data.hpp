#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sortie/apps/bench/segment_cases.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/segsort/key_types.hpp"

/// Input of the segmented-sort benchmark made on the device, and its results checked there. At 2^27
/// pairs each takes a few milliseconds, where the host takes seconds to generate, copy and check.
namespace sortie::bench {

/// Segments on the device: one more offset than there are segments, 0 to the number of items.
struct DeviceSegments {
  DeviceBuffer<std::byte> offsets;
  int offset_bytes = 4;  ///< the narrowest that holds them, since their reading is part of the work
  std::int64_t count = 0;
};

/// Writes the keys that random_keys() gives for `type`, `items` and `seed`.
void fill_random_keys(KeyType type, void* keys, std::uint64_t items, std::uint64_t seed,
                      cudaStream_t stream);

/// Writes 0, 1, 2, ... as values of `value_bytes` (4 or 8; nothing for 0) bytes each.
void fill_index_values(int value_bytes, void* values, std::uint64_t items, cudaStream_t stream);

/// The segments that make_segment_case() makes of the same arguments. Waits for the stream where
/// only the device knows how many there are. \pre items > 0
[[nodiscard]] DeviceSegments make_device_segments(const SegmentShape& shape, std::uint64_t items,
                                                  std::uint64_t seed, cudaStream_t stream);

/// Writes to ids[i] the number of the segment that holds item i (for 2^32 segments and more: its
/// last 32 bits). Two-phase as segsort::sort_on_device(). \pre segments tile the items in order
cudaError_t number_segments(void* temporary, std::size_t& bytes, const void* offsets,
                            int offset_bytes, std::int64_t segments, std::uint32_t* ids,
                            std::uint64_t items, cudaStream_t stream);

/// How many items of a result are wrong, by what is wrong with them.
struct ResultFaults {
  unsigned long long unsorted = 0;     ///< key below that of the place before, in the same segment
  unsigned long long foreign = 0;      ///< value that is no index of the segment
  unsigned long long mismatched = 0;   ///< key that is not the one its value came with
  unsigned long long repeated = 0;     ///< value that stands elsewhere as well
  unsigned long long overwritten = 0;  ///< key of the input that was changed
  unsigned long long first = ~0ULL;    ///< smallest place in the output with a fault
  unsigned long long hashes[2][2] = {};  ///< of keys and segments: input, output; two sums each
  /// Keys without values only: the keys of some segment are not those of the input.
  [[nodiscard]] bool other_keys() const {
    return hashes[0][0] != hashes[1][0] || hashes[0][1] != hashes[1][1];
  }
  [[nodiscard]] bool none() const {
    return unsorted + foreign + mismatched + repeated + overwritten == 0 && !other_keys();
  }
};

/// A result to check: keys and values that started as fill_random_keys() and fill_index_values().
struct ResultToCheck {
  KeyType key_type = KeyType::u32;
  int value_bytes = 0;
  std::uint64_t items = 0;
  std::uint64_t seed = 0;         ///< of fill_random_keys()
  const void* keys_in = nullptr;  ///< must still be what it was
  const void* keys_out = nullptr;
  const void* values_out = nullptr;
  const std::uint32_t* ids = nullptr;  ///< from number_segments()
};

/// Checks that keys ascend in every segment and that the values are a permutation of their segment
/// which brings every key with its own value. What the keys were is computed again from the seed,
/// so nothing that a sort overwrites can hide a fault. Waits for the stream.
///
/// Without values, the pairs (segment, key) of input and output are compared as multisets: by two
/// sums of 64-bit hashes over all of them. Were the hashes random, a wrong multiset of n items
/// would pass with probability below (n / 2^64)^2: for n = 2^27, 2^-74.
[[nodiscard]] ResultFaults check_result(const ResultToCheck& result, cudaStream_t stream);

}  // namespace sortie::bench
