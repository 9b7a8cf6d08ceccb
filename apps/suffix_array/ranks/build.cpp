// SPDX-License-Identifier: Apache-2.0

// Suffix arrays over ranks, on their hosts. On devices: device_build.cpp.
//
// 1. pack     Every rank receives the packed text of rank 0 (packed_text.hpp).
// 2. sort     Each rank finds the elements of its slots in the whole text (first_sort.hpp). It
//             sorts each of its buckets, and suffixes with equal keys by the next words of the
//             text, without messages. Shares are equal within 1/64, so that groups of suffixes with
//             equal keys stay on one rank, unless they are large.
// 3. rounds   Large groups that several ranks share are sorted by as many words, together. All
//             remaining groups, and the members of long runs, are sorted by samples, which the
//             ranks divide among them, and of which every rank holds all (group_sorts.hpp).
// 4. shares   Entries move to the ranks of equal shares.
//
// Memory of a rank for positions of P bytes, a share of s symbols, and n symbols:
//
// | array                          | bytes               | lifetime |
// |--------------------------------|---------------------|----------|
// | symbols, b bits each           | b n / 8             | all      |
// | suffixes                       | 33 P s / 32         | 2 to 4   |
// | slots in groups                | s / 8               | 2 to 4   |
// | elements                       | 8 s, or less        | 2        |
// | scratch of sorts               | s / 2 at most       | 2        |
// | members, samples, changes      | 3 n / 8 + P n / 32  | 3        |
// | q samples, z sorted here       | P (4 q + 5 z)       | 3        |
// | edges                          | 32 s at most        | 3        |
//
// Fewer elements are held at once where memory is scarce, at least 1/16 of them. Edges occur in
// texts of short periods only, and a text without groups and runs has no samples.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/ranks/build.hpp"
#include "apps/suffix_array/ranks/build_plan.hpp"
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

/// Steps 2 to 4.
template <Position Pos>
cluster::SuffixArrayShare<Pos> sort_on_host(Exchanges& exchanges, const Context& context,
                                            cluster::RankMemory& memory, const PackedText& packed) {
  cluster::Ranks& ranks = exchanges.ranks();
  PhaseTimer sort(context, "sort");
  const std::uint64_t own = packed.size() / static_cast<std::uint64_t>(ranks.size()) + 1;
  const std::uint64_t held = packed.bytes() + share_memory(own, sizeof(Pos)).lasting;
  SlotShare<Pos> share =
      sort_first<Pos>(exchanges, context, packed, memory.left() > held ? memory.left() - held : 0);
  sort.stop();

  PhaseTimer finish(context, "rounds");
  std::uint64_t counts[] = {share.order.in_equal_prefixes, share.order.in_groups};
  ranks.reduce_all(counts, cluster::Reduction::sum);
  for (std::uint64_t& count : counts)
    for (const host::RunSlots& letter : share.order.run_slots) count += letter.size;
  memory.hold(held);
  const std::uint64_t rounds = finish_by_samples(exchanges, context, memory, packed, share);
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
cluster::SuffixArrayShare<Pos> sort_on_devices(Exchanges& exchanges, const Context& context,
                                               const cluster::RankMemory& memory,
                                               const TextView& text) {
  cluster::Ranks& ranks = exchanges.ranks();
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
  const auto arrive = build_on_device<Pos>(exchanges, context, view, result.suffixes);
  ranks.on_devices("copy entries", arrive);
  return result;
}

}  // namespace

template <Position Pos>
cluster::SuffixArrayShare<Pos> build(cluster::Ranks& ranks, const Context& context,
                                     const RankText& text,
                                     const cluster::SuffixArrayOptions& options) {
  ranks.on_rank(0, "check text", [&] {
    require_text<Pos>(text.size(), text.separators());
    constexpr std::uint64_t longest = (std::uint64_t{1} << edge_number_bits) - 2;
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
  cluster::RankMemory memory(ranks, static_cast<const HostContext&>(host));
  cluster::SuffixArrayShare<Pos> result;
  if (on_device) result = sort_on_devices<Pos>(exchanges, context, memory, text.view());
  const auto text_is_read = [&] {
    ranks.on_rank(0, "text is read", [&] {
      if (options.text_is_read) options.text_is_read();
    });
  };
  if (on_device && !options.lcp && !options.bwt && !options.check) {
    text_is_read();
  } else {
    PhaseTimer pack(context, "pack");
    const PackedText packed(ranks, host, memory, text, [&](std::uint64_t share) {
      return std::max(on_device ? std::uint64_t{0} : share_memory(share, sizeof(Pos)).least,
                      options.lcp ? 4 * sizeof(Pos) * share : std::uint64_t{0});
    });
    text_is_read();
    pack.stop();
    if (packed.size() == 0) return {};
    if (!on_device) result = sort_on_host<Pos>(exchanges, host, memory, packed);
    if (options.lcp) result.lcp = lcp_of_share<Pos>(exchanges, host, packed, result.suffixes);
    if (options.bwt) {
      ranks.together("bwt", [&] {
        const PhaseTimer timer(context, "bwt");
        result.bwt = symbols_before<Pos>(packed, result.suffixes);
      });
    }
    if (options.check) {
      const std::uint64_t own = packed.size() / static_cast<std::uint64_t>(ranks.size()) + 1;
      const bool by_text = ranks.least(memory.left() >= 3 * sizeof(Pos) * own) == 0;
      check_share(exchanges, host, packed, result, options, by_text);
    }
  }
  exchanges.plan().finish(context);
  return result;
}

SORTIE_FOR_BOTH_POSITIONS(build);

}  // namespace sortie::suffix_array::on_ranks

namespace sortie::cluster {

template <suffix_array::Position Pos>
SuffixArrayShare<Pos> build_suffix_array(Ranks& ranks, const Context& context,
                                         const suffix_array::TextView& text,
                                         const SuffixArrayOptions& options) {
  return suffix_array::on_ranks::build<Pos>(ranks, context, suffix_array::on_ranks::RankText(text),
                                            options);
}

SORTIE_FOR_BOTH_POSITIONS(build_suffix_array);

}  // namespace sortie::cluster
