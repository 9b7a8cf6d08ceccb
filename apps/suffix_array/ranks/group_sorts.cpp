// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/group_sorts.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/samples/samples.hpp"
#include "apps/suffix_array/ranks/edge_groups.hpp"
#include "core/phase_timer.hpp"

namespace sortie::suffix_array::on_ranks {

template <Position Pos>
std::uint64_t finish_by_samples(Exchanges& exchanges, const Context& context,
                                const cluster::RankMemory& memory, const PackedText& text,
                                SlotShare<Pos>& share) {
  cluster::Ranks& ranks = exchanges.ranks();
  sort_edges_by_text(exchanges, context, text, share);
  const bool has_groups =
      ranks.sum(share.order.joined.next_set(0, share.size + 1) <= share.size) > 0;
  if (!has_groups && share.order.runs.empty()) return 0;

  const LeftGroup left = find_left_group(ranks, share);
  const std::uint64_t sets = 3 * text.size() / 8 + text.size() * sizeof(Pos) / 32;
  std::optional<host::SampleOrder<Pos>> samples;
  ranks.together("mark members", [&] {
    memory.require("groups of the suffix array", {sets});
    samples.emplace(
        host::SampledText{text.stream(), text.plan(), text.size(), text.separators().size()},
        share.order, share.order.run_slots, has_groups,
        host::SlotRange{share.begin, left.head, share.after});
    if (has_groups) samples->mark_members();
  });
  if (has_groups) ranks.reduce_all(samples->members(), cluster::Reduction::sum);
  std::vector<std::uint64_t> sum;
  ranks.together("find samples", [&] {
    const std::uint64_t bytes = samples->find_samples();
    memory.require("samples of the suffix array", {sets + bytes});
    samples->rank_samples();
    sum.assign(samples->ranks().begin(), samples->ranks().end());
  });
  ranks.reduce_all(sum, cluster::Reduction::sum);
  std::uint64_t rounds = 0;
  ranks.together("sort samples", [&] {
    const PhaseTimer timer(context, "samples");
    std::ranges::transform(sum, samples->ranks().begin(),
                           [](std::uint64_t rank) { return static_cast<Pos>(rank); });
    sum = {};
    rounds = samples->sort_samples();
    samples->sort_groups();
  });
  if (ranks.sum(share.before + share.after) == 0) return rounds;
  sort_edge_groups<Pos>(
      exchanges, context,
      [&](std::uint64_t position) { return samples->rank_of_sample(static_cast<Pos>(position)); },
      [](std::uint64_t) { return false; }, share);
  return rounds;
}

SORTIE_FOR_BOTH_POSITIONS(finish_by_samples);

}  // namespace sortie::suffix_array::on_ranks
