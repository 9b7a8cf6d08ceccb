#pragma once

#include <cstdint>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/core/context.hpp"

/// The classic sorting algorithms on one GPU, beside Sortie's and CUB's.
namespace sortie::bench {

struct ClassicsOptions {
  /// Lengths are 2^10, 2^12, ... and the largest power of two up to this.
  std::uint64_t most_items = std::uint64_t{1} << 28;
  int repetitions = 5;
  std::uint64_t seed = 1;
};

/// The lengths of the cases.
[[nodiscard]] std::vector<std::uint64_t> classics_lengths(const ClassicsOptions& options);

/// A case a length, of uniform u32 keys on the context's CUDA device; a row a method: a copy of the
/// keys (`limit`), the classics and CUB's radix and merge sort (`baseline`), and what Sortie has
/// for one GPU. A classic is left out where it would take too long. Every result is checked on the
/// GPU: order, and a checksum of the keys. Up to 2^20 keys the memory transactions of the classics
/// are counted, and those of the bitonic network at any length, since they depend on nothing else.
/// \throws Error (usage) fewer than 2^10 items; (unavailable) the host backend, no CUDA
std::vector<Row> time_classics(const Context& context, const ClassicsOptions& options,
                               const RowSink& sink);

/// The same, in builds with CUDA. \param lengths  of the cases
std::vector<Row> time_classics_on_cuda(const Context& context,
                                       const std::vector<std::uint64_t>& lengths,
                                       const ClassicsOptions& options, const RowSink& sink);

}  // namespace sortie::bench
