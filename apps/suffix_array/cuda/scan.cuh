// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#include <iterator>
#include <limits>

#include "apps/suffix_array/cuda/counts.cuh"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {

/// An output iterator for CUB that passes the value assigned to element j to function(j, value):
/// the results of a scan are consumed where they are computed, without being stored and read again.
/// \tparam Function  callable on the device as void(Index, const Value&); copied often, so it
///                   should be small
template <class Function, class Index, class Value>
class CallIterator {
 public:
  class reference {
   public:
    __host__ __device__ reference(const Function& function, Index item)
        : function_(function), item_(item) {}
    __host__ __device__ void operator=(const Value& value) const { function_(item_, value); }

   private:
    // By value: iterators are temporaries in CUB's expressions. The compiler removes the copy.
    Function function_;
    Index item_;
  };
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  explicit CallIterator(const Function& function) : function_(function) {}

  __host__ __device__ reference operator*() const { return {function_, item_}; }
  template <class Distance>
  __host__ __device__ reference operator[](Distance distance) const {
    return {function_, static_cast<Index>(item_ + static_cast<Index>(distance))};
  }
  template <class Distance>
  __host__ __device__ CallIterator operator+(Distance distance) const {
    CallIterator further = *this;
    further.item_ += static_cast<Index>(distance);
    return further;
  }

 private:
  Function function_;
  Index item_ = 0;
};

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
/// \throws Error (device, out_of_memory)
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
