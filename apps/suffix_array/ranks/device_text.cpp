// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/device_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "cluster/device_exchange.hpp"
#include "cluster/device_share.hpp"
#include "core/background_task.hpp"
#include "core/cuda/device_context.hpp"
#include "core/phase_timer.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

template <Position Pos>
using Builder = std::shared_ptr<const PartBuilder<Pos>>;

/// Sends the part of each rank that has one to all others. Collective.
/// \param memory  memory(number) gives the arrays of a part on this rank; not called on ranks that
///                have no part
template <class Memory>
void share_parts(Exchanges& exchanges, cluster::DeviceExchange& transport,
                 const std::vector<int>& packing, const Memory& memory) {
  std::vector<cluster::DevicePiece> sent;
  std::vector<cluster::DevicePiece> received;
  const auto own = static_cast<std::uint64_t>(std::ranges::find(packing, exchanges.ranks().rank()) -
                                              packing.begin());
  if (own < packing.size()) {
    for (std::uint64_t number = 0; number < packing.size(); ++number) {
      if (number == own) continue;
      for (const std::span<std::byte> array : memory(own)) {
        sent.push_back({packing[number], array.data(), array.size()});
        exchanges.add(array.size());
      }
      for (const std::span<std::byte> array : memory(number))
        received.push_back({packing[number], array.data(), array.size()});
    }
  }
  transport.exchange(exchanges.ranks(), sent, received, nullptr);
}

/// The ranks that pack a part each; fewer than two if they cannot send it to each other.
/// Collective.
std::vector<int> packing_ranks(cluster::Ranks& ranks, const Context& context,
                               const cluster::DeviceShare& share) {
  std::vector<int> packing;
  if (ranks.share_memory()) {
    for (const int first : ranks.gather(share.first))
      if (std::ranges::find(packing, first) == packing.end()) packing.push_back(first);
  } else if (cluster::connect_devices(ranks, context).exchange != nullptr) {
    packing.resize(static_cast<std::size_t>(ranks.size()));
    std::iota(packing.begin(), packing.end(), 0);
  }
  return packing;
}

}  // namespace

template <Position Pos>
Builder<Pos> share_builder(Exchanges& exchanges, const Context& context, const TextView& text,
                           const std::optional<cuda::RangePlan>& plan) {
  cluster::Ranks& ranks = exchanges.ranks();
  PhaseTimer measuring(context, "measure memory");
  const cluster::DeviceShare share = cluster::share_device(ranks, context);
  measuring.stop();
  const bool shares = ranks.share_memory() && share.ranks > 1;
  const bool packs = !shares || ranks.rank() == share.first;
  const std::vector<int> packing = packing_ranks(ranks, context, share);
  Context of_gpu = context;
  if (!shares && share.ranks > 1) of_gpu.memory_budget = share.bytes;
  const PartCounts parts{static_cast<std::uint64_t>(ranks.size()),
                         shares ? static_cast<std::uint64_t>(share.ranks) : 1};
  TextPart part;
  if (packing.size() > 1) {
    part.parts = packing.size();
    part.number =
        static_cast<std::uint64_t>(std::ranges::find(packing, ranks.rank()) - packing.begin());
  }

  std::unique_ptr<TextPreparation> text_on_gpu;
  std::optional<BackgroundTask> copying;
  ranks.on_devices("copy text", [&] {
    if (!packs) return;
    copying.emplace([&, of_thread = of_gpu]() mutable {
      of_thread.report = nullptr;
      text_on_gpu = cuda::prepare_text<Pos>(of_thread, text, part, parts, plan);
    });
  });
  // Connecting devices takes as long as the copy.
  PhaseTimer connecting(context, "connect devices");
  std::shared_ptr<cluster::DeviceExchange> transport;
  if (part.parts > 1) transport = cluster::connect_devices(ranks, context).exchange;
  connecting.stop();

  const auto on_gpu = [&](std::string_view phase, const auto& work) {
    ranks.on_devices(phase, [&] {
      if (!packs) return;
      const DeviceScope scope(of_gpu);
      work();
    });
  };
  std::vector<std::uint64_t> letters(std::tuple_size_v<LetterSet>);
  PhaseTimer copy_in(context, "copy in");
  on_gpu("find letters", [&] {
    copying->wait();
    std::ranges::copy(text_on_gpu->find_letters(), letters.begin());
  });
  ranks.reduce_all(letters, cluster::Reduction::greatest);
  copy_in.stop();
  PhaseTimer packing_time(context, "pack");
  on_gpu("pack text", [&] {
    LetterSet all{};
    for (std::size_t byte = 0; byte < all.size(); ++byte) all[byte] = letters[byte] != 0;
    text_on_gpu->pack(all);
  });
  if (transport != nullptr)
    share_parts(exchanges, *transport, packing,
                [&](std::uint64_t number) { return std::array{text_on_gpu->packed_part(number)}; });
  packing_time.stop();

  PhaseTimer sorting(context, "sort cover");
  std::uint64_t order = 0;
  on_gpu("plan cover", [&] { order = text_on_gpu->cover_order(); });
  order = ranks.greatest(order);
  CoverCounts counts;
  on_gpu("sort cover",
         [&] { counts = text_on_gpu->sort_cover(static_cast<std::uint32_t>(order)); });
  std::vector<CoverCounts> of_parts{counts};
  if (part.parts > 1) {
    const std::vector<CoverCounts> of_ranks = ranks.gather(counts);
    of_parts.clear();
    for (const int rank : packing) of_parts.push_back(of_ranks[static_cast<std::size_t>(rank)]);
  }
  on_gpu("join cover", [&] { text_on_gpu->join_cover(of_parts); });
  sorting.stop();
  PhaseTimer ranking(context, "rank cover");
  if (transport != nullptr)
    share_parts(exchanges, *transport, packing,
                [&](std::uint64_t number) { return text_on_gpu->cover_part(number); });
  Builder<Pos> own;
  on_gpu("rank cover", [&] { own = cuda::make_part_builder<Pos>(of_gpu, std::move(text_on_gpu)); });
  ranking.stop();
  if (!ranks.share_memory()) return own;
  const std::vector<const Builder<Pos>*> all = ranks.gather<const Builder<Pos>*>(&own);
  Builder<Pos> used;
  // No rank leaves before all have copied.
  ranks.together("share text", [&] { used = *all[static_cast<std::size_t>(share.first)]; });
  return used;
}

SORTIE_FOR_BOTH_POSITIONS(share_builder);

}  // namespace sortie::suffix_array::on_ranks
