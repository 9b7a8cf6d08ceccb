// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/host_memory.hpp"

namespace sortie::suffix_array::host {

/// Prefix doubling accesses ranks at random positions of the text.
template <class T>
using Array = HostArray<T>;

template <class T>
[[nodiscard]] Array<T> allocate(std::uint64_t size) {
  return allocate_array<T>(size);
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
