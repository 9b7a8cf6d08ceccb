// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/share_sort.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::sorting {
namespace {

/// Host memory that this rank may take beside its items.
std::uint64_t memory_of_rank(const cluster::Ranks& ranks, const Context& context) {
  // On CUDA, the budget is of device memory.
  if (context.memory_budget != 0 && resolve_backend(context) == Backend::host)
    return context.memory_budget;
  return host_memory_available() / static_cast<std::uint64_t>(ranks.ranks_on_machine());
}

/// \param after  items of this rank after the sort \param all  items of all ranks
void check_memory(const cluster::Ranks& ranks, const Context& context, const ShareSteps& steps,
                  std::uint64_t after, std::uint64_t all) {
  const std::uint64_t growth = after > steps.items ? after - steps.items : 0;
  const std::uint64_t copied = std::max(ranks.size() > 1 ? after + growth : 0,  //
                                        steps.sort_copies ? steps.items : 0);
  const std::uint64_t wanted = copied * steps.item_bytes();
  const std::uint64_t free = memory_of_rank(ranks, context);
  if (wanted <= free) return;
  const std::uint64_t items_that_fit = std::max<std::uint64_t>(1, free / steps.item_bytes());
  throw Error(ErrorKind::out_of_memory,
              fmt::format("sort: found {} free for a copy of the rank's share, expected {}; with "
                          "as much memory each, at least {} ranks are enough",
                          format_bytes(free), format_bytes(wanted),
                          all / items_that_fit + (all % items_that_fit != 0 ? 1 : 0)));
}

void report_figures(cluster::Ranks& ranks, const Context& context, std::uint64_t planned,
                    std::uint64_t counted, std::uint64_t most_items, std::uint64_t all) {
  std::uint64_t sums[2] = {planned, counted};
  ranks.reduce_all(sums, cluster::Reduction::sum);
  const std::uint64_t most = ranks.greatest(planned);
  if (context.report == nullptr) return;
  RunReport& report = *context.report;
  const auto size = static_cast<std::uint64_t>(ranks.size());
  report.set("ranks", size);
  report.set("planned_exchange_bytes", sums[0]);
  report.set("exchanged_bytes", sums[1]);
  report.set("most_exchange_bytes", most);
  const double mean = static_cast<double>(all) / static_cast<double>(size);
  report.set("imbalance", all == 0 ? 1.0 : static_cast<double>(most_items) / mean);
}

/// \param received  receives the runs, an array for each of the items
/// \return bytes to other ranks, as planned
std::uint64_t exchange(cluster::Ranks& ranks, const Context& context, const ShareSteps& steps,
                       const cluster::PartExchange& plan,
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
  return cluster::exchange_parts(ranks, plan, parts);
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

std::uint64_t sort_share(cluster::Ranks& ranks, const Context& context, const ShareSteps& steps) {
  const std::uint64_t all = ranks.sum(steps.items);
  const std::vector<std::uint64_t> sizes =
      EqualShares{all, static_cast<std::uint64_t>(ranks.size())}.sizes();
  const std::uint64_t after = sizes[static_cast<std::size_t>(ranks.rank())];
  std::vector<void*> arrays;
  for (const auto& array : steps.arrays) arrays.push_back(array.data);
  const auto restore = [&] {
    if (steps.restore) steps.restore(arrays, after);
  };
  ranks.together("check memory", [&] { check_memory(ranks, context, steps, after, all); });
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
  std::uint64_t planned = 0;
  std::uint64_t counted = 0;
  if (ranks.size() > 1) {
    cluster::PartExchange plan;
    {
      const PhaseTimer timer(context, "splits");
      const cluster::SortedItems sorted = steps.sorted();
      plan =
          cluster::plan_exchange(ranks, cluster::exact_splits(ranks, {&sorted, 1}, sizes).front());
    }
    std::vector<HostArray<std::byte>> received;
    counted = ranks.traffic().exchanged_bytes;
    planned = exchange(ranks, context, steps, plan, received);
    counted = ranks.traffic().exchanged_bytes - counted;
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
  report_figures(ranks, context, planned, counted, *std::ranges::max_element(sizes), all);
  return after;
}

}  // namespace sortie::sorting
