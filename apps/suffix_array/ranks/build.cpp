// SPDX-License-Identifier: Apache-2.0

// Suffix arrays over ranks, on their hosts. On devices: device_build.cpp.
//
// 1. pack     Every rank receives the packed text of rank 0 (packed_text.hpp).
// 2. sort     Each rank makes the elements of its positions, and receives those of its slots
//             (first_sort.hpp). It sorts each of its buckets, and suffixes with equal keys by the
//             next words of the text, without messages. Shares are equal within 1/64, so that
//             groups of suffixes with equal keys stay on one rank, unless they are large.
// 3. repeats  Remaining groups are sorted by more words of the text (group_sorts.hpp).
// 4. rounds   What is left then, and the large groups that several ranks share, are sorted by
//             prefix doubling (group_sorts.hpp).
// 5. shares   Entries move to the ranks of equal shares.
//
// Memory of a rank for positions of P bytes, a share of s symbols, and n symbols:
//
// | array                          | bytes              | lifetime |
// |--------------------------------|--------------------|----------|
// | symbols, b bits each           | b n / 8            | all      |
// | own symbols, elements to send  | 9 s                | 2        |
// | elements received              | 8 s                | 2        |
// | elements by bucket             | 8 s                | 2        |
// | suffixes                       | P s                | 2 to 5   |
// | groups of suffixes             | P s                | 4        |
// | members of groups              | 3 P s at most      | 4        |
// | members of shared groups       | (16 + 2 P) s       | 4        |
//
// The own symbols and the elements to send are freed before elements are ordered by bucket.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/ranks/device_build.hpp"
#include "apps/suffix_array/ranks/edge_groups.hpp"
#include "apps/suffix_array/ranks/group_sorts.hpp"
#include "apps/suffix_array/ranks/results.hpp"
#include "cluster/device_share.hpp"
#include "core/phase_timer.hpp"
#include "core/uninitialised_vector.hpp"
#include "sortie/cluster_suffix_array.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

/// Steps 2 to 5.
template <Position Pos>
cluster::SuffixArrayShare<Pos> sort_on_host(Exchanges& exchanges, const Context& context,
                                            const PackedText& packed) {
  cluster::Ranks& ranks = exchanges.ranks();
  PhaseTimer sort(context, "sort");
  SlotShare<Pos> share = sort_first<Pos>(exchanges, context, packed);
  std::uint64_t depth = 0;
  ranks.together("repeats", [&] {
    const PhaseTimer timer(context, "repeats");
    depth = sort_repeats(packed, share);
    if (share.before + share.after > 0) depth = std::min(depth, share.edge_depth);
  });
  depth = ranks.least(depth);
  sort.stop();

  PhaseTimer finish(context, "rounds");
  std::uint64_t counts[] = {share.order.in_equal_prefixes, share.order.in_groups};
  ranks.reduce_all(counts, cluster::Reduction::sum);
  const std::uint64_t members =
      ranks.sum(share.order.joined.next_set(0, share.size + 1) <= share.size);
  std::uint64_t rounds = 0;
  if (members > 0) {
    sort_shared_runs(exchanges, context, packed, share);
    rounds = double_prefixes(exchanges, context, packed, share, depth);
  }
  finish.stop();

  const double imbalance = cluster::imbalance_of(ranks, share.size);
  if (context.report != nullptr) {
    context.report->set("imbalance", imbalance);
    context.report->set("unresolved_after_first_sort", counts[0]);
    context.report->set("unresolved_after_text_rounds", counts[1]);
    context.report->set("rounds", rounds);
  }
  return equal_share(exchanges, context, std::move(share));
}

/// The same on the devices of the ranks.
template <Position Pos>
cluster::SuffixArrayShare<Pos> sort_on_devices(cluster::Ranks& ranks, const Context& context,
                                               const cluster::RankMemory& memory,
                                               const TextView& text) {
  cluster::SuffixArrayShare<Pos> result;
  const SharedText shared(ranks, memory, text);
  const TextView& view = shared.view();
  if (view.size() == 0) return result;
  if (ranks.size() == 1) {
    ranks.on_devices("build alone",
                     [&] { result.suffixes = suffix_array::build<Pos>(context, view); });
    return result;
  }
  const EntryShare own = entry_share(view.size(), ranks.size(), ranks.rank());
  result.begin = own.begin;
  ranks.together("memory of the share", [&] {
    memory.require("a rank's part of the suffix array", {own.size * sizeof(Pos)});
    resize_for_overwrite(result.suffixes, static_cast<std::int64_t>(own.size));
  });
  build_on_device<Pos>(ranks, context, view, result.suffixes);
  return result;
}

template <Position Pos>
cluster::SuffixArrayShare<Pos> build(cluster::Ranks& ranks, const Context& context,
                                     const TextView& text,
                                     const cluster::SuffixArrayOptions& options) {
  ranks.on_rank(0, "check text", [&] {
    require_text<Pos>(text);
    constexpr std::uint64_t longest = (std::uint64_t{1} << (edge_number_bits - 1)) - 2;
    if (text.size() <= longest) return;
    throw Error(
        ErrorKind::usage,
        fmt::format("suffix array on ranks: found a text of {} symbols, expected at most {}",
                    text.size(), longest));
  });
  const bool on_device = cluster::on_cuda(ranks, context);
  Context host = context;
  host.backend = Backend::host;
  if (on_device) host.memory_budget = 0;  // it is of the device
  Exchanges exchanges(ranks);
  const cluster::RankMemory memory(ranks, static_cast<const HostContext&>(host));
  cluster::SuffixArrayShare<Pos> result;
  if (on_device) result = sort_on_devices<Pos>(ranks, context, memory, text);
  if (!on_device || options.lcp || options.bwt || options.check) {
    PhaseTimer pack(context, "pack");
    // Elements twice and a byte (step 2), or the derived arrays; step 4 depends on the text.
    const bool derives = options.lcp || options.check;
    const PackedText packed(ranks, host, memory, text,
                            derives ? std::max<std::uint64_t>(17, 4 * sizeof(Pos)) : 17);
    pack.stop();
    if (packed.size() == 0) return {};
    if (!on_device) result = sort_on_host<Pos>(exchanges, host, packed);
    if (options.lcp) result.lcp = lcp_of_share<Pos>(exchanges, host, packed, result.suffixes);
    if (options.bwt) {
      ranks.together("bwt", [&] {
        const PhaseTimer timer(context, "bwt");
        result.bwt = symbols_before<Pos>(packed, result.suffixes);
      });
    }
    if (options.check) check_share(exchanges, host, packed, result, options);
  }
  exchanges.plan().finish(context);
  return result;
}

}  // namespace
}  // namespace sortie::suffix_array::on_ranks

namespace sortie::cluster {

template <suffix_array::Position Pos>
SuffixArrayShare<Pos> build_suffix_array(Ranks& ranks, const Context& context,
                                         const suffix_array::TextView& text,
                                         const SuffixArrayOptions& options) {
  return suffix_array::on_ranks::build<Pos>(ranks, context, text, options);
}

SORTIE_FOR_BOTH_POSITIONS(build_suffix_array);

}  // namespace sortie::cluster
