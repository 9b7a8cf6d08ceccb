// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/context.hpp"

/// Not available in the checking modes of libstdc++, whose vectors store more than their bounds or
/// annotate their end for the address sanitizer.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG) && !defined(_GLIBCXX_SANITIZE_VECTOR)
#define SORTIE_CAN_SET_VECTOR_SIZE 1
#else
#define SORTIE_CAN_SET_VECTOR_SIZE 0
#endif

/// Parallel loops over blocks of rows, and the arrays that they write.
namespace sortie::spgemm::host {

/// Calls body(worker, block) once for every block in [first, last), on up to `workers` threads; the
/// worker number selects work space.
///
/// Each worker processes a contiguous range of blocks, then helps with the remaining blocks of
/// other workers, since the run times of blocks are unknown in advance. With an interleaved
/// assignment, two threads would often touch the same new large page, and each would clear it.
/// \pre the host runtime is running; the body does not throw
template <class Body>
void for_each_block(int workers, std::int64_t first, std::int64_t last, const Body& body) {
  const std::int64_t active = std::min<std::int64_t>(workers, last - first);
  if (active <= 1) {
    for (std::int64_t block = first; block < last; ++block) body(0, block);
    return;
  }
  struct alignas(64) Share {
    std::atomic<std::int64_t> next = 0;  // block that any thread may take
    std::int64_t end = 0;
  };
  const EqualShares equal{static_cast<std::uint64_t>(last - first),
                          static_cast<std::uint64_t>(active)};
  std::vector<Share> shares(active);
  for (std::int64_t i = 0; i < active; ++i) {
    shares[i].next.store(first + static_cast<std::int64_t>(equal.begin(i)),
                         std::memory_order_relaxed);
    shares[i].end = first + static_cast<std::int64_t>(equal.begin(i + 1));
  }
  for_each_task(active, [&](std::uint64_t worker) {
    for (std::int64_t i = 0; i < active; ++i) {
      Share& share = shares[(worker + i) % active];
      std::int64_t block = 0;
      while ((block = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end)
        body(static_cast<int>(worker), block);
    }
  });
}

/// Calls body(begin, end) on all threads for consecutive ranges of [0, size) of `length` numbers
/// (the last may be shorter), which are the blocks of for_each_block().
template <class Body>
void for_each_block_of(std::int64_t size, std::int64_t length, const Body& body) {
  for_each_block(host_threads(), 0, (size + length - 1) / length, [&](int, std::int64_t block) {
    body(block * length, std::min(size, (block + 1) * length));
  });
}

/// Calls body(worker, row) for all rows of the blocks bounded by `cuts`, and periodically reports
/// the number of finished rows to the context's progress callback.
template <class Body>
void for_each_row(const HostContext& context, std::string_view phase, int workers,
                  std::span<const std::int64_t> cuts, const Body& body) {
  // The callback may only be called from this thread, between two parallel loops. Each loop is long
  // enough (about 0.1 s on one core at 2^14 products per block) for the barrier cost to be
  // negligible.
  constexpr std::int64_t blocks_per_loop = 1024;
  const auto blocks = static_cast<std::int64_t>(cuts.size()) - 1;
  for (std::int64_t first = 0; first < blocks; first += blocks_per_loop) {
    const std::int64_t last = std::min(blocks, first + blocks_per_loop);
    for_each_block(workers, first, last, [&](int worker, std::int64_t block) {
      for (std::int64_t row = cuts[block]; row < cuts[block + 1]; ++row) body(worker, row);
    });
    if (context.progress) context.progress(phase, cuts[last], cuts[blocks]);
  }
}

#if SORTIE_CAN_SET_VECTOR_SIZE
/// Sets the size of an empty vector within its reserved storage without initialising the elements,
/// for which the standard library provides no way.
/// \tparam T  trivially copyable and trivially destructible, so that the lifetime of an element
///            begins with its first write
/// Source: folly::resizeWithoutInitialization does the same.
template <class T>
void set_vector_size(std::vector<T>& vector, std::int64_t size) {
  // The base class is protected, its member public: only a C-style cast converts to it.
  auto& bounds = ((std::_Vector_base<T, std::allocator<T>>&)vector)._M_impl;  // NOLINT
  bounds._M_finish = bounds._M_start + size;
}
#endif

/// Reserves `size` elements of an empty vector, in large pages if the system provides them.
/// \return the storage, a byte array as long as no elements are constructed in it
template <class T>
char* reserve_large_pages(std::vector<T>& vector, std::int64_t size) {
  vector.reserve(size);
  char* const storage = reinterpret_cast<char*>(vector.data());
  advise_large_pages(storage, static_cast<std::size_t>(size) * sizeof(T));
  return storage;
}

/// Resizes an empty vector to `size` elements of unspecified value.
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
  // A block is one large page, so that no two threads fault on the same page.
  constexpr std::int64_t block_bytes = 1 << 21;
  char* const storage = reserve_large_pages(vector, size);
  for_each_block_of(size * static_cast<std::int64_t>(sizeof(T)), block_bytes,
                    [=](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; i += page_bytes) storage[i] = 0;
                    });
  vector.resize(size);
#endif
}

}  // namespace sortie::spgemm::host
