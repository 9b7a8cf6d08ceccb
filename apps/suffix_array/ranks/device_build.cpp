// SPDX-License-Identifier: Apache-2.0

// Suffix arrays over ranks that have a GPU each. Parts of a suffix array can be sorted independently
// once the suffixes at positions of a difference cover are ranked (cuda/ranges/range_build.cu):
//
// 1. text     Every rank has the text of rank 0: the same memory, or a copy.
// 2. pack     Each GPU copies and packs a part of the text, and sends it to all others.
// 3. cover    Each GPU sorts the suffixes of the cover whose first symbols lie between two borders,
//             and sends them to all others. Each writes all ranks, and sorts what is left in
//             groups. Ranks of one process that share a GPU share this, too (device_text.cpp).
// 4. borders  All ranks draw the same suffixes, the borders of pieces. Each rank counts the
//             suffixes between borders in its share of the text, and the counts are added up.
// 5. sort     The equal share of a rank is part of some consecutive pieces. It gathers their
//             suffixes by a pass over the text, sorts them, and copies its entries to the host.
//
// What every GPU does is to write the ranks, and the passes of step 5. Memory of a GPU:
// range_build.cu, with a set of members and a range for each rank on it.
#include "apps/suffix_array/ranks/device_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/ranks/device_text.hpp"
#include "cluster/traffic_plan.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "core/uninitialised_vector.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/cluster_devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

template <Position Pos>
using Builder = std::shared_ptr<const PartBuilder<Pos>>;

/// Parts of an array that devices copy to the host.
struct ArrivingPart {
  std::uint64_t begin = 0;
  std::shared_future<void> arrived;  ///< the first thread that asks waits for the copy
};

template <Position Pos>
std::vector<ArrivingPart> build_parts(const Context& context, std::span<const int> devices,
                                      const TextView& text, std::span<Pos> entries) {
  require_text<Pos>(text.size(), text.separators);
  std::vector<ArrivingPart> parts(devices.size());
  cluster::run_on_devices(context, devices, [&](cluster::Ranks& ranks, const Context& own_context) {
    const EntryShare own = entry_share(text.size(), ranks.size(), ranks.rank());
    Exchanges exchanges(ranks);
    auto arrive =
        build_on_device<Pos>(exchanges, own_context, text, entries.subspan(own.begin, own.size));
    parts[static_cast<std::size_t>(ranks.rank())] = {
        own.begin, std::async(std::launch::deferred, std::move(arrive)).share()};
    exchanges.plan().finish(own_context);
  });
  return parts;
}

}  // namespace

EntryShare entry_share(std::uint64_t symbols, int ranks, int rank) {
  const EqualShares shares{symbols, static_cast<std::uint64_t>(ranks)};
  const auto number = static_cast<std::uint64_t>(rank);
  return {shares.begin(number), shares.size(number)};
}

SharedText::SharedText(cluster::Ranks& ranks, const cluster::RankMemory& memory,
                       const TextView& text) {
  TextView first = text;
  ranks.broadcast(std::as_writable_bytes(std::span(&first, 1)), 0);
  if (ranks.share_memory() || ranks.rank() == 0) view_ = first;
  if (ranks.share_memory()) return;
  ranks.together("text memory", [&] {
    if (ranks.rank() == 0) return;
    memory.require(fmt::format("a text of {} symbols", first.size()),
                   {first.symbols.size_bytes() + first.separators.size_bytes()});
    resize_for_overwrite(symbols_, static_cast<std::int64_t>(first.symbols.size()));
    separators_.resize(first.separators.size());
    view_ = {symbols_, separators_};
  });
  // Rank 0 sends from its own memory, which broadcast() does not change there.
  const auto send = [&](auto& received, auto own) {
    using Item = typename decltype(own)::value_type;
    auto* const begin = ranks.rank() == 0 ? const_cast<Item*>(own.data()) : received.data();
    ranks.broadcast(std::as_writable_bytes(std::span(begin, own.size())), 0);
  };
  send(symbols_, view_.symbols);
  send(separators_, view_.separators);
}

template <Position Pos>
std::function<void()> build_on_device(Exchanges& exchanges, const Context& context,
                                      const TextView& text, std::span<Pos> entries,
                                      const std::optional<cuda::RangePlan>& plan) {
  cluster::Ranks& ranks = exchanges.ranks();
  const auto builder = on_backend(
      context, [&](const auto& here) { return share_builder<Pos>(exchanges, here, text, plan); },
      [](const Context&) -> Builder<Pos> {
        throw Error(ErrorKind::unavailable, "suffix array: found the host, expected a device");
      });
  const std::uint64_t most = ranks.least(builder->most_members());
  const EntryShare own = entry_share(text.size(), ranks.size(), ranks.rank());
  const auto count = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t parts = std::max(count, text.size() / most + 1);
  CandidateDraw draw{candidates_a_rank * parts, 0};
  std::vector<std::uint64_t> counts;
  for (;; ++draw.number) {
    ranks.on_devices("count suffixes", [&] {
      if (draw.number == most_draws) throw cannot_be_divided();
      // The share of the text has as many symbols as that of the array has entries.
      counts = builder->count(context, draw, own.begin, own.begin + own.size);
    });
    ranks.reduce_all(counts, cluster::Reduction::sum);
    if (std::ranges::max(counts) <= most) break;
  }
  SortedPart sorted;
  PhaseTimer sorting(context, "sort parts");
  ranks.on_devices("sort ranges",
                   [&] { sorted = builder->build(context, draw, counts, own.begin, entries); });
  sorting.stop();
  const double imbalance = cluster::imbalance_of(ranks, sorted.suffixes);
  if (context.report != nullptr) context.report->set("imbalance", imbalance);
  return sorted.arrive;
}

template <Position Pos>
void build_on_devices(const Context& context, std::span<const int> devices, const TextView& text,
                      std::span<Pos> entries) {
  for (const ArrivingPart& part : build_parts(context, devices, text, entries)) part.arrived.get();
}

template <Position Pos>
ArrivingArray<Pos> build_arriving_on_devices(const Context& context, std::span<const int> devices,
                                             const TextView& text) {
  struct Array {
    HostArray<Pos> entries;
    std::vector<ArrivingPart> parts;  ///< last: their end waits for the copies to the entries
  };
  const auto array = std::make_shared<Array>();
  array->entries = allocate_array<Pos>(text.size());
  const std::span<Pos> entries(array->entries.get(), text.size());
  array->parts = build_parts(context, devices, text, entries);
  return {entries, array, [parts = &array->parts](std::uint64_t end) {
            for (const ArrivingPart& part : *parts)
              if (part.begin < end) part.arrived.get();
          }};
}

SORTIE_FOR_BOTH_POSITIONS(build_on_device);
SORTIE_FOR_BOTH_POSITIONS(build_on_devices);
SORTIE_FOR_BOTH_POSITIONS(build_arriving_on_devices);

}  // namespace sortie::suffix_array::on_ranks
