#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/apps/bench/segment_cases.hpp"
#include "sortie/core/context.hpp"

namespace sortie::bench {

struct SegsortOptions {
  std::uint64_t items = 0;  ///< 0: 2^27 on CUDA, 2^22 on the host
  KeyType key = KeyType::u32;
  int value_bytes = 4;  ///< 0 (keys only), 4 or 8
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> cases;  ///< names of cases; empty: all
};

/// Segmented sort of every case on the context's backend, one row a method. The sink gets the rows
/// of a case when it is done, so that hours of work show what they have.
/// \throws Error (usage) unknown case
std::vector<Row> segsort(const Context& context, const SegsortOptions& options,
                         const RowSink& sink);

/// One case on the host: a copy of the same bytes, Sortie, and std::sort of each segment.
[[nodiscard]] std::vector<Row> segsort_on_host(const Context& context, const SegmentCase& segments,
                                               const SegsortOptions& options);

/// One case on a CUDA device, data resident there: a copy of the same bytes (`limit`), Sortie, and
/// the CUB baselines (`baseline`; for u32 and u64 keys and less than 2^31 items). Input is
/// random_keys(options.key, items, options.seed) and index_values(); each method's first result is
/// checked by is_sorted_result(); rows come back related. A method that fails keeps its message in
/// Row::failure. Only in builds with CUDA.
[[nodiscard]] std::vector<Row> segsort_on_cuda(const Context& context, const SegmentCase& segments,
                                               const SegsortOptions& options);

}  // namespace sortie::bench
