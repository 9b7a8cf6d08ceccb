// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/uninitialised_vector.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/context.hpp"

/// Parallel loops over blocks of rows.
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

// Arrays that the loops write.
using sortie::reserve_large_pages;
using sortie::resize_for_overwrite;

}  // namespace sortie::spgemm::host
