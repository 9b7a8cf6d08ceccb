// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/segsort/segsort_bench.hpp"
#include "sortie/context.hpp"

/// The fixed cost of a call: 100 sorts of 1000 segments of 32 items, compared with an empty kernel
/// and a kernel that copies the items.
namespace sortie::bench {

constexpr int launch_calls = 100;
constexpr std::uint64_t launch_segments = 1000;
constexpr std::uint64_t launch_segment_length = 32;

struct LaunchCostOptions {
  KeyType key = KeyType::u32;
  int value_bytes = 4;
  std::uint64_t seed = 1;
  std::vector<SegsortPolicy> policies = {SegsortPolicy::tuned};
};

/// Seconds per call, medians of 20 times 100 calls; 0 if not measured.
struct LaunchCost {
  std::string method;        ///< "empty kernel", "copy kernel", "sortie", ..., "cub segmented"
  double graph_seconds = 0;  ///< as a captured graph of 100 calls; CUB's sort cannot be captured
  double plain_seconds = 0;  ///< as successive calls on a stream
  double ratio_to_empty_kernel = 0;  ///< of graph_seconds
  double ratio_to_copy_kernel = 0;   ///< of graph_seconds
  bool agrees = false;               ///< the result of the last graph or call is right
  std::string fault;
  std::string failure;

  [[nodiscard]] bool is_wrong() const { return failure.empty() && !agrees; }
};

/// Measures all methods. \throws Error (unavailable) the backend is not CUDA
std::vector<LaunchCost> launch_costs(const Context& context, const LaunchCostOptions& options);

/// The CUDA part of launch_costs(), without the ratios.
std::vector<LaunchCost> launch_costs_on_cuda(const Context& context,
                                             const LaunchCostOptions& options);

/// Fills the ratios.
void relate_to_kernels(std::vector<LaunchCost>& costs);

/// A table for the terminal.
[[nodiscard]] std::string launch_cost_table(const std::vector<LaunchCost>& costs);
/// A JSON object: `calls`, `segments`, `segment_length`, and `rows` in microseconds per call.
[[nodiscard]] std::string launch_cost_json(const std::vector<LaunchCost>& costs);

}  // namespace sortie::bench
