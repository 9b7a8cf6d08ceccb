// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

namespace sortie::suffix_array::cuda {

/// Two counts that a scan adds. With 32-bit counts they form one word, which CUB's scan passes from
/// block to block in one access.
template <class Index>
struct CountPair {
  Index first;
  Index second;

  __host__ __device__ friend CountPair operator+(const CountPair& a, const CountPair& b) {
    return {a.first + b.first, a.second + b.second};
  }
};

template <class Index>
using Counts = std::conditional_t<sizeof(Index) == 4, std::uint64_t, CountPair<Index>>;

template <class Index>
__host__ __device__ Counts<Index> make_counts(Index first, Index second) {
  if constexpr (sizeof(Index) == 4) {
    return std::uint64_t{first} | std::uint64_t{second} << 32;
  } else {
    return {first, second};
  }
}
template <class Index>
__host__ __device__ Index first_count(const Counts<Index>& counts) {
  if constexpr (sizeof(Index) == 4) {
    return static_cast<Index>(counts);
  } else {
    return counts.first;
  }
}
template <class Index>
__host__ __device__ Index second_count(const Counts<Index>& counts) {
  if constexpr (sizeof(Index) == 4) {
    return static_cast<Index>(counts >> 32);
  } else {
    return counts.second;
  }
}

struct AddCounts {
  template <class Value>
  __host__ __device__ Value operator()(const Value& left, const Value& right) const {
    return left + right;
  }
};

}  // namespace sortie::suffix_array::cuda
