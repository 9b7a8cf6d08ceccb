// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/vector_size.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"

namespace sortie::spgemm::host {

/// Reserves `size` elements of an empty vector, in large pages if the system provides them.
/// \return the reserved storage as bytes; std::allocator's storage is a byte array before elements
///         are constructed in it
template <class T>
char* reserve_large_pages(std::vector<T>& vector, std::int64_t size) {
  vector.reserve(size);
  char* const storage = reinterpret_cast<char*>(vector.data());
  advise_large_pages(storage, static_cast<std::size_t>(size) * sizeof(T));
  return storage;
}

/// Resizes an empty vector to `size` elements of unspecified value. The caller must write every
/// element before it reads it.
///
/// vector::resize takes all page faults on one thread: 0.19 s for the 366 MB of email-Enron squared
/// (2-core Zen VM), as long as computing all its products. Here the thread that writes a page
/// touches it first, and there is no additional pass over the memory. If set_vector_size() is not
/// available, all threads touch the pages before one thread writes zeros.
template <class T>
requires std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>
void resize_for_overwrite(std::vector<T>& vector, std::int64_t size) {
#if SORTIE_CAN_SET_VECTOR_SIZE
  reserve_large_pages(vector, size);
  set_vector_size(vector, size);
#else
  constexpr std::int64_t page_bytes = 4096;
  char* const storage = reserve_large_pages(vector, size);
  const std::int64_t bytes = size * static_cast<std::int64_t>(sizeof(T));
  // A block is one large page, so that no two threads fault on the same page.
  constexpr std::int64_t block_bytes = 1 << 21;
  const std::int64_t blocks = (bytes + block_bytes - 1) / block_bytes;
  for_each_block(host_threads(), 0, blocks, [=](int, std::int64_t block) {
    const std::int64_t end = std::min(bytes, (block + 1) * block_bytes);
    for (std::int64_t i = block * block_bytes; i < end; i += page_bytes) storage[i] = 0;
  });
  vector.resize(size);
#endif
}

}  // namespace sortie::spgemm::host
