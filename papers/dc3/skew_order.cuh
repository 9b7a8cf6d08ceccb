// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// The comparison of two suffixes in the merge of the skew algorithm.
namespace sortie::suffix_array::cuda::dc3 {

/// A string of positive numbers followed by three zeros, and the ranks, from 1, of its suffixes at
/// positions 1 and 2 modulo 3.
struct RankedString {
  const std::uint32_t* symbols;
  const std::uint32_t* ranks;  ///< those of positions 1 modulo 3 first; a zero after the last
  std::uint32_t thirds;        ///< the number of positions 1 modulo 3

  __host__ __device__ std::uint32_t rank(std::uint32_t position) const {
    return ranks[position / 3 + (position % 3 == 2 ? thirds : 0)];
  }
};

/// One suffix, with the operands of its comparisons.
///   position 0 mod 3: first, second symbol; rank of the next suffix, rank of the one after it
///   position 1 mod 3: first symbol; rank of the next suffix; its own rank
///   position 2 mod 3: first, second symbol; rank of the suffix after the next; its own rank
struct SkewItem {
  std::uint32_t position;
  std::uint32_t first;
  std::uint32_t second;
  std::uint32_t next_rank;
  std::uint32_t other_rank;
};

/// Gathers the item of a suffix at position 0 modulo 3.
struct GatherThird {
  RankedString string;

  __host__ __device__ SkewItem operator()(std::uint32_t position) const {
    return {position, string.symbols[position], string.symbols[position + 1],
            string.rank(position + 1), string.rank(position + 2)};
  }
};

/// Gathers the item of the suffix whose rank is at `index` of RankedString::ranks.
struct GatherRanked {
  RankedString string;

  __host__ __device__ SkewItem operator()(std::uint32_t index) const {
    const std::uint32_t own = string.ranks[index];
    if (index < string.thirds) {
      const std::uint32_t position = 3 * index + 1;
      return {position, string.symbols[position], 0, string.rank(position + 1), own};
    }
    const std::uint32_t position = 3 * (index - string.thirds) + 2;
    return {position, string.symbols[position], string.symbols[position + 1],
            string.rank(position + 2), own};
  }
};

/// The lexicographic order of suffixes.
struct IsBefore {
  __host__ __device__ bool operator()(const SkewItem& left, const SkewItem& right) const {
    if (left.position % 3 == 0) return third_is_before(left, right);  // `right` may be one too
    if (right.position % 3 == 0) return !third_is_before(right, left);
    return left.other_rank < right.other_rank;
  }

 private:
  // No two suffixes are equal, so a suffix that is not before another is after it.
  __host__ __device__ static bool third_is_before(const SkewItem& third, const SkewItem& other) {
    if (third.first != other.first) return third.first < other.first;
    // Also correct if `other` is at 0 modulo 3: then both next suffixes have ranks.
    if (other.position % 3 != 2) return third.next_rank < other.next_rank;
    if (third.second != other.second) return third.second < other.second;
    return third.other_rank < other.next_rank;
  }
};

}  // namespace sortie::suffix_array::cuda::dc3
