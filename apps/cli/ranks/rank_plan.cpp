// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/ranks/rank_plan.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

constexpr int most_ranks = 1 << 20;

/// The least number of ranks whose plan takes at most `memory` bytes a rank. The memory falls with
/// the number of ranks, but for steps of a few items; so the number is doubled, then bisected.
std::optional<int> least_ranks(const std::function<cluster::RankPlan(int)>& plan_for, int too_few,
                               std::uint64_t memory) {
  int enough = too_few;
  do {
    if (enough > most_ranks / 2) return {};
    too_few = enough;
    enough *= 2;
  } while (plan_for(enough).rank_memory > memory);
  while (enough - too_few > 1) {
    const int middle = too_few + (enough - too_few) / 2;
    (plan_for(middle).rank_memory > memory ? too_few : enough) = middle;
  }
  return enough;
}

}  // namespace

void add_plan_options(CLI::App& parser, CLI::Option* dry_run, RankPlanOptions& options) {
  CLI::Option* const ranks =
      parser
          .add_option("--ranks", options.ranks,
                      "With --dry-run: plan the job for this number of ranks (mpirun -n)")
          ->check(CLI::Range(1, most_ranks))
          ->needs(dry_run);
  parser
      .add_option("--ranks-per-machine", options.ranks_on_machine,
                  "Ranks that share a machine (default: as the model says)")
      ->check(CLI::Range(1, most_ranks))
      ->needs(ranks);
  parser
      .add_option("--rank-memory", options.rank_memory,
                  "Memory of a rank, e.g. 120G: a plan that needs more is refused")
      ->needs(ranks);
  parser
      .add_option("--network", options.network,
                  "Bytes a second between machines, e.g. 50G (default: the model's)")
      ->needs(ranks);
  parser
      .add_option("--model", options.model,
                  "Rates of the machine, as `sortie bench ranks -o FILE` writes them")
      ->needs(ranks);
}

cluster::RankModel rank_model(const RankPlanOptions& options) {
  cluster::RankModel model = !options.model.empty() ? cluster::RankModel::read(options.model)
                             : options.on_gpus      ? cluster::RankModel::usual_of_gpus()
                                                    : cluster::RankModel::usual();
  if (options.ranks_on_machine > 0) model.ranks_on_machine = options.ranks_on_machine;
  if (!options.network.empty()) {
    const std::uint64_t rate = parse_bytes(options.network);
    if (rate == 0)
      throw Error(ErrorKind::usage, "--network: found 0 bytes a second, expected more");
    model.network_rate = static_cast<double>(rate);
  }
  return model;
}

void show_rank_plan(Job& job, const RankPlanOptions& options,
                    const std::function<cluster::RankPlan(int ranks)>& plan_for) {
  const cluster::RankModel model = rank_model(options);
  const cluster::RankPlan plan = plan_for(options.ranks);
  if (!options.rank_memory.empty()) {
    const std::uint64_t memory = parse_bytes(options.rank_memory);
    if (plan.rank_memory > memory) {
      const auto enough = least_ranks(plan_for, options.ranks, memory);
      throw Error(ErrorKind::out_of_memory,
                  fmt::format("out of memory: each of {} ranks needs {} ({} bytes), {} ({} bytes) "
                              "are there; {}",
                              plan.ranks, format_bytes(plan.rank_memory), plan.rank_memory,
                              format_bytes(memory), memory,
                              enough ? fmt::format("{} ranks are enough", *enough)
                                     : "no number of ranks is enough"));
    }
  }
  RunReport& report = job.report();
  report.set("ranks", std::int64_t{plan.ranks});
  report.set("rank_memory", plan.rank_memory);
  report.set("planned_exchange_bytes", plan.sent_bytes());
  report.set("planned_seconds", cluster::seconds_of(model, plan));
  std::string table = describe(model, plan);
  table.pop_back();  // the line end
  job.summarize({}, fmt::format("{} ranks\n{}", plan.ranks, table));
}

}  // namespace sortie::cli
