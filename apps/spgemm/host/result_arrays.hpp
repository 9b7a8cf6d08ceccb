#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sortie/apps/spgemm/host/parallel_blocks.hpp"
#include "sortie/apps/spgemm/host/vector_end.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/core/large_pages.hpp"

namespace sortie::spgemm::host {

/// Gives an empty vector room for `size` elements, in large pages where the system grants them.
/// \return the room, as bytes: storage of std::allocator is an array of bytes until elements stand
///         in it
template <class T>
char* reserve_large_pages(std::vector<T>& vector, std::int64_t size) {
  vector.reserve(size);
  char* const storage = reinterpret_cast<char*>(vector.data());
  advise_large_pages(storage, static_cast<std::size_t>(size) * sizeof(T));
  return storage;
}

/// Gives an empty vector `size` elements of no certain value: the caller writes every one of them
/// before it reads any.
///
/// vector::resize alone takes every page fault on one thread: 0.19 s for the 366 MB of email-Enron
/// squared (2-core Zen VM), as long as all its products take. Here the thread that writes a page
/// first touches it, and no thread goes over all of the memory before. Where the library's vector
/// is not one that move_vector_end() knows, all threads touch the pages before one writes zeros.
template <class T>
requires std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>
void resize_for_overwrite(std::vector<T>& vector, std::int64_t size) {
#if SORTIE_KNOWS_VECTOR_END
  reserve_large_pages(vector, size);
  move_vector_end(vector, size);
#else
  constexpr std::int64_t page_bytes = 4096;
  char* const storage = reserve_large_pages(vector, size);
  const std::int64_t bytes = size * static_cast<std::int64_t>(sizeof(T));
  // A block is one large page, so that no two threads wait for the same page fault.
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
