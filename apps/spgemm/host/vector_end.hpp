#pragma once

#include <cstdint>
#include <memory>
#include <vector>

/// Not in the checking modes of libstdc++, whose vectors keep more than their bounds or tell the
/// address sanitizer where they end.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG) && !defined(_GLIBCXX_SANITIZE_VECTOR)
#define SORTIE_KNOWS_VECTOR_END 1
#else
#define SORTIE_KNOWS_VECTOR_END 0
#endif

namespace sortie::spgemm::host {

#if SORTIE_KNOWS_VECTOR_END
/// Lets an empty vector have `size` elements in the storage that it has reserved, without a value.
///
/// Results are plain vectors, for users to take as they are; but the standard knows no way to make
/// one without first writing all elements on the one thread that resizes it.
/// \tparam T  trivial to copy and to destroy, so that an element's life begins with its first value
/// \pre size <= vector.capacity()
/// Source: the same is done by folly::resizeWithoutInitialization.
template <class T>
void move_vector_end(std::vector<T>& vector, std::int64_t size) {
  // The base is protected, its member public: only this cast may go to a base without access.
  auto& bounds = ((std::_Vector_base<T, std::allocator<T>>&)vector)._M_impl;  // NOLINT
  bounds._M_finish = bounds._M_start + size;
}
#endif

}  // namespace sortie::spgemm::host
