// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/share_sort.hpp"

#include <algorithm>

#include "cluster/rank_memory.hpp"
#include "cluster/traffic_plan.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/run_report.hpp"

namespace sortie::sorting {
namespace {

/// \param after  items of this rank after the sort \param all  items of all ranks
void check_memory(const cluster::Ranks& ranks, const cluster::RankMemory& memory,
                  const ShareSteps& steps, std::uint64_t after, std::uint64_t all) {
  const std::uint64_t growth = after > steps.items ? after - steps.items : 0;
  const std::uint64_t copied = std::max(ranks.size() > 1 ? after + growth : 0,  //
                                        steps.sort_copies ? steps.items : 0);
  memory.require("sort: a copy of the rank's share",
                 {copied * steps.item_bytes(), all * steps.item_bytes()});
}

/// \param received  receives the runs, an array for each of the items
void exchange(cluster::Ranks& ranks, const Context& context, const ShareSteps& steps,
              const cluster::PartExchange& plan, cluster::TrafficPlan& traffic,
              std::vector<HostArray<std::byte>>& received) {
  const PhaseTimer timer(context, "exchange", 2 * plan.items_received() * steps.item_bytes());
  ranks.together("allocate", [&] {
    for (const auto& array : steps.arrays)
      received.push_back(allocate_array<std::byte>(plan.items_received() * array.item_bytes));
  });
  std::vector<cluster::PartArray> parts;
  for (std::size_t i = 0; i < received.size(); ++i) {
    const auto& array = steps.arrays[i];
    parts.push_back(
        {static_cast<const std::byte*>(array.data), received[i].get(), array.item_bytes});
  }
  cluster::exchange_parts(ranks, traffic, plan, parts);
}

/// Gives the caller back keys, not their comparable form, if an error leaves the sort while it is
/// armed. On the calling thread, since the host runtime must be called in together(), and the ranks
/// do not meet there after an error of one of them alone.
class RestoredOnError {
 public:
  explicit RestoredOnError(const ShareSteps& steps) : steps_(steps) {}
  RestoredOnError(const RestoredOnError&) = delete;
  RestoredOnError& operator=(const RestoredOnError&) = delete;
  ~RestoredOnError() {
    if (is_armed_ && steps_.restore_alone) steps_.restore_alone();
  }

  void arm() { is_armed_ = true; }
  void disarm() { is_armed_ = false; }

 private:
  const ShareSteps& steps_;
  bool is_armed_ = false;
};

}  // namespace

SortOptions own_sort_options(const Context& context, SortOptions options, bool is_stable) {
  options.stable = is_stable;
  if (options.devices == 0 && resolve_backend(context) == Backend::cuda) options.devices = 1;
  return options;
}

std::uint64_t sort_share(cluster::Ranks& ranks, const Context& context, const ShareSteps& steps) {
  const cluster::RankMemory memory(ranks, context);
  cluster::TrafficPlan traffic(ranks);
  const std::uint64_t all = ranks.sum(steps.items);
  const std::vector<std::uint64_t> sizes =
      EqualShares{all, static_cast<std::uint64_t>(ranks.size())}.sizes();
  const std::uint64_t after = sizes[static_cast<std::size_t>(ranks.rank())];
  std::vector<void*> arrays;
  for (const auto& array : steps.arrays) arrays.push_back(array.data);
  const auto restore = [&] {
    if (steps.restore) steps.restore(arrays, after);
  };
  ranks.together("check memory", [&] { check_memory(ranks, memory, steps, after, all); });
  RestoredOnError restored(steps);
  {
    const PhaseTimer timer(context, "local sort", 2 * steps.items * steps.item_bytes());
    ranks.together("local sort", [&] {
      steps.sort();
      if (ranks.size() == 1) {
        restore();
      } else {
        restored.arm();
      }
    });
  }
  if (ranks.size() > 1) {
    cluster::PartExchange plan;
    {
      const PhaseTimer timer(context, "splits");
      const cluster::SortedItems sorted = steps.sorted();
      plan = cluster::plan_exchange(ranks, traffic,
                                    cluster::exact_splits(ranks, {&sorted, 1}, sizes).front());
    }
    std::vector<HostArray<std::byte>> received;
    exchange(ranks, context, steps, plan, traffic, received);
    const PhaseTimer timer(context, "merge", 2 * after * steps.item_bytes());
    ranks.together("merge", [&] {
      restored.disarm();
      std::vector<std::byte*> from;
      for (const auto& array : received) from.push_back(array.get());
      for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i] = steps.arrays[i].resize(after);
      steps.merge(plan.received, from, arrays);
      restore();
    });
  }
  traffic.finish(context);
  const double imbalance = cluster::imbalance_of(ranks, after);
  if (context.report != nullptr) context.report->set("imbalance", imbalance);
  return after;
}

}  // namespace sortie::sorting
