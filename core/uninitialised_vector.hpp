// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/host_memory.hpp"

/// Not available in the checking modes of libstdc++, whose vectors store more than their bounds or
/// annotate their end for the address sanitizer.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG) && !defined(_GLIBCXX_SANITIZE_VECTOR)
#define SORTIE_CAN_SET_VECTOR_SIZE 1
#else
#define SORTIE_CAN_SET_VECTOR_SIZE 0
#endif

namespace sortie {

#if SORTIE_CAN_SET_VECTOR_SIZE
/// Sets the size of a vector within its reserved storage without initialising new elements, for
/// which the standard library provides no way.
/// \tparam T  trivially copyable and trivially destructible, so that the lifetime of an element
///            begins with its first write
/// Source: folly::resizeWithoutInitialization does the same.
template <class T>
void set_vector_size(std::vector<T>& vector, std::int64_t size) {
  // The base class is protected, its member public: only a C-style cast converts to it.
  auto& bounds = ((std::_Vector_base<T, std::allocator<T>>&)vector)._M_impl;  // NOLINT
  bounds._M_finish = bounds._M_start + size;
}
#endif

/// Reserves `size` elements of an empty vector, in large pages if the system provides them.
/// \return the storage, a byte array as long as no elements are constructed in it
template <class T>
char* reserve_large_pages(std::vector<T>& vector, std::int64_t size) {
  vector.reserve(size);
  char* const storage = reinterpret_cast<char*>(vector.data());
  advise_large_pages(storage, static_cast<std::size_t>(size) * sizeof(T));
  return storage;
}

/// Resizes an empty vector to `size` elements of unspecified value.
///
/// vector::resize takes all page faults on one thread: 0.19 s for the 366 MB of email-Enron squared
/// (2-core Zen VM), as long as computing all its products. Here the thread that writes a page
/// touches it first, and there is no additional pass over the memory. If set_vector_size() is not
/// available, several threads touch the pages before one thread writes zeros.
template <class T>
requires std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>
void resize_for_overwrite(std::vector<T>& vector, std::int64_t size) {
#if SORTIE_CAN_SET_VECTOR_SIZE
  reserve_large_pages(vector, size);
  set_vector_size(vector, size);
#else
  touch_new_memory(reserve_large_pages(vector, size), static_cast<std::size_t>(size) * sizeof(T));
  vector.resize(size);
#endif
}

}  // namespace sortie
