// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <optional>
#include <span>
#include <vector>

#include "apps/suffix_array/host/bit_set.hpp"
#include "apps/suffix_array/host/build/first_sort.hpp"
#include "apps/suffix_array/host/samples/sample_rounds.hpp"
#include "apps/suffix_array/host/samples/sampling.hpp"
#include "sortie/context.hpp"

namespace sortie::suffix_array::host {

/// The text of a SampleOrder, and what its suffixes are sorted by first.
struct SampledText {
  const SymbolStream& stream;
  const PrefixPlan& plan;
  std::uint64_t size = 0;
  std::uint64_t separators = 0;
};

/// Which slots a process has, if it is one of several.
struct SlotRange {
  std::uint64_t begin = 0;  ///< first slot
  std::uint64_t head = 0;   ///< first slot of the group of `begin`, if that is a slot before
  std::uint64_t after = 0;  ///< last slots of the process, whose group has slots behind them
};

/// Sorts all suffixes that the text rounds leave, however many symbols they agree in: members of
/// groups, and those of long runs.
///
/// Every member of a group has a sample at most a window ahead, all members at the same distance
/// (sampling.hpp), so the ranks of the samples order the group. The samples are sorted by
/// double_steps(). The suffix after each long run is a sample too: it orders runs of one length. If
/// the first member of a run is a sample, its step leads there.
///
/// Several processes may have a part of the slots each. They share all samples: members() and
/// ranks() of all processes are added up where it is said, each finds the samples in its part of
/// the text (SampleMap::find_part()), and sorts some of them (UndecidedSamples).
///
/// Memory: see prefix_doubling.cpp.
template <Position Pos>
class SampleOrder {
 public:
  /// \param order      the slots of this process; run_slots are those of all processes
  /// \param has_groups whether any process has a group
  SampleOrder(const SampledText& text, FirstOrder<Pos>& order, std::vector<RunSlots> run_slots,
              bool has_groups, const SlotRange& slots = {});

  /// A bit for each suffix in a group. Then add the words up.
  void mark_members();
  [[nodiscard]] std::span<std::uint64_t> members() { return members_.span(); }

  /// Instead of mark_members(), before any group is known: a bit for every suffix that may be in
  /// one, since its record has as many symbols as all members of a group agree in.
  void mark_all(std::span<const std::uint64_t> separators);

  /// The following calls work on other slots, which `order` has received. Groups do not cross their
  /// ends.
  void use_slots(std::uint64_t begin) { slots_ = {begin, begin, 0}; }

  /// \return bytes that the following takes
  [[nodiscard]] std::uint64_t find_samples();
  /// Instead, for samples that several processes have found: numbers them.
  /// \return the same without undecided samples: UndecidedSamples::bytes()
  [[nodiscard]] std::uint64_t number_samples();
  [[nodiscard]] SampleMap<Pos>& map() { return map_; }
  /// The rank of each sample, by number; 0 of those in slots of other processes. Then add them up.
  /// Further calls add those in other slots (use_slots()).
  void rank_samples();
  [[nodiscard]] std::span<Pos> ranks() { return {ranks_.get(), numbers_->count()}; }
  [[nodiscard]] std::span<Pos> steps() { return {steps_.get(), numbers_->count()}; }

  /// \return rounds of the samples
  std::uint64_t sort_samples();
  /// The same for several processes: between these two calls they sort samples together
  /// (UndecidedSamples).
  void find_steps();
  void finish_samples();
  /// Sorts the groups and fills the slots of runs. Groups that other processes share are left.
  void sort_groups();
  /// Orders the members of a group. \pre sort_samples(), a member
  [[nodiscard]] Pos rank_of_sample(Pos member) const { return map_[member]; }

 private:
  using Element = Wide<Pos>;  ///< the rank of the sample above the position

  [[nodiscard]] Pos rank_of_slot(std::uint64_t slot) const;
  [[nodiscard]] bool are_many(std::uint64_t samples) const;
  void rank_samples_of(std::uint64_t first, std::uint64_t last);
  void sort_group(std::uint64_t begin, std::uint64_t end, Element* elements,
                  std::span<Element> scratch);

  SampledText text_;
  SlotRange slots_;
  bool has_groups_;
  Sampling sampling_;
  std::vector<RunSlots> run_slots_;
  FirstOrder<Pos>& order_;
  RunOrder<Pos> run_order_;
  BitSet members_;
  BitSet samples_;
  SampleMap<Pos> map_;
  std::optional<NumberedSet<Pos>> numbers_;
  BitSet blocks_;  ///< of positions that have a sample
  HostArray<Pos> ranks_;
  HostArray<Pos> steps_;
  std::vector<Pos> rests_;  ///< ranks of the suffixes after runs
};

/// Sorts by a SampleOrder of all slots.
///
/// \param order  groups; on return, `suffixes` is the suffix array
/// \return rounds of the samples
/// \throws Error (out_of_memory)  too many samples, which only texts of short periods have
///
/// Memory, besides `order` and the stream: see prefix_doubling.cpp. Last, without steps and rounds,
/// 2 P bytes for each suffix of one large group, with positions of P bytes.
template <Position Pos>
std::uint64_t finish_by_samples(const Context& context, const SampledText& text,
                                FirstOrder<Pos>& order);

}  // namespace sortie::suffix_array::host
