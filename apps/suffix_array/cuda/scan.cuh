// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#include <limits>

#include "apps/suffix_array/cuda/call_iterator.cuh"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {

#if CUB_VERSION >= 200800
template <class Index>
using ScanCount = Index;
#else
// Scans of older CUB versions count in int.
template <class Index>
using ScanCount = int;
#endif

/// An inclusive scan without arrays: function(j) returns the value of item j, and function(j,
/// prefix) receives the result.
/// \throws Error (unavailable)  more items than the scan of this CUB can count
template <class Value, class Index, class Function, class Join>
void scan_items(const Function& function, Join join, Index count, cudaStream_t stream) {
  if (static_cast<std::uint64_t>(count) >
      static_cast<std::uint64_t>(std::numeric_limits<ScanCount<Index>>::max())) {
    throw Error(ErrorKind::unavailable,
                "suffix array: found more than 2^31 - 1 symbols, expected fewer in a build with "
                "CUDA older than 12.9");
  }
  const auto items =
      thrust::make_transform_iterator(thrust::make_counting_iterator<Index>(0), function);
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, items,
                                          CallIterator<Function, Index, Value>(function), join,
                                          static_cast<ScanCount<Index>>(count), stream);
  });
}

}  // namespace sortie::suffix_array::cuda
