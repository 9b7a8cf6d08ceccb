// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/device_text.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "cluster/device_exchange.hpp"
#include "cluster/device_share.hpp"
#include "core/background_task.hpp"
#include "core/phase_timer.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

template <Position Pos>
using Builder = std::shared_ptr<const PartBuilder<Pos>>;

/// Sends the packed part of each rank that has one to all others. Collective.
/// \param packer  of this rank; null if it has no part
void share_parts(Exchanges& exchanges, cluster::DeviceExchange& transport,
                 const std::vector<int>& packing, TextPacker* packer) {
  std::vector<cluster::DevicePiece> sent;
  std::vector<cluster::DevicePiece> received;
  if (packer != nullptr) {
    const int rank = exchanges.ranks().rank();
    const auto own = static_cast<std::uint64_t>(std::ranges::find(packing, rank) - packing.begin());
    const auto piece = [&](int to, std::uint64_t number) -> cluster::DevicePiece {
      const std::span<std::byte> part = packer->packed_part(number);
      return {to, part.data(), part.size()};
    };
    for (std::uint64_t number = 0; number < packing.size(); ++number) {
      if (number == own) continue;
      sent.push_back(piece(packing[number], own));
      received.push_back(piece(packing[number], number));
      exchanges.add(sent.back().bytes);
    }
  }
  transport.exchange(exchanges.ranks(), sent, received, nullptr);
}

/// The ranks that pack a part each; fewer than two if they cannot send it to each other. Collective.
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
  const cluster::DeviceShare share = cluster::share_device(ranks, context);
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

  std::unique_ptr<TextPacker> packer;
  std::optional<BackgroundTask> copying;
  ranks.on_devices("copy text", [&] {
    if (!packs) return;
    copying.emplace([&, of_thread = of_gpu]() mutable {
      of_thread.report = nullptr;
      packer = cuda::make_text_packer<Pos>(of_thread, text, part, parts, plan);
    });
  });
  // Connecting devices takes as long as the copy.
  PhaseTimer connecting(context, "connect devices");
  std::shared_ptr<cluster::DeviceExchange> transport;
  if (part.parts > 1) transport = cluster::connect_devices(ranks, context).exchange;
  connecting.stop();
  PhaseTimer copy_in(context, "copy in");
  std::vector<std::uint64_t> letters(std::tuple_size_v<LetterSet>);
  ranks.on_devices("find letters", [&] {
    if (!copying) return;
    copying->wait();
    std::ranges::copy(packer->find_letters(), letters.begin());
  });
  ranks.reduce_all(letters, cluster::Reduction::greatest);
  copy_in.stop();
  PhaseTimer packing_time(context, "pack");
  ranks.on_devices("pack text", [&] {
    if (!packs) return;
    LetterSet all{};
    for (std::size_t byte = 0; byte < all.size(); ++byte) all[byte] = letters[byte] != 0;
    packer->pack(all);
  });
  packing_time.stop();
  PhaseTimer exchanging(context, "share text");
  if (transport != nullptr) share_parts(exchanges, *transport, packing, packer.get());
  exchanging.stop();
  Builder<Pos> own;
  ranks.on_devices("rank cover", [&] {
    if (!packs) return;
    own = cuda::make_part_builder<Pos>(of_gpu, std::move(packer));
  });
  if (!ranks.share_memory()) return own;
  const std::vector<const Builder<Pos>*> all = ranks.gather<const Builder<Pos>*>(&own);
  Builder<Pos> used;
  // No rank leaves before all have copied.
  ranks.together("share text", [&] { used = *all[static_cast<std::size_t>(share.first)]; });
  return used;
}

SORTIE_FOR_BOTH_POSITIONS(share_builder);

}  // namespace sortie::suffix_array::on_ranks
