// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

/// What CUSP 0.6.1 expects of Thrust and CUDA 13 lacks. Included before CUSP's headers, which stay
/// as they are.
#if CUDART_VERSION >= 13000
#include <thrust/detail/config.h>
#include <thrust/iterator/detail/minimum_system.h>

THRUST_NAMESPACE_BEGIN
namespace detail {
template <class... Systems>
using minimum_system_t = typename minimum_system<Systems...>::type;
}  // namespace detail
THRUST_NAMESPACE_END

namespace cusp::detail {

/// CUSP's functor x -> op(x, value). Its own takes types from members that Thrust's operators had.
template <class BinaryFunction>
struct base_functor;

template <template <class> class Operator, class Value>
struct base_functor<Operator<Value>> {
  using T = Value;
  using result_type =
      decltype(std::declval<Operator<Value>>()(std::declval<Value>(), std::declval<Value>()));
  T value;
  Operator<Value> op{};

  __host__ __device__ explicit base_functor(T right) : value(right) {}
  __host__ __device__ result_type operator()(T left) const { return op(left, value); }
};

}  // namespace cusp::detail
#endif
