// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "multisort/backends.hpp"
#include "multisort/host/merge_runs.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/context.hpp"

namespace sortie::sorting {

/// Converts between items in arrays and records in a file, through a buffer. Keys alone need no
/// conversion and no buffer.
template <std::unsigned_integral Key, class Value>
class RecordPacker {
 public:
  static constexpr std::size_t record_bytes = item_bytes<Key, Value>;

  /// \param buffer_bytes  size of the buffer; it holds at least one record
  explicit RecordPacker(std::uint64_t buffer_bytes)
      : buffer_(has_values<Value>
                    ? std::max<std::uint64_t>(1, buffer_bytes / record_bytes) * record_bytes
                    : 0) {}

  /// Fills `items` by fill(bytes), which returns the number of records that it wrote; fewer than
  /// fit only at the end. Returns the number of records.
  template <class Fill>
  std::uint64_t unpack(Items<Key, Value> items, std::uint64_t n, Fill fill) {
    if constexpr (!has_values<Value>) {
      return fill(std::span<char>(reinterpret_cast<char*>(items.keys), n * record_bytes));
    } else {
      std::uint64_t done = 0;
      while (done < n) {
        const std::uint64_t batch =
            std::min<std::uint64_t>(n - done, buffer_.size() / record_bytes);
        const std::uint64_t got = fill(std::span<char>(buffer_.data(), batch * record_bytes));
        const char* at = buffer_.data();
        for (std::uint64_t i = done; i < done + got; ++i, at += record_bytes) {
          std::memcpy(items.keys + i, at, sizeof(Key));
          std::memcpy(items.values + i, at + sizeof(Key), sizeof(Value));
        }
        done += got;
        if (got < batch) break;
      }
      return done;
    }
  }

  /// Calls write(bytes) with the records of `items`, batch by batch.
  template <class Write>
  void pack(Items<Key, Value> items, std::uint64_t n, Write write) {
    if constexpr (!has_values<Value>) {
      write(std::span<const char>(reinterpret_cast<const char*>(items.keys), n * record_bytes));
    } else {
      for (std::uint64_t done = 0; done < n;) {
        const std::uint64_t batch =
            std::min<std::uint64_t>(n - done, buffer_.size() / record_bytes);
        char* at = buffer_.data();
        for (std::uint64_t i = done; i < done + batch; ++i, at += record_bytes) {
          std::memcpy(at, items.keys + i, sizeof(Key));
          std::memcpy(at + sizeof(Key), items.values + i, sizeof(Value));
        }
        write(std::span<const char>(buffer_.data(), batch * record_bytes));
        done += batch;
      }
    }
  }

 private:
  std::vector<char> buffer_;
};

/// A temporary file for data beyond memory. It has no name, so it disappears with the process even
/// after a crash.
class SpillFile {
 public:
  /// \param folder  directory of the file
  /// \throws Error (output) the file cannot be created
  explicit SpillFile(const std::string& folder);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Appends bytes. \throws Error (output) with the system's reason (disk full, ...)
  void append(std::span<const char> bytes);
  /// Fills `into` from byte `begin` of the file. \throws Error (input)
  void read(std::uint64_t begin, std::span<char> into) const;

  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The directory for temporary files of an output: the output's own, or that of the system (TMPDIR)
/// for standard output, a pipe or no output.
[[nodiscard]] std::string spill_folder(const std::string& output_path);

/// A sorted range of a spill file.
struct SpilledRun {
  std::uint64_t begin = 0;  ///< first record
  std::uint64_t records = 0;
};

/// Merges runs of a spill file with all threads. A block of each run is in memory.
///
/// Each step merges the items in memory that precede every unread item. The bound is the least
/// among the last items in memory of the runs that have unread items. Exact splits give each thread
/// an equal part. The step exhausts the block of the run that sets the bound, so it advances by at
/// least one block, unless the output is full first.
template <std::unsigned_integral Key, class Value>
class RunMerger {
 public:
  using Range = Items<Key, Value>;
  /// Receives merged items, in order. Their keys are encoded; the function may modify them.
  using Consume = std::function<void(Range, std::uint64_t)>;

  /// \param runs          equal keys of earlier runs come first
  /// \param block_items   items of each run in memory, at least 1
  /// \param output_items  merged items in memory, at least 1
  RunMerger(const Context& context, const SpillFile& file, std::span<const SpilledRun> runs,
            std::uint64_t block_items, std::uint64_t output_items, KeyCodec<Key> codec,
            RecordPacker<Key, Value>& packer)
      : file_(file),
        codec_(codec),
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
    for (std::uint64_t n = mergeable_items(); n > 0; n = mergeable_items()) {
      merge(n);
      consume(output_.items(), n);
      for (State& state : states_) {
        // Refill at half or less: moving the rest then costs no more than the merge did.
        if (state.next < state.end && 2 * (state.tail - state.head) <= block_items_) refill(state);
      }
    }
  }

 private:
  /// A run. Items [head, tail) of its block are in memory and not merged yet.
  struct State {
    Range block;
    std::uint64_t head;
    std::uint64_t tail;
    std::uint64_t next;  ///< next record of the file to read
    std::uint64_t end;   ///< record of the file after the run
  };

  void refill(State& state) {
    const std::uint64_t left = state.tail - state.head;
    copy_items(state.block.from(state.head), left, state.block);
    const std::uint64_t count = std::min(block_items_ - left, state.end - state.next);
    const Range into = state.block.from(left);
    constexpr std::size_t bytes = RecordPacker<Key, Value>::record_bytes;
    packer_.unpack(into, count, [&](std::span<char> batch) {
      file_.read(state.next * bytes, batch);
      state.next += batch.size() / bytes;
      return batch.size() / bytes;
    });
    codec_.encode(into.keys, count);
    state.head = 0;
    state.tail = left + count;
  }

  /// Number of items in memory that precede every unread item, at most output_items_.
  [[nodiscard]] std::uint64_t mergeable_items() const {
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
        // Equal keys of earlier runs precede the unread items of the bound's run.
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
    std::vector<std::uint64_t> shares = EqualShares{n, threads_}.sizes();
    const std::vector<std::uint64_t> begins = begins_of(shares);
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
    for_each_task(threads_, [&](std::size_t t) {
      multisort::merge_runs(std::move(parts[t]), output_.items().from(begins[t]));
    });
    for (std::size_t r = 0; r < states_.size(); ++r) states_[r].head += splits.back()[r];
  }

  const SpillFile& file_;
  KeyCodec<Key> codec_;
  RecordPacker<Key, Value>& packer_;
  std::uint64_t block_items_;
  std::uint64_t output_items_;
  ItemStorage<Key, Value> blocks_;
  ItemStorage<Key, Value> output_;
  std::size_t threads_;
  std::vector<State> states_;
};

}  // namespace sortie::sorting
