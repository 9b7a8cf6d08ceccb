// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/scan.cuh"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <bit>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <limits>

#include "apps/suffix_array/cuda/build/refinement.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/read_value.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

#if CUB_VERSION >= 200800
template <class Index>
using ScanCount = Index;
#else
// Scans of older CUB versions count in int.
template <class Index>
using ScanCount = int;
#endif

template <class Index>
ScanCount<Index> scan_count(std::uint64_t count) {
  if (count > static_cast<std::uint64_t>(std::numeric_limits<ScanCount<Index>>::max())) {
    throw Error(ErrorKind::unavailable,
                "suffix array: found more than 2^31 - 1 symbols, expected fewer in a build with "
                "CUDA older than 12.9");
  }
  return static_cast<ScanCount<Index>>(count);
}

struct Larger {
  template <class Value>
  __host__ __device__ Value operator()(Value left, Value right) const {
    return left < right ? right : left;
  }
};

/// The number of elements of a word: what number() adds up.
template <class Index>
struct CountBits {
  __device__ Index operator()(const NumberedWord<Index>& word) const {
    return static_cast<Index>(__popc(word.bits));
  }
};

/// Where number() writes.
template <class Index>
struct Before {
  NumberedWord<Index>* words;
  __host__ __device__ Index& operator()(Index i) const { return words[i].before; }
};

}  // namespace

template <Position Index>
void inclusive_sum(Index* values, std::uint64_t count, cudaStream_t stream) {
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, values, values, ::cuda::std::plus<>{},
                                          scan_count<Index>(count), stream);
  });
}

template <Position Index>
void inclusive_maximum(Index* values, std::uint64_t count, cudaStream_t stream) {
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, values, values, Larger{},
                                          scan_count<Index>(count), stream);
  });
}

template <class Index>
NumberedSetBuffer<Index>::NumberedSetBuffer(std::uint64_t bound, cudaStream_t stream)
    : words_(bound / 32 + 1, stream) {
  check_cuda(cudaMemsetAsync(words_.data(), 0, words_.bytes(), stream));
}

template <class Index>
void NumberedSetBuffer<Index>::number(cudaStream_t stream) {
  const auto bits = thrust::make_transform_iterator(words_.data(), CountBits<Index>{});
  const auto before = thrust::make_transform_iterator(thrust::make_counting_iterator<Index>(0),
                                                      Before<Index>{words_.data()});
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(scratch, bytes, bits, before, ::cuda::std::plus<>{},
                                          Index{0}, scan_count<Index>(words_.size()), stream);
  });
}

template <class Index>
std::uint64_t NumberedSetBuffer<Index>::number_and_count(cudaStream_t stream) {
  number(stream);
  const auto last = read_value(words_.data() + words_.size() - 1, stream);
  return last.before + static_cast<std::uint64_t>(std::popcount(last.bits));
}

template <Position Index>
cudaError_t scan_totals(void* scratch, std::size_t& bytes, RefinementTotals<Index>* totals,
                        std::uint64_t tiles, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveScan(scratch, bytes, totals, totals, ::cuda::std::plus<>{},
                                        RefinementTotals<Index>{}, scan_count<Index>(tiles),
                                        stream);
}

SORTIE_FOR_BOTH_POSITIONS(inclusive_sum);
SORTIE_FOR_BOTH_POSITIONS(inclusive_maximum);
SORTIE_FOR_BOTH_POSITIONS(scan_totals);
template class NumberedSetBuffer<std::uint32_t>;
template class NumberedSetBuffer<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
