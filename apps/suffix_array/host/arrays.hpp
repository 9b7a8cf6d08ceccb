// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "core/host_memory.hpp"

namespace sortie::suffix_array::host {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

/// An array whose elements are numbers.
template <class T>
using Array = std::unique_ptr<T[], FreeMemory>;

/// An array whose elements are not initialised, in large pages: prefix doubling accesses ranks at
/// random positions of the text, and with small pages most of these accesses miss the TLB too.
/// \throws std::bad_alloc
template <class T>
[[nodiscard]] Array<T> allocate(std::uint64_t size) {
  static_assert(alignof(T) <= alignof(std::max_align_t));
  Array<T> array(static_cast<T*>(std::malloc(size * sizeof(T))));
  if (array == nullptr && size != 0) throw std::bad_alloc();
  advise_large_pages(array.get(), size * sizeof(T));
  return array;
}

/// A vector of zeros, in large pages.
template <class T>
[[nodiscard]] std::vector<T> allocate_vector(std::uint64_t size) {
  std::vector<T> vector;
  vector.reserve(size);
  // All threads touch its pages here, because a single thread writes the zeros.
  touch_new_memory(vector.data(), size * sizeof(T));
  advise_large_pages(vector.data(), size * sizeof(T));
  vector.resize(size);
  return vector;
}

}  // namespace sortie::suffix_array::host
