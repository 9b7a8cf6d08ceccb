#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/suffix_array/cuda/counts.cuh"
#include "sortie/apps/suffix_array/cuda/scan.cuh"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {

/// 32 numbers of a set as bits, and how many numbers of the set come before them: beside each
/// other, because whoever asks for one of them at a random place asks for the other next.
template <class Index>
struct alignas(2 * sizeof(Index)) NumberedWord {
  std::uint32_t bits;
  Index before;

  __host__ __device__ bool contains(std::uint64_t number) const {
    return (bits >> (number % 32) & 1U) != 0;
  }
  /// How many numbers of the set are smaller; of the word that `number` belongs to.
  __device__ Index rank(std::uint64_t number) const {
    return before + static_cast<Index>(__popc(bits & ((1U << (number % 32)) - 1)));
  }
};

/// A set of numbers below a bound, as kernels see it.
template <class Index>
struct NumberedSet {
  NumberedWord<Index>* words;

  __device__ NumberedWord<Index> word(std::uint64_t number) const { return words[number / 32]; }
  __device__ bool contains(std::uint64_t number) const {
    return (words[number / 32].bits >> (number % 32) & 1U) != 0;
  }
  /// How many numbers of the set are smaller. Once the set is numbered.
  __device__ Index rank(std::uint64_t number) const { return word(number).rank(number); }

  __device__ void insert(std::uint64_t number) const {
    atomicOr(&words[number / 32].bits, 1U << (number % 32));
  }
};

/// The scan that numbers a set.
template <class Index>
struct NumberWords {
  NumberedWord<Index>* words;
  Index count;  ///< of words
  Index* all;

  __device__ Index operator()(Index i) const { return static_cast<Index>(__popc(words[i].bits)); }
  __device__ void operator()(Index i, const Index& prefix) const {
    words[i].before = prefix - static_cast<Index>(__popc(words[i].bits));
    if (i + 1 == count) *all = prefix;
  }
};

/// A NumberedSet and its memory: a sixteenth of sizeof(Index) bytes a number below the bound.
template <class Index>
class NumberedSetBuffer {
 public:
  NumberedSetBuffer() = default;
  /// Empty. All numbers are below `bound`.
  NumberedSetBuffer(std::uint64_t bound, cudaStream_t stream) : words_(bound / 32 + 1, stream) {
    check_cuda(cudaMemsetAsync(words_.data(), 0, words_.bytes(), stream));
  }

  /// After the last insertion: ranks can be asked for.
  /// \return how many numbers the set has, in device memory
  DeviceBuffer<Index> number(cudaStream_t stream) {
    DeviceBuffer<Index> all(1, stream);
    const NumberWords<Index> pass{words_.data(), static_cast<Index>(words_.size()), all.data()};
    std::size_t bytes = 0;
    scan_items<Index>(nullptr, bytes, pass, AddCounts{}, pass.count, stream);
    DeviceBuffer<std::byte> scratch(bytes, stream);
    scan_items<Index>(scratch.data(), bytes, pass, AddCounts{}, pass.count, stream);
    return all;
  }
  /// The same, and the number for the host. Waits for the stream.
  std::uint64_t number_and_count(cudaStream_t stream) {
    const DeviceBuffer<Index> all = number(stream);
    Index count = 0;
    all.copy_to({&count, 1});
    check_cuda(cudaStreamSynchronize(stream));
    return count;
  }

  [[nodiscard]] NumberedSet<Index> set() { return {words_.data()}; }
  [[nodiscard]] std::uint64_t bytes() const { return words_.bytes(); }

 private:
  DeviceBuffer<NumberedWord<Index>> words_;
};

}  // namespace sortie::suffix_array::cuda
