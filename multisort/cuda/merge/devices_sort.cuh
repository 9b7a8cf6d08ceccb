// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cuda/device_context.hpp"
#include "multisort/cuda/chunk_sort.hpp"
#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/exchange/item_exchange.hpp"
#include "multisort/cuda/merge/local_sort.cuh"
#include "multisort/cuda/merge/sampler.cuh"
#include "multisort/cuda/merge/two_runs.cuh"
#include "multisort/plan/exchange.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"

/// The merge sort over the devices of a group.
namespace sortie::multisort::merge {

/// A chunk of the array, on the device with the same index in the group.
template <class Key, class Value>
struct Chunk {
  Items<Key, Value> items;
  std::uint64_t size = 0;
};

/// The work space of one device.
///
/// | name    | elements          | type  | lifetime |
/// |---------|-------------------|-------|----------|
/// | keys    | the chunk's size  | Key   | the sort |
/// | values  | the chunk's size  | Value | the sort |
/// | splits  | one for each tile | u64   | the sort |
template <class Key, class Value>
struct DeviceWork {
  DeviceBuffer<Key> keys;
  DeviceBuffer<Value> values;
  DeviceBuffer<std::uint64_t> splits;

  /// \param most_splits  capacity for splits \throws Error (out_of_memory)
  DeviceWork(const Context& context, const DeviceGroup& group, std::size_t device,
             std::uint64_t size, std::uint64_t most_splits) {
    const CurrentDevice current = group.current(device);
    const std::uint64_t wanted =
        size * item_bytes<Key, Value> + most_splits * sizeof(std::uint64_t);
    if (context.memory_budget != 0 && wanted > context.memory_budget)
      throw out_of_memory_error("the second buffer of a merge sort", wanted, context.memory_budget);
    const cudaStream_t stream = group.stream(device);
    keys = DeviceBuffer<Key>(size, stream);
    values = DeviceBuffer<Value>(has_values<Value> ? size : 0, stream);
    splits = DeviceBuffer<std::uint64_t>(most_splits, stream);
  }
};

/// Finds the cuts of the sorted chunks between the items of consecutive result chunks: entry d
/// holds the positions in each sorted chunk where the items of result chunk d begin, and the last
/// entry holds the ends.
template <class Key, class Order>
[[nodiscard]] std::vector<std::vector<std::uint64_t>> split_for_chunks(
    const DeviceGroup& group, const std::vector<const Key*>& sorted,
    std::span<const std::uint64_t> sizes, const Order& order) {
  std::vector<std::uint64_t> ranks;
  std::uint64_t rank = 0;
  for (std::size_t d = 0; d + 1 < sizes.size(); ++d) ranks.push_back(rank += sizes[d]);
  Sampler<Key> sampler(group, sorted, ranks.size());
  auto inner = plan::split_by_samples(
      sizes, ranks, Sampler<Key>::samples,
      [&](std::span<const plan::SampleRange> ranges) { return sampler(ranges); }, order);
  std::vector<std::vector<std::uint64_t>> splits;
  splits.emplace_back(sizes.size(), 0);
  splits.insert(splits.end(), inner.begin(), inner.end());
  splits.emplace_back(sizes.begin(), sizes.end());
  return splits;
}

/// Copies items between devices: keys, and values if there are any.
template <class Key, class Value>
void exchange_items(ItemExchange& exchange,
                    const std::vector<std::vector<plan::Transfer>>& by_source,
                    const std::vector<Items<Key, Value>>& from,
                    const std::vector<Items<Key, Value>>& to) {
  const auto raw = [](const std::vector<Items<Key, Value>>& typed) {
    std::vector<RawItems> all;
    for (const auto& items : typed)
      all.push_back(
          {reinterpret_cast<std::byte*>(items.keys), reinterpret_cast<std::byte*>(items.values)});
    return all;
  };
  exchange(by_source, sizeof(Key), has_values<Value> ? sizeof(Value) : 0, raw(from), raw(to));
}

/// The runs that each device merges: ranges of the sorted chunks.
/// \param items  of each device: the sorted chunks, or, if they have been copied (`moved`), where
///               the runs of a device are one after the other
template <class Key, class Value>
[[nodiscard]] std::vector<std::vector<Run<Key, Value>>> runs_of(
    const std::vector<Items<Key, Value>>& items, std::span<const std::vector<std::uint64_t>> splits,
    bool moved) {
  std::vector<std::vector<Run<Key, Value>>> runs(items.size());
  for (std::size_t d = 0; d < items.size(); ++d) {
    std::uint64_t begin = 0;
    for (std::size_t s = 0; s < items.size(); ++s) {
      const std::uint64_t size = splits[d + 1][s] - splits[d][s];
      if (size != 0)
        runs[d].push_back(moved ? Run<Key, Value>{items[d].from(begin), size, d}
                                : Run<Key, Value>{items[s].from(splits[d][s]), size, s});
      begin += size;
    }
  }
  return runs;
}

/// The items of all devices on a side.
template <class Key, class Value>
[[nodiscard]] std::vector<Items<Key, Value>> all_on(const std::vector<TwoSides<Key, Value>>& sides,
                                                    Side side) {
  std::vector<Items<Key, Value>> items;
  for (const auto& one : sides) items.push_back(one.on(side));
  return items;
}

/// One sort over devices: buffers, and the host's orchestration.
template <class Key, class Value, class Order>
class DevicesSort {
 public:
  /// Allocates all work space, then enqueues the sort of each chunk on its device's stream.
  DevicesSort(const Context& context, const DeviceGroup& group,
              const std::vector<Chunk<Key, Value>>& chunks, const Order& order, Side sorted_side,
              bool decode)
      : context_(context), group_(group), order_(order), exchange_(group) {
    for (std::size_t d = 0; d < group.size(); ++d) {
      const std::uint64_t size = chunks[d].size;
      work_.emplace_back(context, group, d, size,
                         split_capacity<Key, Value, Order>(size, group.size()));
      sides_.push_back({chunks[d].items, {work_[d].keys.data(), work_[d].values.data()}, size});
      sizes_.push_back(size);
    }
    // All allocations have succeeded: from here on chunks may change.
    GroupPhase phase(context, group, "local sort");
    for (std::size_t d = 0; d < group.size(); ++d) {
      const CurrentDevice current = group.current(d);
      sort_locally(sides_[d], sorted_side, order, decode, splits(d), group.stream(d));
    }
    phase.stop();
  }

  /// Merges the sorted chunks with one exchange and `rounds` rounds of pairs.
  void merge(Side side, int rounds, bool copies) {
    GroupPhase pivots(context_, group_, "pivots");
    std::vector<const Key*> sorted;
    for (const auto& items : all_on(sides_, side)) sorted.push_back(items.keys);
    const auto cuts = split_for_chunks(group_, sorted, sizes_, order_);
    pivots.stop();

    group_.barrier();
    auto runs = runs_of(all_on(sides_, side), cuts, false);
    if (copies) {
      GroupPhase exchange(context_, group_, "exchange");
      exchange_items(exchange_, plan::exchange_of_runs(cuts).by_source, all_on(sides_, side),
                     all_on(sides_, other(side)));
      side = other(side);
      runs = runs_of(all_on(sides_, side), cuts, true);
      group_.barrier();
      exchange.stop();
    }
    GroupPhase merge(context_, group_, "merge");
    if (rounds == 1 && !copies) {
      merge_two_runs(runs, all_on(sides_, other(side)));
      merge.stop();
      return;
    }
    for (int round = 0; round < rounds; ++round) {
      side = other(side);
      for (std::size_t d = 0; d < group_.size(); ++d) {
        const CurrentDevice current = group_.current(d);
        runs[d] = merge_pairs(d, runs[d], side, round + 1 == rounds);
      }
      // The next round writes to memory that other devices read in this one.
      if (round == 0) group_.barrier();
    }
    merge.stop();
  }

  /// Merges each pair of neighbouring runs of a device. A run without a neighbour is merged with an
  /// empty run, that is, copied. \return the merged runs
  std::vector<Run<Key, Value>> merge_pairs(std::size_t device,
                                           const std::vector<Run<Key, Value>>& runs, Side to,
                                           bool decode) {
    std::vector<Run<Key, Value>> merged;
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < runs.size(); i += 2) {
      const Run<Key, Value> second =
          i + 1 < runs.size() ? runs[i + 1] : Run<Key, Value>{runs[i].items, 0, 0};
      const Run<Key, Value> result{sides_[device].on(to).from(begin), runs[i].size + second.size,
                                   0};
      launch_merge<Key, Value, Order>(
          {runs[i].items, second.items, runs[i].size, second.size, result.size}, result.items,
          order_, decode, splits(device), group_.stream(device));
      begin += result.size;
      merged.push_back(result);
    }
    return merged;
  }

  /// Merges one or two runs on each device, in a single round.
  void merge_two_runs(const std::vector<std::vector<Run<Key, Value>>>& runs,
                      const std::vector<Items<Key, Value>>& targets) {
    std::vector<TwoRunsMerge<Key, Value, Order>> merges;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      if (runs[d].empty()) continue;
      const Run<Key, Value> nothing{runs[d][0].items, 0, runs[d][0].device};
      merges.emplace_back(group_, d, runs[d][0], runs[d].size() == 2 ? runs[d][1] : nothing,
                          targets[d], order_, splits(d));
    }
    for (auto& one : merges) one.start();
  }

  [[nodiscard]] const std::vector<TwoSides<Key, Value>>& sides() const { return sides_; }
  [[nodiscard]] std::uint64_t* splits(std::size_t device) { return work_[device].splits.data(); }
  [[nodiscard]] ItemExchange& exchange() { return exchange_; }

 private:
  const Context& context_;
  const DeviceGroup& group_;
  Order order_;
  ItemExchange exchange_;
  std::vector<DeviceWork<Key, Value>> work_;
  std::vector<TwoSides<Key, Value>> sides_;
  std::vector<std::uint64_t> sizes_;
};

/// Sorts the chunks of a group's devices as one array, stably.
///
/// 1. Each device sorts its chunk.
/// 2. The host finds the cuts of the sorted chunks, by samples.
/// 3. Each device merges its ranges of all chunks, in ceil(log2 G) rounds of pairs. With two chunks
///    and peer access the exchange is part of the merge: ranges are copied in parts, and parts that
///    have arrived are merged meanwhile (two_runs.cuh). Otherwise ranges are copied first, because
///    kernels that read them from the peer reach half the rate of the copy engines.
///
/// \throws Error (out_of_memory); (device). No work is left on the group's streams then.
template <class Key, class Value, class Order>
void sort_over_devices(const Context& context, const DeviceGroup& group,
                       const std::vector<Chunk<Key, Value>>& chunks, const Order& order) {
  std::uint64_t filled = 0;
  for (const auto& chunk : chunks) filled += chunk.size != 0 ? 1 : 0;
  if (filled == 0) return;
  const int rounds = std::bit_width(filled - 1);  // ceil(log2)
  const bool copies = rounds > 1 || (rounds == 1 && !group.all_reach());
  const Side sorted_side = (rounds + (copies ? 1 : 0)) % 2 == 0 ? Side::data : Side::scratch;
  run_to_the_end(group, [&] {
    DevicesSort<Key, Value, Order> sort(context, group, chunks, order, sorted_side, rounds == 0);
    if (rounds > 0) sort.merge(sorted_side, rounds, copies);
    group.synchronise();
  });
}

/// The chunks of a request by their types.
template <class Word, class Value>
[[nodiscard]] std::vector<Chunk<Word, Value>> typed_chunks(const ChunkRequest& request) {
  std::vector<Chunk<Word, Value>> chunks;
  for (const DeviceChunk& chunk : request.chunks)
    chunks.push_back(
        {{static_cast<Word*>(chunk.keys), static_cast<Value*>(chunk.values)}, chunk.size});
  return chunks;
}

template <class Word>
[[nodiscard]] WordOrder<Word> order_of(const ChunkRequest& request) {
  return WordOrder<Word>(KeyOrder::of(request.key_type, request.options.order));
}

}  // namespace sortie::multisort::merge

namespace sortie::multisort {

template <class Word, class Value>
void merge_sort_typed(const Context& context, const DeviceGroup& group,
                      const ChunkRequest& request) {
  merge::sort_over_devices(context, group, merge::typed_chunks<Word, Value>(request),
                           merge::order_of<Word>(request));
}

}  // namespace sortie::multisort
