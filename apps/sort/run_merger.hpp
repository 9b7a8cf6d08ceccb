// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/sort/order_check.hpp"
#include "apps/sort/record_blocks.hpp"
#include "apps/sort/spill_file.hpp"
#include "core/background_task.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/phase_timer.hpp"
#include "multisort/host/merge_runs.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/context.hpp"

namespace sortie::sorting {

/// Where merged records go.
struct MergeOutput {
  /// Takes bytes and their offset in the merged records. May be empty.
  std::function<void(std::uint64_t offset, std::span<const char> bytes)> write;
  bool in_order = false;  ///< one call at a time, in ascending order; else on all threads
};

/// Merges sorted runs of a spill file, and perhaps one more that is in memory, on several threads.
/// What was read of the file is discarded.
///
/// Of each run of the file two slots are in memory: one is merged while the other is read.
///
///             first slot              second slot
///     run 0   | merged in this step | being read |
///     run 1   | merged   | left     | read       |
///     run 2   | merged       | left | read       |
///
/// A step merges the items of the first slots that precede every item which is not in one. It
/// exhausts the first slot of at least one run; the second slot takes its place, and is read anew
/// in the next step. At first, slots are filled to different parts: so, if the runs advance at the
/// same rate, each step exhausts one slot, and merges about as much as is read in the meantime.
///
/// Workers merge a step block by block, with exact splits between the blocks, and write each block
/// while it is in the cache.
///
/// \tparam File  has read(begin, into) and discard(begin, bytes) as SpillFile
template <std::unsigned_integral Key, class Value, class File = SpillFile>
class RunMerger {
 public:
  using Range = Items<Key, Value>;

  /// Memory of the caller.
  struct Memory {
    Range slots;
    std::uint64_t slot_items = 1;  ///< `slots` has two slots for each run of the file
    Range merged;                  ///< a block for each worker
    std::uint64_t workers = 1;     ///< threads
    /// Buffers 0 to workers - 1 are for the output, as many more for what is read.
    const RecordBlocks<Key, Value>& blocks;
  };

  /// \param runs  equal keys of earlier runs come first
  /// \param last  a run in memory that comes after those of the file; it may be empty
  RunMerger(const Context& context, const File& file, std::span<const SpilledRun> runs,
            multisort::Run<Key, Value> last, const Memory& memory, KeyCodec<Key> codec)
      : context_(context), file_(file), codec_(codec), memory_(memory), workers_(memory.workers) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      states_.push_back({.first = slot(2 * r),
                         .second = slot(2 * r + 1),
                         .next = runs[r].begin,
                         .end = runs[r].begin + runs[r].records});
    }
    if (last.size > 0) states_.push_back({.first = last.items, .tail = last.size});
  }

  /// \param check     checks the merged items, unless it is null
  /// \param progress  is told the number of items that are merged; may be empty
  void run(const MergeOutput& output, OrderCheck<Key, Value>* check,
           const std::function<void(std::uint64_t)>& progress) {
    std::vector<Refill> refills = first_refills();
    {
      const PhaseTimer timer(context_, "read", bytes_of(refills));
      read(refills);
    }
    exhaust();
    for (std::uint64_t n = mergeable_items(); n > 0; n = mergeable_items()) {
      refills = next_refills();
      BackgroundTask reading([&] { read(refills); });
      merge(n, output, check);
      {
        const PhaseTimer timer(context_, "read", bytes_of(refills));
        reading.wait();
      }
      exhaust();
      merged_ += n;
      if (progress) progress(merged_);
    }
  }

 private:
  /// Items [head, tail) of the first slot are not merged yet.
  struct State {
    Range first = {};
    Range second = {};
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::uint64_t second_items = 0;  ///< items in the second slot, or being read into it
    std::uint64_t next = 0;          ///< next record of the file to read
    std::uint64_t end = 0;           ///< record of the file after the run

    [[nodiscard]] bool has_more() const { return second_items > 0 || next < end; }
  };

  /// Records of the file to read, at most a block.
  struct Refill {
    std::uint64_t begin;
    std::uint64_t records;
    Range into;
  };

  /// What a worker merges.
  struct Part {
    std::vector<multisort::Run<Key, Value>> runs;
    std::uint64_t begin = 0;  ///< first item, in this step
    std::uint64_t items = 0;
    std::span<const char> records;
    OrderCheck<Key, Value> check;
  };

  static constexpr std::uint64_t record_bytes = RecordBlocks<Key, Value>::record_bytes;

  /// Merging so many u64 keys of nine runs takes 160 microseconds, several starts of a thread.
  static constexpr std::uint64_t worth_a_thread_bytes = std::uint64_t{128} << 10;

  [[nodiscard]] Range slot(std::size_t index) const {
    return memory_.slots.from(index * memory_.slot_items);
  }

  [[nodiscard]] static std::uint64_t bytes_of(std::span<const Refill> refills) {
    std::uint64_t records = 0;
    for (const Refill& refill : refills) records += refill.records;
    return records * record_bytes;
  }

  [[nodiscard]] std::vector<Refill> first_refills() {
    const EqualShares shares{memory_.slot_items, states_.size()};
    std::vector<Refill> refills;
    for (std::size_t r = 0; r < states_.size(); ++r)
      add_refills(states_[r], std::max<std::uint64_t>(1, shares.begin(r + 1)), refills);
    return refills;
  }

  [[nodiscard]] std::vector<Refill> next_refills() {
    std::vector<Refill> refills;
    for (State& state : states_) {
      if (state.second_items == 0) add_refills(state, memory_.slot_items, refills);
    }
    return refills;
  }

  /// Lists, by blocks, the at most `most` records with which the empty second slot is to be filled.
  void add_refills(State& state, std::uint64_t most, std::vector<Refill>& refills) const {
    state.second_items = std::min(most, state.end - state.next);
    for (std::uint64_t done = 0; done < state.second_items;) {
      const std::uint64_t n = std::min(memory_.blocks.block_items(), state.second_items - done);
      refills.push_back({state.next, n, state.second.from(done)});
      state.next += n;
      done += n;
    }
  }

  void read(std::span<const Refill> refills) const {
    BlockSteps steps;
    steps.take = [&](int, std::uint64_t block) { return block < refills.size(); };
    steps.work = [&](int worker, std::uint64_t block) {
      const auto [begin, records, into] = refills[block];
      const std::uint64_t buffer = workers_ + static_cast<std::uint64_t>(worker);
      file_.read(begin * record_bytes, memory_.blocks.records(buffer, into, records));
      file_.discard(begin * record_bytes, records * record_bytes);
      memory_.blocks.unpack(buffer, into, records);
      codec_.encode(into.keys, records);
    };
    run_blocks(static_cast<int>(std::clamp<std::uint64_t>(refills.size(), 1, workers_)), steps);
  }

  /// Second slots take the place of first ones that have no items left.
  void exhaust() {
    for (State& state : states_) {
      if (state.head < state.tail || state.second_items == 0) continue;
      std::swap(state.first, state.second);
      state.head = 0;
      state.tail = std::exchange(state.second_items, 0);
    }
  }

  /// Number of items in the first slots that precede all other items.
  [[nodiscard]] std::uint64_t mergeable_items() const {
    const State* bound = nullptr;  // the run whose last item in the first slot is the least
    const auto last = [](const State& s) { return s.first.keys[s.tail - 1]; };
    for (const State& state : states_) {
      if (!state.has_more()) continue;
      if (bound == nullptr || last(state) < last(*bound)) bound = &state;
    }
    std::uint64_t count = 0;
    for (const State& state : states_) {
      const Key* const begin = state.first.keys + state.head;
      const Key* const end = state.first.keys + state.tail;
      if (bound == nullptr || &state == bound) {
        count += state.tail - state.head;
      } else {
        // Equal keys of earlier runs precede the items that follow in the bound's run.
        const Key* const place = &state < bound ? std::upper_bound(begin, end, last(*bound))
                                                : std::lower_bound(begin, end, last(*bound));
        count += static_cast<std::uint64_t>(place - begin);
      }
    }
    return count;
  }

  /// Takes the next `items` items of the step from the runs. One thread at a time: each split is
  /// searched for behind the previous one, which takes a hundredth of the time of merging a block.
  void take(Part& part, std::uint64_t items) {
    std::vector<std::uint64_t> sizes;
    for (const State& state : states_) sizes.push_back(std::min(items, state.tail - state.head));
    const std::vector<std::uint64_t> split = multisort::plan::split_at_rank(
        sizes, items,
        [&](std::size_t r, std::uint64_t i) { return states_[r].first.keys[states_[r].head + i]; },
        std::less<Key>{});
    part.runs.clear();
    for (std::size_t r = 0; r < states_.size(); ++r) {
      part.runs.push_back({states_[r].first.from(states_[r].head), split[r]});
      states_[r].head += split[r];
    }
    part.items = items;
  }

  /// Merges the next `n` items, all of which are in first slots.
  void merge(std::uint64_t n, const MergeOutput& output, OrderCheck<Key, Value>* check) {
    // Small steps are divided among the workers too, if each part is worth the start of a thread.
    const std::uint64_t most_items = memory_.blocks.block_items();
    const std::uint64_t block_items =
        std::min(most_items, std::max(n / workers_ + 1, worth_a_thread_bytes / record_bytes));
    const auto write = [&](const Part& part) {
      if (output.write) output.write((merged_ + part.begin) * record_bytes, part.records);
    };
    std::vector<Part> parts(workers_);
    BlockSteps steps;
    steps.take = [&](int worker, std::uint64_t block) {
      const std::uint64_t begin = block * block_items;
      if (begin >= n) return false;
      parts[worker].begin = begin;
      take(parts[worker], std::min(block_items, n - begin));
      return true;
    };
    steps.work = [&](int worker, std::uint64_t) {
      Part& part = parts[worker];
      const Range merged = memory_.merged.from(static_cast<std::uint64_t>(worker) * most_items);
      multisort::merge_runs(std::move(part.runs), merged);
      if (check != nullptr) {
        part.check = OrderCheck<Key, Value>(check->first() + merged_ + part.begin);
        part.check.add(merged, part.items);
      }
      if (!output.write) return;
      codec_.decode(merged.keys, part.items);
      part.records = memory_.blocks.pack(static_cast<std::uint64_t>(worker), merged, part.items);
    };
    if (check != nullptr || output.in_order) {
      steps.pass = [&](int worker, std::uint64_t) {
        if (check != nullptr) check->append(parts[worker].check);
        if (output.in_order) write(parts[worker]);
      };
    }
    if (!output.in_order) {
      steps.finish = [&](int worker, std::uint64_t) { write(parts[worker]); };
    }
    const std::uint64_t blocks = (n + block_items - 1) / block_items;
    run_blocks(static_cast<int>(std::min(workers_, blocks)), steps);
  }

  const Context& context_;
  const File& file_;
  KeyCodec<Key> codec_;
  Memory memory_;
  std::uint64_t workers_;
  std::uint64_t merged_ = 0;
  std::vector<State> states_;
};

}  // namespace sortie::sorting
