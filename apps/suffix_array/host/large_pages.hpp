#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace sortie::suffix_array::host {

/// Asks the system to back an array that is not touched yet by pages of 2 MiB. Prefix doubling
/// reads and writes ranks anywhere in the text, and with small pages most of these accesses miss
/// the TLB too. Advice only: where it is not followed, all else is the same.
template <class T>
void advise_large_pages([[maybe_unused]] T* storage, [[maybe_unused]] std::uint64_t size) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = 4096;
  const auto first = (reinterpret_cast<std::uintptr_t>(storage) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(storage + size) / page * page;
  if (first < end) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
}

/// An array whose elements are not initialised.
template <class T>
[[nodiscard]] std::unique_ptr<T[]> allocate(std::uint64_t size) {
  auto array = std::make_unique_for_overwrite<T[]>(size);
  advise_large_pages(array.get(), size);
  return array;
}

/// A vector of zeros.
template <class T>
[[nodiscard]] std::vector<T> allocate_vector(std::uint64_t size) {
  std::vector<T> vector;
  vector.reserve(size);
  advise_large_pages(vector.data(), size);
  vector.resize(size);
  return vector;
}

}  // namespace sortie::suffix_array::host
