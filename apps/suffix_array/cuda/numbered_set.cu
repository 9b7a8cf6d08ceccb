// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/numbered_set.cuh"

#include <bit>

#include "apps/suffix_array/cuda/scan.hpp"
#include "core/cuda/check.hpp"

namespace sortie::suffix_array::cuda {

template <class Index>
NumberedSetBuffer<Index>::NumberedSetBuffer(std::uint64_t bound, cudaStream_t stream)
    : words_(bound / 32 + 1, stream) {
  check_cuda(cudaMemsetAsync(words_.data(), 0, words_.bytes(), stream));
}

template <class Index>
void NumberedSetBuffer<Index>::number(cudaStream_t stream) {
  number_words(words_.data(), words_.size(), stream);
}

template <class Index>
std::uint64_t NumberedSetBuffer<Index>::number_and_count(cudaStream_t stream) {
  number(stream);
  NumberedWord<Index> last{};
  check_cuda(cudaMemcpyAsync(&last, words_.data() + words_.size() - 1, sizeof(last),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return last.before + static_cast<std::uint64_t>(std::popcount(last.bits));
}

template class NumberedSetBuffer<std::uint32_t>;
template class NumberedSetBuffer<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
