// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "multisort/cuda/chunk_sort.hpp"
#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/exchange/item_exchange.hpp"
#include "multisort/cuda/merge/local_sort.cuh"
#include "multisort/plan/moves.hpp"
#include "multisort/plan/sampled_split.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort::merge {

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

/// A range of samples, and where its keys go. One block copies them.
struct SampleTask {
  std::uint64_t first;
  std::uint64_t stride;
  std::uint64_t count;
  std::uint64_t target;
};

template <class Key>
__global__ void sample_kernel(const Key* keys, const SampleTask* tasks, Key* samples) {
  const SampleTask task = tasks[blockIdx.x];
  for (std::uint64_t i = threadIdx.x; i < task.count; i += blockDim.x)
    samples[task.target + i] = keys[task.first + i * task.stride];
}

/// Reads samples of sorted sequences, each on a device of a group, for plan::split_by_samples().
/// Every device reads its own memory. Samples are few, some ten kilobytes: allocating page-locked
/// memory would take longer than the pageable copy.
template <class Key>
class Sampler {
 public:
  /// Samples per sequence, rank and round. With two devices of 2^31 items each, 1024 take 4 rounds.
  static constexpr std::uint64_t samples = 1024;

  /// \param keys   keys of each device of the group, ready in order of its work stream
  /// \param ranks  largest number of ranks that are searched at once
  Sampler(const DeviceGroup& group, std::vector<const Key*> keys, std::size_t ranks)
      : group_(group), keys_(std::move(keys)) {
    for (std::size_t d = 0; d < group.size(); ++d) {
      const CurrentDevice current = group.current(d);
      device_tasks_.emplace_back(ranks, group.stream(d));
      device_samples_.emplace_back(ranks * samples, group.stream(d));
    }
  }

  /// The keys of all ranges, one after the other. Waits for the devices.
  [[nodiscard]] std::vector<Key> operator()(std::span<const plan::SampleRange> ranges) {
    for (std::size_t d = 0; d < group_.size(); ++d) start(d, ranges);
    // The samples of a device are contiguous, in the order of its ranges.
    std::vector<Key> all;
    std::vector<std::vector<Key>> of_device(group_.size());
    for (std::size_t d = 0; d < group_.size(); ++d) {
      std::uint64_t count = 0;
      for (const plan::SampleRange& range : ranges)
        if (range.sequence == d) count += range.count;
      if (count == 0) continue;
      const CurrentDevice current = group_.current(d);
      of_device[d].resize(count);
      device_samples_[d].copy_to(of_device[d]);
      check_cuda(cudaStreamSynchronize(group_.stream(d)));
    }
    std::vector<std::size_t> next(group_.size(), 0);
    for (const plan::SampleRange& range : ranges) {
      const auto begin =
          of_device[range.sequence].begin() + static_cast<std::ptrdiff_t>(next[range.sequence]);
      all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(range.count));
      next[range.sequence] += range.count;
    }
    return all;
  }

 private:
  void start(std::size_t device, std::span<const plan::SampleRange> ranges) {
    std::vector<SampleTask> tasks;
    std::uint64_t target = 0;
    for (const plan::SampleRange& range : ranges) {
      if (range.sequence != device) continue;
      tasks.push_back({range.first, range.stride, range.count, target});
      target += range.count;
    }
    if (tasks.empty()) return;
    const CurrentDevice current = group_.current(device);
    device_tasks_[device].copy_from(tasks);  // read before the call returns: the memory is pageable
    sample_kernel<<<static_cast<unsigned int>(tasks.size()), 256, 0, group_.stream(device)>>>(
        keys_[device], device_tasks_[device].data(), device_samples_[device].data());
    check_cuda(cudaGetLastError());
  }

  const DeviceGroup& group_;
  std::vector<const Key*> keys_;
  std::vector<DeviceBuffer<SampleTask>> device_tasks_;
  std::vector<DeviceBuffer<Key>> device_samples_;
};

/// Where each result chunk begins in each sorted chunk; the last entry holds the ends.
template <class Key>
[[nodiscard]] std::vector<std::vector<std::uint64_t>> split_for_chunks(
    const DeviceGroup& group, const std::vector<const Key*>& sorted,
    std::span<const std::uint64_t> sizes, const WordOrder<Key>& order) {
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

/// The runs that each device merges.
/// \param items  the sorted chunks; or, if `moved`, the runs of each device one after the other
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

template <class Key, class Value>
[[nodiscard]] std::vector<Items<Key, Value>> all_on(const std::vector<TwoSides<Key, Value>>& sides,
                                                    Side side) {
  std::vector<Items<Key, Value>> items;
  for (const auto& one : sides) items.push_back(one.on(side));
  return items;
}

template <class Key, class Value>
class DevicesSort {
 public:
  /// Allocates all work space, then enqueues the sort of each chunk of the request on the stream of
  /// the device with the same index.
  DevicesSort(const Context& context, const DeviceGroup& group, const ChunkRequest& request,
              Side sorted_side, bool decode)
      : context_(context),
        group_(group),
        order_(KeyOrder::of(request.key_type, request.options.order)),
        exchange_(group) {
    for (std::size_t d = 0; d < group.size(); ++d) {
      const DeviceChunk& chunk = request.chunks[d];
      const std::uint64_t size = chunk.size;
      work_.emplace_back(context, group, d, size, split_capacity<Key, Value>(size, group.size()));
      sides_.push_back({{static_cast<Key*>(chunk.keys), static_cast<Value*>(chunk.values)},
                        {work_[d].keys.data(), work_[d].values.data()},
                        size});
      sizes_.push_back(size);
    }
    // All allocations have succeeded: from here on chunks may change.
    GroupPhase phase(context, group, "local sort");
    for (std::size_t d = 0; d < group.size(); ++d) {
      const CurrentDevice current = group.current(d);
      sort_locally(sides_[d], sorted_side, order_, decode, splits(d), group.stream(d));
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

  /// Merges each pair of neighbouring runs of a device; a run without a neighbour is copied.
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
      launch_merge<Key, Value>(
          {runs[i].items, second.items, runs[i].size, second.size, result.size}, result.items,
          order_, decode, splits(device), group_.stream(device));
      begin += result.size;
      merged.push_back(result);
    }
    return merged;
  }

  void merge_two_runs(const std::vector<std::vector<Run<Key, Value>>>& runs,
                      const std::vector<Items<Key, Value>>& targets) {
    std::vector<TwoRunsMerge<Key, Value>> merges;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      if (runs[d].empty()) continue;
      const Run<Key, Value> nothing{runs[d][0].items, 0, runs[d][0].device};
      merges.emplace_back(group_, d, runs[d][0], runs[d].size() == 2 ? runs[d][1] : nothing,
                          targets[d], order_, splits(d));
    }
    for (auto& one : merges) one.start();
  }

  [[nodiscard]] const WordOrder<Key>& order() const { return order_; }
  [[nodiscard]] const std::vector<TwoSides<Key, Value>>& sides() const { return sides_; }
  [[nodiscard]] std::uint64_t* splits(std::size_t device) { return work_[device].splits.data(); }
  [[nodiscard]] ItemExchange& exchange() { return exchange_; }

 private:
  const Context& context_;
  const DeviceGroup& group_;
  WordOrder<Key> order_;
  ItemExchange exchange_;
  std::vector<DeviceWork<Key, Value>> work_;
  std::vector<TwoSides<Key, Value>> sides_;
  std::vector<std::uint64_t> sizes_;
};

}  // namespace sortie::multisort::merge

namespace sortie::multisort {

/// 1. Each device sorts its chunk.
/// 2. The host finds the cuts of the sorted chunks, by samples.
/// 3. Each device merges its ranges of all chunks, in ceil(log2 G) rounds of pairs. With two chunks
///    and peer access the exchange is part of the merge: ranges are copied in parts, and parts that
///    have arrived are merged meanwhile (TwoRunsMerge). Otherwise ranges are copied first, because
///    kernels that read them from the peer reach half the rate of the copy engines.
template <class Word, class Value>
void merge_sort_typed(const Context& context, const DeviceGroup& group,
                      const ChunkRequest& request) {
  using merge::Side;
  const auto filled = std::count_if(request.chunks.begin(), request.chunks.end(),
                                    [](const DeviceChunk& chunk) { return chunk.size != 0; });
  if (filled == 0) return;
  const int rounds = std::bit_width(static_cast<std::uint64_t>(filled) - 1);  // ceil(log2)
  const bool copies = rounds > 1 || (rounds == 1 && !group.all_reach());
  const Side sorted_side = (rounds + (copies ? 1 : 0)) % 2 == 0 ? Side::data : Side::scratch;
  run_to_the_end(group, [&] {
    merge::DevicesSort<Word, Value> sort(context, group, request, sorted_side, rounds == 0);
    if (rounds > 0) sort.merge(sorted_side, rounds, copies);
    group.synchronise();
  });
}

}  // namespace sortie::multisort
