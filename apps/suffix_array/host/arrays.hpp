#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sortie/core/large_pages.hpp"

namespace sortie::suffix_array::host {

/// An array whose elements are not initialised, in large pages: prefix doubling reads and writes
/// ranks anywhere in the text, and with small pages most of these accesses miss the TLB too.
template <class T>
[[nodiscard]] std::unique_ptr<T[]> allocate(std::uint64_t size) {
  auto array = std::make_unique_for_overwrite<T[]>(size);
  advise_large_pages(array.get(), size * sizeof(T));
  return array;
}

/// A vector of zeros.
template <class T>
[[nodiscard]] std::vector<T> allocate_vector(std::uint64_t size) {
  std::vector<T> vector;
  vector.reserve(size);
  // Its pages by all threads, since only one writes the zeros.
  touch_new_memory(vector.data(), size * sizeof(T));
  advise_large_pages(vector.data(), size * sizeof(T));
  vector.resize(size);
  return vector;
}

}  // namespace sortie::suffix_array::host
