#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "sortie/apps/sort/spill_file.hpp"
#include "sortie/core/context.hpp"
#include "sortie/multisort/host/devices.hpp"
#include "sortie/multisort/host/items.hpp"
#include "sortie/multisort/host/merge_runs.hpp"
#include "sortie/multisort/plan/multi_sequence.hpp"
#include "sortie/multisort/plan/shares.hpp"
#include "sortie/segsort/host/key_form.hpp"

namespace sortie::sorting {

using multisort::Items;
using multisort::ItemStorage;

/// Between items in arrays and records in a file, through a buffer: keys alone need none.
template <std::unsigned_integral Key, class Value>
class RecordPacker {
 public:
  static constexpr std::size_t record_bytes = multisort::item_bytes<Key, Value>;

  /// \param buffer_bytes  of the buffer; it holds one record at least
  explicit RecordPacker(std::uint64_t buffer_bytes)
      : buffer_(multisort::has_values<Value>
                    ? std::max<std::uint64_t>(1, buffer_bytes / record_bytes) * record_bytes
                    : 0) {}

  /// Fills `items` from fill(bytes), which returns the records that it has put there; fewer than
  /// asked for only at the end. Returns the number of records.
  template <class Fill>
  std::uint64_t unpack(Items<Key, Value> items, std::uint64_t n, Fill fill) {
    if constexpr (!multisort::has_values<Value>) {
      return fill(std::span<char>(reinterpret_cast<char*>(items.keys), n * record_bytes));
    } else {
      std::uint64_t done = 0;
      while (done < n) {
        const std::uint64_t piece =
            std::min<std::uint64_t>(n - done, buffer_.size() / record_bytes);
        const std::uint64_t got = fill(std::span<char>(buffer_.data(), piece * record_bytes));
        const char* at = buffer_.data();
        for (std::uint64_t i = done; i < done + got; ++i, at += record_bytes) {
          std::memcpy(items.keys + i, at, sizeof(Key));
          std::memcpy(items.values + i, at + sizeof(Key), sizeof(Value));
        }
        done += got;
        if (got < piece) break;
      }
      return done;
    }
  }

  /// Hands the records of `items` to write(bytes).
  template <class Write>
  void pack(Items<Key, Value> items, std::uint64_t n, Write write) {
    if constexpr (!multisort::has_values<Value>) {
      write(std::span<const char>(reinterpret_cast<const char*>(items.keys), n * record_bytes));
    } else {
      for (std::uint64_t done = 0; done < n;) {
        const std::uint64_t piece =
            std::min<std::uint64_t>(n - done, buffer_.size() / record_bytes);
        char* at = buffer_.data();
        for (std::uint64_t i = done; i < done + piece; ++i, at += record_bytes) {
          std::memcpy(at, items.keys + i, sizeof(Key));
          std::memcpy(at + sizeof(Key), items.values + i, sizeof(Value));
        }
        write(std::span<const char>(buffer_.data(), piece * record_bytes));
        done += piece;
      }
    }
  }

 private:
  std::vector<char> buffer_;
};

/// A sorted part of a spill file.
struct SpilledRun {
  std::uint64_t begin = 0;  ///< first record
  std::uint64_t records = 0;
};

/// Merges runs of a spill file by all threads, with a block of each run in memory.
///
/// Of what is in memory, all is merged that no unread item can belong before: up to the least of
/// the last items in memory of the runs that go on. Exact splits give each thread an equal part of
/// it. The run with that least last item is used up then, so every turn goes on by a block at
/// least.
template <std::unsigned_integral Key, class Value>
class RunMerger {
 public:
  using Range = Items<Key, Value>;
  /// Takes merged items, in order; their keys are encoded, and it may change them.
  using Consume = std::function<void(Range, std::uint64_t)>;

  /// \param runs         in order: of equal keys those of earlier runs come first
  /// \param block_items  items of each run in memory, 1 at least
  /// \param output_items merged items in memory, 1 at least
  RunMerger(const Context& context, const SpillFile& file, std::span<const SpilledRun> runs,
            std::uint64_t block_items, std::uint64_t output_items, segsort::KeyForm<Key> form,
            RecordPacker<Key, Value>& packer)
      : file_(file),
        form_(form),
        packer_(packer),
        block_items_(block_items),
        output_items_(output_items),
        blocks_(context, runs.size() * block_items, "the blocks of a merge"),
        output_(context, output_items, "the output of a merge"),
        threads_(multisort::start_devices(context, 0)) {
    for (std::size_t r = 0; r < runs.size(); ++r)
      states_.push_back({blocks_.items().from(r * block_items), 0, 0, runs[r].begin,
                         runs[r].begin + runs[r].records});
  }

  void run(const Consume& consume) {
    for (State& state : states_) refill(state);
    for (std::uint64_t n = sure_items(); n > 0; n = sure_items()) {
      merge(n);
      consume(output_.items(), n);
      for (State& state : states_) {
        // Moving what is left over never takes longer than what was merged.
        if (state.next < state.end && 2 * (state.tail - state.head) <= block_items_) refill(state);
      }
    }
  }

 private:
  /// Items [head, tail) of the block are in memory and not merged yet.
  struct State {
    Range block;
    std::uint64_t head;
    std::uint64_t tail;
    std::uint64_t next;  ///< record of the file that is read next
    std::uint64_t end;   ///< record of the file behind the run
  };

  void refill(State& state) {
    const std::uint64_t left = state.tail - state.head;
    multisort::copy_items(state.block.from(state.head), left, state.block);
    const std::uint64_t count = std::min(block_items_ - left, state.end - state.next);
    const Range into = state.block.from(left);
    constexpr std::size_t bytes = RecordPacker<Key, Value>::record_bytes;
    packer_.unpack(into, count, [&](std::span<char> piece) {
      file_.read(state.next * bytes, piece);
      state.next += piece.size() / bytes;
      return piece.size() / bytes;
    });
    form_.encode(into.keys, count);
    state.head = 0;
    state.tail = left + count;
  }

  /// Items in memory that no unread item belongs before, as far as the output holds them.
  [[nodiscard]] std::uint64_t sure_items() const {
    const State* bound = nullptr;  // the run whose last item in memory is the least
    for (const State& state : states_) {
      if (state.next == state.end) continue;
      const auto last = [](const State& s) { return s.block.keys[s.tail - 1]; };
      if (bound == nullptr || last(state) < last(*bound)) bound = &state;
    }
    std::uint64_t count = 0;
    for (const State& state : states_) {
      const Key* const begin = state.block.keys + state.head;
      const Key* const end = state.block.keys + state.tail;
      if (bound == nullptr || &state == bound) {
        count += state.tail - state.head;
      } else {
        const Key last = bound->block.keys[bound->tail - 1];
        // Of equal keys, those of runs before the bound's come before its unread ones.
        const Key* const place = &state < bound ? std::upper_bound(begin, end, last)
                                                : std::lower_bound(begin, end, last);
        count += static_cast<std::uint64_t>(place - begin);
      }
    }
    return std::min(count, output_items_);
  }

  /// Merges the first `n` items in memory into the output.
  void merge(std::uint64_t n) {
    std::vector<std::uint64_t> sizes;
    for (const State& state : states_) sizes.push_back(state.tail - state.head);
    std::vector<std::uint64_t> shares = multisort::plan::equal_shares(n, threads_);
    const std::vector<std::uint64_t> begins = multisort::plan::begins_of(shares);
    std::vector<std::vector<std::uint64_t>> splits;
    for (const std::uint64_t rank : begins) {
      splits.push_back(multisort::plan::split_at_rank(
          sizes, rank,
          [&](std::size_t r, std::uint64_t i) {
            return states_[r].block.keys[states_[r].head + i];
          },
          std::less<Key>{}));
    }
    std::vector<std::vector<multisort::Run<Key, Value>>> parts(threads_);
    for (std::size_t t = 0; t < threads_; ++t) {
      for (std::size_t r = 0; r < states_.size(); ++r) {
        parts[t].push_back({states_[r].block.from(states_[r].head + splits[t][r]),
                            splits[t + 1][r] - splits[t][r]});
      }
    }
    multisort::for_each_device(threads_, [&](std::size_t t) {
      multisort::merge_runs(std::move(parts[t]), output_.items().from(begins[t]), std::less<Key>{});
    });
    for (std::size_t r = 0; r < states_.size(); ++r) states_[r].head += splits.back()[r];
  }

  const SpillFile& file_;
  segsort::KeyForm<Key> form_;
  RecordPacker<Key, Value>& packer_;
  std::uint64_t block_items_;
  std::uint64_t output_items_;
  ItemStorage<Key, Value> blocks_;
  ItemStorage<Key, Value> output_;
  std::size_t threads_;
  std::vector<State> states_;
};

}  // namespace sortie::sorting
