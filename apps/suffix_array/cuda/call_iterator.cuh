// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <iterator>

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

}  // namespace sortie::suffix_array::cuda
