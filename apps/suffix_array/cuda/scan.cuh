// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

/// Prefix sums and maxima of arrays in device memory, in place, and sets whose elements a prefix sum
/// numbers. CUB's scans take long to compile, so scan.cu is the only source that includes them.
/// \throws Error (unavailable)  more items than the scan of this CUB can count; (device)
namespace sortie::suffix_array::cuda {

template <class Index>
struct RefinementTotals;

template <Position Index>
void inclusive_sum(Index* values, std::uint64_t count, cudaStream_t stream);
template <Position Index>
void inclusive_maximum(Index* values, std::uint64_t count, cudaStream_t stream);

/// Replaces the totals of the tiles by those of all tiles before. Two-phase, as CUB's scans.
template <Position Index>
cudaError_t scan_totals(void* scratch, std::size_t& bytes, RefinementTotals<Index>* totals,
                        std::uint64_t tiles, cudaStream_t stream = nullptr);

/// 32 numbers of a set as bits, and the number of elements before them. Both are in one aligned
/// word, since who reads one at a random position reads the other as well.
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
    return words[number / 32].contains(number);
  }
  /// The number of elements smaller than `number`. Valid after the set is numbered.
  __device__ Index rank(std::uint64_t number) const { return word(number).rank(number); }

  /// Reads before it writes: most callers insert the same numbers many times.
  __device__ void insert(std::uint64_t number) const {
    if (!contains(number)) atomicOr(&words[number / 32].bits, 1U << (number % 32));
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
  void number(cudaStream_t stream);
  /// Numbers the set and returns its size. Waits for the stream.
  std::uint64_t number_and_count(cudaStream_t stream);

  [[nodiscard]] NumberedSet<Index> set() { return {words_.data()}; }
  [[nodiscard]] std::uint64_t bytes() const { return words_.bytes(); }

 private:
  DeviceBuffer<NumberedWord<Index>> words_;
};

/// Words of a set that a warp handles together.
inline constexpr unsigned set_words_a_warp = 8;

// A warp visits the elements of eight words. Lane l lists those of byte l of the words in shared
// memory, then the lanes take the elements in turns:
//
//   words      ..1..1.. ........ 11.....1 ...1....   ...   lane l: byte l
//   elements   2  5  16  17  23  27 ...                    lane l: element l, l + 32, ...
template <class Index, class Visit>
__global__ void __launch_bounds__(element_threads)
    visit_elements_kernel(NumberedSet<Index> set, std::uint64_t words, Visit visit) {
  __shared__ std::uint8_t elements_of_warps[element_threads / 32][32 * set_words_a_warp];
  std::uint8_t* const elements = elements_of_warps[threadIdx.x / 32];
  const std::uint64_t warp = (std::uint64_t{blockIdx.x} * element_threads + threadIdx.x) / 32;
  const std::uint64_t first_word = warp * set_words_a_warp;
  const std::uint64_t own_word = first_word + lane() / 4;
  const NumberedWord<Index> word =
      own_word < words ? set.words[own_word] : NumberedWord<Index>{0, 0};
  const unsigned shift = lane() % 4 * 8;
  std::uint32_t bits = word.bits >> shift & 0xffU;
  const auto up_to =
      static_cast<std::uint32_t>(inclusive_sum_in_warp(static_cast<int>(lanes_of(bits))));
  for (std::uint32_t at = up_to - lanes_of(bits); bits != 0; bits &= bits - 1)
    elements[at++] =
        static_cast<std::uint8_t>(lane() * 8 + static_cast<unsigned>(first_lane(bits)));
  __syncwarp();
  const std::uint32_t count = from_lane(up_to, 31);
  const Index before = from_lane(word.before, 0);
  for (std::uint32_t i = lane(); i < count; i += 32)
    visit(static_cast<Index>(32 * first_word + elements[i]), static_cast<Index>(before + i));
}

#ifdef __CUDACC__
// Thread i tests number i; a warp writes one word of the set by a vote.
template <class Index, class Test>
__global__ void __launch_bounds__(element_threads)
    fill_set_kernel(NumberedSet<Index> set, std::uint64_t bound, Test test) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const unsigned votes = __ballot_sync(full_warp, i < bound && test(static_cast<Index>(i)));
  if (threadIdx.x % 32 == 0 && i < bound) set.words[i / 32].bits = votes;
}

/// Fills an empty set with the numbers below `bound` for which test(number), called on the device
/// for each of them, is true. \pre bound > 0
template <class Index, class Test>
void fill_set(NumberedSet<Index> set, std::uint64_t bound, const Test& test, cudaStream_t stream) {
  fill_set_kernel<<<blocks_for(bound), element_threads, 0, stream>>>(set, bound, test);
  check_cuda(cudaGetLastError());
}

/// Calls visit(number, rank) on the device for all elements below `bound` of a numbered set.
template <class Index, class Visit>
void for_each_element(NumberedSet<Index> set, std::uint64_t bound, const Visit& visit,
                      cudaStream_t stream) {
  const auto visit_element = [=] __device__(Index number) {
    const NumberedWord<Index> word = set.word(number);
    if (word.contains(number)) visit(number, word.rank(number));
  };
  for_each_item<Index>(bound, visit_element, stream);
}

/// The same, faster for sets of many elements, as the fifth of all positions that are minimizers:
/// few threads are idle, and neighbours visit neighbouring elements.
template <class Index, class Visit>
void for_each_element_of_many(NumberedSet<Index> set, std::uint64_t bound, const Visit& visit,
                              cudaStream_t stream) {
  constexpr std::uint64_t numbers_a_block = 32 * set_words_a_warp * (element_threads / 32);
  visit_elements_kernel<<<blocks_for(bound, numbers_a_block), element_threads, 0, stream>>>(
      set, (bound + 31) / 32, visit);
  check_cuda(cudaGetLastError());
}
#endif

}  // namespace sortie::suffix_array::cuda
