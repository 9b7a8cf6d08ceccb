// SPDX-License-Identifier: Apache-2.0
#include "core/spare_array.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace sortie {

void let_system_take([[maybe_unused]] void* storage, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_FREE
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(storage);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t end = (begin + bytes) / page * page;
  if (first < end) {
    // Ignored advice is not an error.
    static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, MADV_FREE));
  }
#endif
}

}  // namespace sortie
