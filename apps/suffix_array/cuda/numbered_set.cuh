// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/device_buffer.hpp"

namespace sortie::suffix_array::cuda {

/// 32 numbers of a set as bits, and the number of elements before them. Stored side by side,
/// because a random access to one is followed by an access to the other.
template <class Index>
struct alignas(2 * sizeof(Index)) NumberedWord {
  std::uint32_t bits;
  Index before;

  __host__ __device__ bool contains(std::uint64_t number) const {
    return (bits >> (number % 32) & 1U) != 0;
  }
  /// The number of elements smaller than `number`, which must belong to this word.
  __device__ Index rank(std::uint64_t number) const {
    return before + static_cast<Index>(__popc(bits & ((1U << (number % 32)) - 1)));
  }
};

/// A set of numbers below a bound: the view for kernels.
template <class Index>
struct NumberedSet {
  NumberedWord<Index>* words;

  __device__ NumberedWord<Index> word(std::uint64_t number) const { return words[number / 32]; }
  __device__ bool contains(std::uint64_t number) const {
    return (words[number / 32].bits >> (number % 32) & 1U) != 0;
  }
  /// The number of elements smaller than `number`. Valid after the set is numbered.
  __device__ Index rank(std::uint64_t number) const { return word(number).rank(number); }

  __device__ void insert(std::uint64_t number) const {
    atomicOr(&words[number / 32].bits, 1U << (number % 32));
  }
};

/// A NumberedSet and its memory: sizeof(Index) / 16 bytes for each number below the bound.
template <class Index>
class NumberedSetBuffer {
 public:
  NumberedSetBuffer() = default;
  /// Creates an empty set for numbers below `bound`.
  NumberedSetBuffer(std::uint64_t bound, cudaStream_t stream);

  /// Numbers the set. Call it after the last insertion and before rank().
  /// \return the size of the set, in device memory
  DeviceBuffer<Index> number(cudaStream_t stream);
  /// Numbers the set and returns its size. Waits for the stream.
  std::uint64_t number_and_count(cudaStream_t stream);

  [[nodiscard]] NumberedSet<Index> set() { return {words_.data()}; }
  [[nodiscard]] std::uint64_t bytes() const { return words_.bytes(); }

 private:
  DeviceBuffer<NumberedWord<Index>> words_;
};

}  // namespace sortie::suffix_array::cuda
