// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/bench/sort/sort_bench.hpp"
#include "sortie/key_types.hpp"

/// Input and result check of the sort benchmark, on the GPU that holds the data.
namespace sortie::bench {

/// A range of the array in the memory of the current device.
struct SortRange {
  void* keys = nullptr;
  void* values = nullptr;
  std::uint64_t begin = 0;  ///< index of the first item in the array
  std::uint64_t size = 0;
};

/// Width and order of the bits of keys.
struct KeyFormat {
  int bytes;
  KeyKind kind;

  KeyFormat(int bytes_of_key, KeyKind kind_of_key) : bytes(bytes_of_key), kind(kind_of_key) {}
  KeyFormat(KeyType type) : KeyFormat(key_bytes(type), kind_of(type)) {}
};

/// Writes keys, and the index of each item as its value.
void fill_range(const SortRange& range, const SortCase& sort_case, std::uint64_t items,
                const KeyFormat& key, int value_bytes, std::uint64_t seed, cudaStream_t stream);

struct RangeCheck {
  std::uint64_t checksum = 0;      ///< sum of a hash of each pair
  std::uint64_t out_of_order = 0;  ///< neighbours whose keys descend
  std::uint64_t not_stable = 0;    ///< neighbours of equal keys whose values descend
  std::uint64_t first_key = 0;     ///< encoded as an unsigned integer in sort order
  std::uint64_t last_key = 0;
};

/// Checks a range. Waits for the stream.
[[nodiscard]] RangeCheck check_range(const SortRange& range, const KeyFormat& key, int value_bytes,
                                     cudaStream_t stream);

/// Writes the keys at the positions in range.values to range.keys.
void take_positions(const SortRange& range, const void* keys, const KeyFormat& key,
                    int position_bytes, cudaStream_t stream);

/// Writes pairs as words, the key in the upper half and the value in the lower one; and back.
/// \pre keys and values of 4 bytes
void pack_pairs(const SortRange& range, std::uint64_t* pairs, cudaStream_t stream);
void unpack_pairs(const std::uint64_t* pairs, const SortRange& range, cudaStream_t stream);

}  // namespace sortie::bench
