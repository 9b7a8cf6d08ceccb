#include "sortie/core/large_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "sortie/core/host_runtime.hpp"

namespace sortie {
namespace {

constexpr std::size_t page_bytes = 4096;

/// A thread's share: page faults of so much memory take about as long as starting the thread.
constexpr std::size_t bytes_per_thread = std::size_t{16} << 20;

void touch_pages(char* begin, char* end) {
  for (char* page = begin; page < end; page += page_bytes) *static_cast<volatile char*>(page) = 0;
}

}  // namespace

void advise_large_pages([[maybe_unused]] void* storage, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = page_bytes;
  const auto begin = reinterpret_cast<std::uintptr_t>(storage);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t end = (begin + bytes) / page * page;
  if (first < end) {
    // Advice that is not taken is no error.
    static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
  }
#endif
}

// Plain threads: Kokkos before 4.0 takes parallel work only from the thread that started it, and
// this may be called from any.
void touch_new_memory(void* storage, std::size_t bytes) {
  if (bytes < bytes_per_thread) return;
  advise_large_pages(storage, bytes);
  const std::size_t most = static_cast<std::size_t>(default_host_threads());
  const std::size_t threads = std::clamp<std::size_t>(bytes / bytes_per_thread, 1, most);
  const std::size_t share = (bytes / threads + page_bytes - 1) / page_bytes * page_bytes;
  char* const begin = static_cast<char*>(storage);
  char* const end = begin + bytes;
  std::vector<std::jthread> team;
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t first = std::min(bytes, t * share);
    char* const last = t + 1 == threads ? end : begin + std::min(bytes, first + share);
    team.emplace_back([=] { touch_pages(begin + first, last); });
  }
}

}  // namespace sortie
