// SPDX-License-Identifier: Apache-2.0
#include "core/reserved_memory.hpp"

#include <sys/mman.h>

#include "core/host_memory.hpp"

namespace sortie {
namespace {

constexpr std::size_t page_bytes = 4096;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

ReservedMemory::ReservedMemory(std::size_t most) {
  for (; most != 0; most /= 2) {
    void* const begin = ::mmap(nullptr, whole_pages(most), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) continue;
    data_ = static_cast<char*>(begin);
    size_ = most;
    advise_large_pages(data_, size_);
    return;
  }
}

ReservedMemory::~ReservedMemory() {
  shrink(0);
}

void ReservedMemory::shrink(std::size_t bytes) {
  const std::size_t kept = whole_pages(bytes);
  const std::size_t held = whole_pages(size_);
  if (kept < held) ::munmap(data_ + kept, held - kept);
  size_ = bytes;
  if (kept == 0) data_ = nullptr;
}

}  // namespace sortie
