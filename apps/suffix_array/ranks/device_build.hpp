// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "apps/suffix_array/part_builder.hpp"
#include "apps/suffix_array/ranks/exchanges.hpp"
#include "cluster/rank_memory.hpp"
#include "core/arriving_array.hpp"
#include "sortie/cluster.hpp"
#include "sortie/suffix_array.hpp"

/// Suffix arrays over ranks that have a GPU each; see device_build.cpp.
namespace sortie::suffix_array::on_ranks {

/// Candidates for borders of the suffix array for each rank, at least 255: a rank sorts whole pieces
/// between them, of which those at both ends are only in part its own. On average that is one piece
/// more than its share.
inline constexpr std::uint64_t candidates_a_rank = 256;

/// The entries of rank `rank` of `ranks` in the suffix array of a text.
struct EntryShare {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};
[[nodiscard]] EntryShare entry_share(std::uint64_t symbols, int ranks, int rank);

/// The text of rank 0 on all ranks: the same memory where they share it, else a copy.
class SharedText {
 public:
  /// Collective. Phase "text memory". \throws Error (out_of_memory) \param text  of rank 0
  SharedText(cluster::Ranks& ranks, const cluster::RankMemory& memory, const TextView& text);
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;

  [[nodiscard]] const TextView& view() const { return view_; }

 private:
  std::vector<std::uint8_t> symbols_;
  std::vector<std::uint64_t> separators_;
  TextView view_;
};

/// Builds this rank's entry_share() on its device. Collective. Phases: those of share_builder(),
/// "count suffixes", "sort ranges".
/// \param text     the same on all ranks, not empty
/// \param entries  receives the entries. \pre it has entry_share().size items
/// \param plan     instead of that for the memory of the device; for tests
/// \return waits until the entries are there; called once, by any thread
/// \throws Error (out_of_memory) of the device; (device)
template <Position Pos>
[[nodiscard]] std::function<void()> build_on_device(
    Exchanges& exchanges, const Context& context, const TextView& text, std::span<Pos> entries,
    const std::optional<cuda::RangePlan>& plan = {});

/// Builds a suffix array on devices of this process.
/// \param devices  as for cluster::run_on_devices()
/// \param text     as for suffix_array::build(), not empty
/// \param entries  receives the array. \pre it has as many items as the text has symbols
/// \throws Error as build_on_device(); (usage) as suffix_array::build()
template <Position Pos>
void build_on_devices(const Context& context, std::span<const int> devices, const TextView& text,
                      std::span<Pos> entries);
/// The same without waiting for the copies to the host.
template <Position Pos>
[[nodiscard]] ArrivingArray<Pos> build_arriving_on_devices(const Context& context,
                                                           std::span<const int> devices,
                                                           const TextView& text);

}  // namespace sortie::suffix_array::on_ranks
