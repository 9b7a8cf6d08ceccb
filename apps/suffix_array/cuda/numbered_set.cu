// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/numbered_set.cuh"

#include "apps/suffix_array/cuda/counts.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "core/cuda/check.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// The scan that numbers a set.
template <class Index>
struct NumberWords {
  NumberedWord<Index>* words;
  Index count;  ///< number of words
  Index* all;

  __device__ Index operator()(Index i) const { return static_cast<Index>(__popc(words[i].bits)); }
  __device__ void operator()(Index i, const Index& prefix) const {
    words[i].before = prefix - static_cast<Index>(__popc(words[i].bits));
    if (i + 1 == count) *all = prefix;
  }
};

}  // namespace

template <class Index>
NumberedSetBuffer<Index>::NumberedSetBuffer(std::uint64_t bound, cudaStream_t stream)
    : words_(bound / 32 + 1, stream) {
  check_cuda(cudaMemsetAsync(words_.data(), 0, words_.bytes(), stream));
}

template <class Index>
DeviceBuffer<Index> NumberedSetBuffer<Index>::number(cudaStream_t stream) {
  DeviceBuffer<Index> all(1, stream);
  const NumberWords<Index> pass{words_.data(), static_cast<Index>(words_.size()), all.data()};
  scan_items<Index>(pass, AddCounts{}, pass.count, stream);
  return all;
}

template <class Index>
std::uint64_t NumberedSetBuffer<Index>::number_and_count(cudaStream_t stream) {
  const DeviceBuffer<Index> all = number(stream);
  Index count = 0;
  all.copy_to({&count, 1});
  check_cuda(cudaStreamSynchronize(stream));
  return count;
}

template class NumberedSetBuffer<std::uint32_t>;
template class NumberedSetBuffer<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
