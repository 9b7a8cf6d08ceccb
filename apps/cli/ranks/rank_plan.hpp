// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/cli/command.hpp"
#include "cluster/cost_model.hpp"

namespace CLI {
class Option;
}

namespace sortie::cli {

/// Options of `--dry-run --ranks P`: a job on ranks, planned on one machine.
struct RankPlanOptions {
  int ranks = 0;             ///< 0: no plan for ranks is asked for
  int ranks_on_machine = 0;  ///< 0: as the model says
  std::string rank_memory;   ///< e.g. "120G"; empty: not limited
  std::string network;       ///< bytes a second across machines, e.g. "50G"; empty: the model's
  std::string model;         ///< file of `sortie bench ranks -o`; empty: built-in rates
  bool on_gpus = false;      ///< whose built-in rates are meant
};

/// Adds --ranks, --ranks-per-machine, --rank-memory, --network and --model, which need `dry_run`.
void add_plan_options(CLI::App& parser, CLI::Option* dry_run, RankPlanOptions& options);

/// The model that the options name, with the network's rate that they give.
/// \throws Error (input) the file is no model; (usage) a size that is none
[[nodiscard]] cluster::RankModel rank_model(const RankPlanOptions& options);

/// Prints the plan for the ranks asked for, and reports it as figures.
/// \param plan_for  the plan for a number of ranks
/// \throws Error (out_of_memory) a rank needs more than --rank-memory: with the least number of
///         ranks that are enough, or that none is
void show_rank_plan(Job& job, const RankPlanOptions& options,
                    const std::function<cluster::RankPlan(int ranks)>& plan_for);

}  // namespace sortie::cli
