// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cuda/check.hpp"
#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/merge/merge_kernels.cuh"
#include "multisort/cuda/merge/network_sort.cuh"

/// What one device does in the merge sort: it sorts its items, and merges them with a run in another
/// device's memory.
namespace sortie::multisort::merge {

/// The two buffers between which the passes alternate: the caller's data, and scratch of the same
/// size.
enum class Side { data, scratch };

[[nodiscard]] inline Side other(Side side) {
  return side == Side::data ? Side::scratch : Side::data;
}

template <class Key, class Value>
struct TwoSides {
  Items<Key, Value> data;
  Items<Key, Value> scratch;
  std::uint64_t n = 0;

  [[nodiscard]] Items<Key, Value> on(Side side) const {
    return side == Side::data ? data : scratch;
  }
};

/// Items per run after the first pass. Keys alone are sorted by the bitonic network, which is faster
/// but not stable.
template <class Key, class Value>
[[nodiscard]] constexpr std::uint64_t first_run() {
  if constexpr (!has_values<Value>) {
    return bitonic::TileShape<Key, NoValue>::items;
  } else {
    return TileShape<Key>::items;
  }
}

/// Splits that the passes over n items need, and a merge of up to `runs` runs.
template <class Key, class Value>
[[nodiscard]] std::uint64_t split_capacity(std::uint64_t n, std::uint64_t runs) {
  std::uint64_t most = n / TileShape<Key>::items + runs + 1;
  for (std::uint64_t run = first_run<Key, Value>(); run < n; run *= 2)
    most = std::max(most, RunPairs<Key, Value>::neighbours({}, n, run).tiles());
  return most;
}

/// Enqueues the sort of a device's items, from Side::data to `end`: one pass sorts tiles, then
/// ceil(log2(n / first_run)) merge. \param splits  capacity split_capacity()
template <class Key, class Value>
void sort_locally(const TwoSides<Key, Value>& items, Side end, const WordOrder<Key>& order,
                  bool decode, std::uint64_t* splits, cudaStream_t stream) {
  if (items.n == 0) return;
  constexpr std::uint64_t tile = first_run<Key, Value>();
  int merges = 0;
  for (std::uint64_t run = tile; run < items.n; run *= 2) ++merges;
  Side side = merges % 2 == 0 ? end : other(end);
  const bool is_one_tile = merges == 0;
  if constexpr (!has_values<Value>) {
    using Shape = bitonic::TileShape<Key, NoValue>;
    bitonic::Array<Key, NoValue> in{items.data.keys, nullptr, items.n, order.codec, true, false};
    bitonic::Array<Key, NoValue> out{items.on(side).keys, nullptr, items.n,
                                     order.codec,         false,   decode && is_one_tile};
    bitonic::launch_sort_tiles(in, out, Shape::log_items, stream);
  } else {
    launch_tile_sort(items.data, items.on(side), items.n, order, decode && is_one_tile, stream);
  }
  for (std::uint64_t run = tile; run < items.n; run *= 2) {
    const bool is_last = --merges == 0;
    launch_merge(RunPairs<Key, Value>::neighbours(items.on(side), items.n, run),
                 items.on(other(side)), order, decode && is_last, splits, stream);
    side = other(side);
  }
}

/// A sorted range of items, in the memory of a device of the group.
template <class Key, class Value>
struct Run {
  Items<Key, Value> items;
  std::uint64_t size = 0;
  std::size_t device = 0;
};

/// Most parts of one merge. The merge kernel reads the last part over the link, at about two thirds
/// of the rate of a copy; with 16 parts this is negligible.
inline constexpr std::uint64_t most_parts = 16;

/// Least items of a part: below, launching copies and kernels takes longer than they run.
inline constexpr std::uint64_t least_part_items = std::uint64_t{1} << 18;

/// Thread i: how many items of the first run precede part i + 1 of the merge.
template <class Key, class Value>
__global__ void part_borders_kernel(Run<Key, Value> first, Run<Key, Value> second,
                                    std::uint64_t parts, WordOrder<Key> before,
                                    std::uint64_t* borders) {
  if (threadIdx.x + 1 >= parts) return;
  const std::uint64_t rank = (first.size + second.size) * (threadIdx.x + 1) / parts;
  borders[threadIdx.x] = merge_path(
      first.size, second.size, rank, before, [&](std::uint64_t i) { return first.items.keys[i]; },
      [&](std::uint64_t i) { return second.items.keys[i]; });
}

/// Merges two runs into `target`, decoded, on the device that holds one of them (its own run).
///
/// Copied parts of the other run are stored at the end of the target, so they need no extra memory.
/// Let the own run have L items, and let l of them and r items of the other run precede a border
/// between parts. When that border is reached, the merge has written l + r items, and the copied
/// part begins at L + r, which is not less. A part must also not overwrite its own input while it
/// is merged. Where it would, near the end, the part is not copied but read from the other device.
template <class Key, class Value>
class TwoRunsMerge {
 public:
  /// Enqueues the search for the borders of the parts. \param splits  capacity split_capacity()
  TwoRunsMerge(const DeviceGroup& group, std::size_t device, const Run<Key, Value>& first,
               const Run<Key, Value>& second, const Items<Key, Value>& target,
               const WordOrder<Key>& order, std::uint64_t* splits)
      : group_(group),
        device_(device),
        runs_{first, second},
        own_(first.device == device ? 0 : 1),
        target_(target),
        order_(order),
        splits_(splits),
        borders_(std::clamp<std::uint64_t>(size() / least_part_items, 1, most_parts) - 1) {
    if (borders_.empty()) return;
    const CurrentDevice current = group.current(device);
    part_borders_kernel<<<1, most_parts, 0, group.stream(device)>>>(
        first, second, borders_.size() + 1, order, splits);
    check_cuda(cudaGetLastError());
  }

  /// Waits for the search, then enqueues copies and merges on the device's streams.
  void start() {
    const CurrentDevice current = group_.current(device_);
    const cudaStream_t stream = group_.stream(device_);
    if (!borders_.empty()) {
      check_cuda(cudaMemcpyAsync(borders_.data(), splits_, borders_.size() * sizeof(borders_[0]),
                                 cudaMemcpyDeviceToHost, stream));
      check_cuda(cudaStreamSynchronize(stream));
    }
    group_.wait(group_.stream_in(device_), device_, stream);
    const std::uint64_t parts = borders_.size() + 1;
    std::uint64_t begin[2] = {0, 0};
    for (std::uint64_t part = 1; part <= parts; ++part) {
      std::uint64_t end[2] = {runs_[0].size, runs_[1].size};
      if (part < parts) {
        end[0] = borders_[part - 1];
        end[1] = size() * part / parts - end[0];
      }
      merge_part(begin, end);
      begin[0] = end[0];
      begin[1] = end[1];
    }
  }

 private:
  [[nodiscard]] std::uint64_t size() const { return runs_[0].size + runs_[1].size; }

  void merge_part(const std::uint64_t (&begin)[2], const std::uint64_t (&end)[2]) {
    const int other = 1 - own_;
    const std::uint64_t other_size = end[other] - begin[other];
    Items<Key, Value> inputs[2] = {runs_[0].items.from(begin[0]), runs_[1].items.from(begin[1])};
    if (end[own_] + other_size <= runs_[own_].size) {
      const Items<Key, Value> waiting = target_.from(runs_[own_].size + begin[other]);
      const cudaStream_t copies = group_.stream_in(device_);
      copy(waiting.keys, inputs[other].keys, other_size, copies);
      if constexpr (has_values<Value>)
        copy(waiting.values, inputs[other].values, other_size, copies);
      group_.wait(group_.stream(device_), device_, copies);
      inputs[other] = waiting;
    }
    const std::uint64_t sizes[2] = {end[0] - begin[0], end[1] - begin[1]};
    launch_merge<Key, Value>({inputs[0], inputs[1], sizes[0], sizes[1], sizes[0] + sizes[1]},
                             target_.from(begin[0] + begin[1]), order_, true, splits_,
                             group_.stream(device_));
  }

  template <class T>
  static void copy(T* to, const T* from, std::uint64_t items, cudaStream_t stream) {
    if (items != 0)
      check_cuda(cudaMemcpyAsync(to, from, items * sizeof(T), cudaMemcpyDefault, stream));
  }

  const DeviceGroup& group_;
  std::size_t device_;
  Run<Key, Value> runs_[2];
  int own_;
  Items<Key, Value> target_;
  WordOrder<Key> order_;
  std::uint64_t* splits_;
  std::vector<std::uint64_t> borders_;  ///< items of the first run before each part but the first
};

}  // namespace sortie::multisort::merge
