// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/bench/cuda/segsort_workload.hpp"
#include "apps/bench/segsort/segsort_bench.hpp"

namespace sortie::bench {

/// Times DeviceTopK (the least keys, sorted) on the current segments of `work`, for each of
/// options.top_k. Every result is compared with a sort. Rows of each k: reading the keys once
/// (`limit`), the selection, and the sorts of whole segments by Sortie and CUB as baselines, which
/// are timed once.
/// \param sink  receives the rows of each k
void measure_top_k(const std::string& name, SegsortWorkload& work, const SegsortOptions& options,
                   const std::function<void(std::vector<Row>)>& sink);

}  // namespace sortie::bench
