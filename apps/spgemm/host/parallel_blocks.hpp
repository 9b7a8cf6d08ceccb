#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "sortie/core/context.hpp"

namespace sortie::spgemm::host {

/// Calls body(worker, block) once for every block in first .. last, on up to `workers` threads.
///
/// Blocks are handed out one by one, since their lengths in time are not known beforehand; the
/// number of the worker is below `workers` and lets the body keep work space of its own, for fewer
/// workers than threads where memory is short. A single block is done by the calling thread alone.
/// \pre the host runtime runs; the body does not throw
template <class Body>
void for_each_block(int workers, std::int64_t first, std::int64_t last, const Body& body) {
  std::atomic<std::int64_t> next{first};
  const auto work = [&](const std::int64_t worker) {
    for (;;) {
      const std::int64_t block = next.fetch_add(1, std::memory_order_relaxed);
      if (block >= last) return;
      body(static_cast<int>(worker), block);
    }
  };
  const std::int64_t active = std::min<std::int64_t>(workers, last - first);
  if (active <= 1) {
    work(0);
    return;
  }
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
  // is long enough (at 2^16 products a block, some 0.3 s on a core) for its end not to matter.
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
