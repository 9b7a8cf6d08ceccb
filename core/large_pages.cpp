#include "sortie/core/large_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace sortie {

void advise_large_pages([[maybe_unused]] void* storage, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(storage);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t end = (begin + bytes) / page * page;
  if (first < end) {
    // Advice that is not taken is no error.
    static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
  }
#endif
}

}  // namespace sortie
