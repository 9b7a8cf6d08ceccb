// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

/// Not available in the checking modes of libstdc++, whose vectors store more than their bounds or
/// annotate their end for the address sanitizer.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG) && !defined(_GLIBCXX_SANITIZE_VECTOR)
#define SORTIE_CAN_SET_VECTOR_SIZE 1
#else
#define SORTIE_CAN_SET_VECTOR_SIZE 0
#endif

namespace sortie::spgemm::host {

#if SORTIE_CAN_SET_VECTOR_SIZE
/// Sets the size of an empty vector within its reserved storage without initialising the elements.
///
/// Results are plain vectors for the convenience of users, and the standard library provides no way
/// to resize a vector without writing all elements on the calling thread.
/// \tparam T  trivially copyable and trivially destructible, so that the lifetime of an element
///            begins with its first write
/// \pre size <= vector.capacity()
/// Source: folly::resizeWithoutInitialization does the same.
template <class T>
void set_vector_size(std::vector<T>& vector, std::int64_t size) {
  // The base class is protected, its member public: only a C-style cast converts to it.
  auto& bounds = ((std::_Vector_base<T, std::allocator<T>>&)vector)._M_impl;  // NOLINT
  bounds._M_finish = bounds._M_start + size;
}
#endif

}  // namespace sortie::spgemm::host
