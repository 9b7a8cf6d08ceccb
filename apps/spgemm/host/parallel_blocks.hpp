#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sortie/core/context.hpp"

namespace sortie::spgemm::host {

/// Consecutive blocks of which any thread takes the next one.
struct alignas(64) BlockShare {
  std::atomic<std::int64_t> next = 0;
  std::int64_t end = 0;
};

/// Calls body(worker, block) once for every block in first .. last, on up to `workers` threads.
///
/// Every worker goes through a stretch of neighbouring blocks, and through what is left of the
/// others' when it is done, since the lengths of blocks in time are not known beforehand. Were the
/// blocks handed out to all in turn, two threads would often write to one large page that is not
/// there yet, and each clear one. The number of the worker is below `workers` and lets the body
/// keep work space of its own, for fewer workers than threads where memory is short. A single block
/// is done by the calling thread alone.
/// \pre the host runtime runs; the body does not throw
template <class Body>
void for_each_block(int workers, std::int64_t first, std::int64_t last, const Body& body) {
  const std::int64_t active = std::min<std::int64_t>(workers, last - first);
  if (active <= 1) {
    for (std::int64_t block = first; block < last; ++block) body(0, block);
    return;
  }
  std::vector<BlockShare> shares(active);
  for (std::int64_t i = 0; i < active; ++i) {
    const auto begin_of = [&](std::int64_t share) {
      return first + (last - first) / active * share + std::min(share, (last - first) % active);
    };
    shares[i].next.store(begin_of(i), std::memory_order_relaxed);
    shares[i].end = begin_of(i + 1);
  }
  const auto work = [&](const std::int64_t worker) {
    for (std::int64_t i = 0; i < active; ++i) {
      BlockShare& share = shares[(worker + i) % active];
      for (;;) {
        const std::int64_t block = share.next.fetch_add(1, std::memory_order_relaxed);
        if (block >= share.end) break;
        body(static_cast<int>(worker), block);
      }
    }
  };
  using Workers =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                          Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(Workers(0, active, Kokkos::ChunkSize(1)), work);
}

/// Calls body(worker, row) for all rows of the blocks that `cuts` bounds, and tells the context's
/// progress callback now and then how many rows are done.
template <class Body>
void for_each_row(const Context& context, std::string_view phase, int workers,
                  std::span<const std::int64_t> cuts, const Body& body) {
  // The callback may only be called from this thread, that is between two parallel loops; each loop
  // is long enough (at 2^14 products a block, some 0.1 s on a core) for its end not to matter.
  constexpr std::int64_t blocks_per_loop = 1024;
  const auto blocks = static_cast<std::int64_t>(cuts.size()) - 1;
  for (std::int64_t first = 0; first < blocks; first += blocks_per_loop) {
    const std::int64_t last = std::min(blocks, first + blocks_per_loop);
    for_each_block(workers, first, last, [&](int worker, std::int64_t block) {
      for (std::int64_t row = cuts[block]; row < cuts[block + 1]; ++row) body(worker, row);
    });
    if (context.progress) {
      context.progress(phase, static_cast<std::uint64_t>(cuts[last]),
                       static_cast<std::uint64_t>(cuts[blocks]));
    }
  }
}

}  // namespace sortie::spgemm::host
