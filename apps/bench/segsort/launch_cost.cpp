// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/launch_cost.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using Json = nlohmann::ordered_json;

double graph_seconds_of(const std::vector<LaunchCost>& costs, const std::string& method) {
  for (const LaunchCost& cost : costs) {
    if (cost.method == method) return cost.graph_seconds;
  }
  return 0;
}

// Figures that were not measured are empty in the table and null in JSON.
std::string cell(double figure, double scale) {
  return figure > 0 ? fmt::format("{:.2f}", scale * figure) : "";
}

Json number(double figure, double scale) {
  return figure > 0 ? Json(scale * figure) : Json(nullptr);
}

std::string describe_result(const LaunchCost& cost) {
  if (!cost.failure.empty()) return "failed: " + cost.failure;
  return cost.is_wrong() ? "NO " + cost.fault : "yes";
}

}  // namespace

std::vector<LaunchCost> launch_costs(const Context& context, const LaunchCostOptions& options) {
  if (resolve_backend(context) != Backend::cuda) {
    throw Error(ErrorKind::unavailable,
                "the cost of a launch: found the host backend, expected CUDA");
  }
#ifdef SORTIE_HAVE_CUDA
  std::vector<LaunchCost> costs = launch_costs_on_cuda(context, options);
  relate_to_kernels(costs);
  return costs;
#else
  static_cast<void>(options);
  throw Error(ErrorKind::unavailable, "this build has no CUDA");
#endif
}

void relate_to_kernels(std::vector<LaunchCost>& costs) {
  const double empty = graph_seconds_of(costs, "empty kernel");
  const double copy = graph_seconds_of(costs, "copy kernel");
  for (LaunchCost& cost : costs) {
    cost.ratio_to_empty_kernel = empty > 0 ? cost.graph_seconds / empty : 0;
    cost.ratio_to_copy_kernel = copy > 0 ? cost.graph_seconds / copy : 0;
  }
}

std::string launch_cost_table(const std::vector<LaunchCost>& costs) {
  constexpr const char* layout = "{:<16} {:>14} {:>14} {:>8} {:>8}  {}\n";
  std::string text = fmt::format(layout, "method", "graph us/call", "plain us/call", "x empty",
                                 "x copy", "agrees");
  for (const LaunchCost& cost : costs) {
    text += fmt::format(layout, cost.method, cell(cost.graph_seconds, 1e6),
                        cell(cost.plain_seconds, 1e6), cell(cost.ratio_to_empty_kernel, 1),
                        cell(cost.ratio_to_copy_kernel, 1), describe_result(cost));
  }
  return text;
}

std::string launch_cost_json(const std::vector<LaunchCost>& costs) {
  Json rows = Json::array();
  for (const LaunchCost& cost : costs) {
    rows.push_back({{"method", cost.method},
                    {"graph_microseconds", number(cost.graph_seconds, 1e6)},
                    {"plain_microseconds", number(cost.plain_seconds, 1e6)},
                    {"ratio_to_empty_kernel", number(cost.ratio_to_empty_kernel, 1)},
                    {"ratio_to_copy_kernel", number(cost.ratio_to_copy_kernel, 1)},
                    {"agrees", cost.agrees},
                    {"fault", cost.fault},
                    {"failure", cost.failure}});
  }
  const Json report = {{"calls", launch_calls},
                       {"segments", launch_segments},
                       {"segment_length", launch_segment_length},
                       {"rows", std::move(rows)}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sortie::bench
