// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/group_sorts.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/samples/samples.hpp"
#include "apps/suffix_array/ranks/edge_groups.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::on_ranks {

namespace {

/// Numbers, or changes of all ranks, that are exchanged at once.
constexpr std::uint64_t exchanged_at_once = std::uint64_t{1} << 18;

/// Each rank finds the samples in its part of the text, and sends them to all.
template <Position Pos>
void share_samples(Exchanges& exchanges, const cluster::RankMemory& memory, std::uint64_t sets,
                   host::SampleMap<Pos>& map) {
  cluster::Ranks& ranks = exchanges.ranks();
  std::uint64_t own = 0;
  ranks.together("find samples", [&] { own = map.find_part(exchanges.rank(), exchanges.size()); });
  const std::vector<std::uint64_t> begins = begins_of(ranks.gather(own));
  ranks.together("join samples", [&] {
    memory.require("samples of the suffix array", {sets + begins.back() * sizeof(Pos)});
    map.join_parts(begins[exchanges.rank()], begins.back());
  });
  exchanges.share_parts(map.values(), begins);
  exchanges.share_parts(map.changes(), map.change_begins(exchanges.size()));
}

/// Adds up numbers of all ranks.
template <Position Pos>
void add_up(cluster::Ranks& ranks, std::span<Pos> numbers) {
  std::vector<std::uint64_t> sums;
  ranks.together("add up ranks",
                 [&] { sums.reserve(std::min<std::uint64_t>(numbers.size(), exchanged_at_once)); });
  while (!numbers.empty()) {
    const auto part = numbers.first(std::min<std::uint64_t>(numbers.size(), exchanged_at_once));
    sums.assign(part.begin(), part.end());
    ranks.reduce_all(sums, cluster::Reduction::sum);
    std::ranges::transform(sums, part.begin(),
                           [](std::uint64_t sum) { return static_cast<Pos>(sum); });
    numbers = numbers.subspan(part.size());
  }
}

/// Sends what a round has changed to all ranks.
template <Position Pos>
void share_changes(Exchanges& exchanges, host::UndecidedSamples<Pos>& undecided) {
  if (exchanges.size() == 1) return;
  cluster::Ranks& ranks = exchanges.ranks();
  const std::vector<std::uint64_t> sizes = ranks.gather(undecided.changes());
  const std::uint64_t most = std::ranges::max(sizes);
  const std::uint64_t at_once = exchanged_at_once / exchanges.size() + 1;
  std::vector<host::SampleChange<Pos>> changes;
  for (std::uint64_t first = 0; first < most; first += at_once) {
    std::vector<std::uint64_t> counts(sizes.size());
    std::ranges::transform(sizes, counts.begin(), [=](std::uint64_t size) {
      return std::min(size - std::min(size, first), at_once);
    });
    const std::vector<std::uint64_t> begins = begins_of(counts);
    ranks.together("list changes", [&] {
      changes.resize(begins.back());
      undecided.list_changes(
          first, std::span(changes).subspan(begins[exchanges.rank()], counts[exchanges.rank()]));
    });
    exchanges.share_parts(std::span(changes), begins);
    ranks.together("apply changes", [&] { undecided.apply(changes); });
  }
}

/// double_steps() by all ranks. \return rounds
template <Position Pos>
std::uint64_t double_steps(Exchanges& exchanges, const cluster::RankMemory& memory,
                           std::uint64_t held, host::SampleOrder<Pos>& samples) {
  cluster::Ranks& ranks = exchanges.ranks();
  std::optional<host::UndecidedSamples<Pos>> undecided;
  ranks.together("start rounds", [&] {
    samples.find_steps();
    const host::SampleRanks own = host::part_of_samples(std::span<const Pos>(samples.ranks()),
                                                        exchanges.rank(), exchanges.size());
    memory.require("samples of the suffix array",
                   {held + host::UndecidedSamples<Pos>::bytes(own) +
                    exchanged_at_once * sizeof(host::SampleChange<Pos>)});
    undecided.emplace(samples.ranks(), samples.steps(), own);
  });
  const auto is_done = [&] { return ranks.least(undecided->empty() ? 1 : 0) == 1; };
  if (is_done()) return 0;
  std::uint64_t rounds = 0;
  ranks.together("sort samples by runs", [&] { rounds = undecided->sort_by_runs() ? 1 : 0; });
  if (rounds > 0) share_changes(exchanges, *undecided);
  for (; !is_done(); ++rounds) {
    ranks.together("sort samples", [&] { undecided->sort_by_steps(); });
    share_changes(exchanges, *undecided);
  }
  return rounds;
}

}  // namespace

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
  if (has_groups) {
    ranks.reduce_all(samples->members(), cluster::Reduction::sum);
    share_samples(exchanges, memory, sets, samples->map());
  }
  std::uint64_t held = sets;
  ranks.together("rank samples", [&] {
    held += samples->number_samples();
    memory.require("samples of the suffix array", {held});
    samples->rank_samples();
  });
  add_up(ranks, samples->ranks());
  PhaseTimer timer(context, "samples");
  const std::uint64_t rounds = double_steps(exchanges, memory, held, *samples);
  timer.stop();
  ranks.together("sort groups", [&] {
    const PhaseTimer groups(context, "groups");
    samples->finish_samples();
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
