// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "multisort/cuda/merge/devices_sort.cuh"
#include "papers/tanasic/mapped_pivot.cuh"
#include "papers/tanasic/tanasic.hpp"

/// The merge sort over devices as Tanasic et al. published it: Comparison Based Sorting for Systems
/// with Multiple GPUs, GPGPU 2013, section 3.
namespace sortie::multisort::merge {

/// The smallest number p such that, after b's first p items and a's last p items are exchanged, no
/// item of the second array precedes one of the first. Equal items are not exchanged.
///
/// Bisection with the mirrored index (algorithm 1). The paper's version halves its stride once too
/// often and ends a step early for some inputs; this one narrows a range until it is empty.
template <class ReadA, class ReadB, class Before>
[[nodiscard]] __host__ __device__ std::uint64_t mirrored_pivot(std::uint64_t a_size,
                                                               std::uint64_t b_size, ReadA a,
                                                               ReadB b, const Before& before) {
  std::uint64_t low = 0;
  std::uint64_t high = a_size < b_size ? a_size : b_size;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (before(b(middle), a(a_size - 1 - middle))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The chunk of an array on one device.
template <class Key>
struct ChunkView {
  const Key* keys;
  std::uint64_t begin;  ///< in the array
  std::uint64_t end;
};

/// Reads item i of an array that is stored in chunks.
template <class Key>
struct ChunksReader {
  const ChunkView<Key>* chunks;

  [[nodiscard]] __device__ Key operator()(std::uint64_t i) const {
    const ChunkView<Key>* chunk = chunks;
    while (i >= chunk->end) ++chunk;
    return chunk->keys[i - chunk->begin];
  }
};

/// One thread bisects and reads the memory of all devices.
template <class Key>
__global__ void pivot_kernel(const ChunkView<Key>* a, std::uint64_t a_size, const ChunkView<Key>* b,
                             std::uint64_t b_size, WordOrder<Key> before, std::uint64_t* pivot) {
  *pivot = mirrored_pivot(a_size, b_size, ChunksReader<Key>{a}, ChunksReader<Key>{b}, before);
}

/// Decodes keys in place.
template <class Key>
__global__ void decode_kernel(Key* keys, std::uint64_t n, WordOrder<Key> order) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) keys[i] = order.decode(keys[i]);
}

/// The stages of one sort.
template <class Key, class Value>
class StagesSort {
 public:
  /// \param sort  has sorted all chunks, to `sorted_side`
  StagesSort(const Context& context, const DeviceGroup& group, DevicesSort<Key, Value>& sort,
             Side sorted_side)
      : context_(context),
        group_(group),
        sort_(sort),
        side_(group.size(), sorted_side),
        order_(sort.order()),
        chunk_views_(group.size()),
        pivots_(group.size()) {}

  /// Sorts each array of `count` neighbouring devices: each half, then both together. All arrays take
  /// a step at once, as their devices differ.
  /// \pre count is a power of two
  void sort(std::size_t count) {
    if (count < 2) return;
    const std::size_t half = count / 2;
    sort(half);
    merge_halves(count);
    // Now no item on the right precedes one on the left. Each half is two sorted runs over its
    // devices: the same problem with half as many devices (figure 3, steps 6 and 7).
    sort(half);
  }

  /// Copies all items back to Side::data and decodes their keys.
  void finish() {
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const std::uint64_t n = sides(d).n;
      if (n == 0) continue;
      const CurrentDevice current = group_.current(d);
      if (side_[d] == Side::scratch) copy_on_device(d, sides(d).scratch, sides(d).data, n);
      if (order_.is_identity()) continue;
      constexpr unsigned int threads = 256;
      decode_kernel<<<static_cast<unsigned int>((n - 1) / threads + 1), threads, 0,
                      group_.stream(d)>>>(sides(d).data.keys, n, order_);
      check_cuda(cudaGetLastError());
    }
  }

 private:
  [[nodiscard]] const TwoSides<Key, Value>& sides(std::size_t d) const { return sort_.sides()[d]; }
  [[nodiscard]] Items<Key, Value> now(std::size_t d) const { return sides(d).on(side_[d]); }
  [[nodiscard]] Items<Key, Value> spare(std::size_t d) const {
    return sides(d).on(other(side_[d]));
  }

  [[nodiscard]] std::uint64_t size_of(std::size_t first, std::size_t count) const {
    std::uint64_t size = 0;
    for (std::size_t d = first; d < first + count; ++d) size += sides(d).n;
    return size;
  }

  /// The merge of the two halves of each array of `count` devices. Its phases are those of the paper's
  /// figure 9.
  void merge_halves(std::size_t count) {
    const std::size_t half = count / 2;
    ++stage_;
    GroupPhase pivot_phase(context_, group_, phase_name("pivot"));
    const std::vector<std::uint64_t> pivots = find_pivots(count);
    pivot_phase.stop();
    GroupPhase swap_phase(context_, group_, phase_name("swap"));
    swap_items(count, pivots);
    swap_phase.stop();
    GroupPhase merge_phase(context_, group_, phase_name("merge"));
    for (std::size_t first = 0; first < group_.size(); first += count) {
      const std::uint64_t pivot = pivots[first / count];
      if (pivot == 0) continue;
      // Exchanged items are at the end of the left half and at the begin of the right half.
      merge_at(first, half, size_of(first, half) - pivot);
      merge_at(first + half, half, pivot);
    }
    merge_phase.stop();
  }

  [[nodiscard]] std::string phase_name(const char* step) const {
    return "stage " + std::to_string(stage_) + ": " + step;
  }

  /// The pivot between the halves of each array of `count` devices.
  [[nodiscard]] std::vector<std::uint64_t> find_pivots(std::size_t count) {
    const std::size_t half = count / 2;
    std::vector<std::uint64_t> pivots;
    if (!group_.all_reach()) return find_pivots_by_mapped_memory(count);
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const std::uint64_t begin = d % half == 0 ? 0 : chunk_views_.data()[d - 1].end;
      chunk_views_.data()[d] = {now(d).keys, begin, begin + sides(d).n};
    }
    group_.barrier();
    for (std::size_t first = 0; first < group_.size(); first += count) {
      const std::size_t middle = first + half;
      const CurrentDevice current = group_.current(first);
      pivot_kernel<<<1, 1, 0, group_.stream(first)>>>(
          chunk_views_.data() + first, size_of(first, half), chunk_views_.data() + middle,
          size_of(middle, half), order_, pivots_.data() + first);
      check_cuda(cudaGetLastError());
    }
    for (std::size_t first = 0; first < group_.size(); first += count) {
      check_cuda(cudaStreamSynchronize(group_.stream(first)));
      pivots.push_back(pivots_.data()[first]);
    }
    return pivots;
  }

  /// find_pivots() where a device does not reach another's memory.
  [[nodiscard]] std::vector<std::uint64_t> find_pivots_by_mapped_memory(std::size_t count) {
    const std::size_t half = count / 2;
    if (searches_.size() == 0) searches_ = PinnedBuffer<MappedSearch<Key>>(group_.size());
    int rounds = 0;
    for (std::size_t first = 0; first < group_.size(); first += count) {
      const std::uint64_t most = std::min(size_of(first, half), size_of(first + half, half));
      searches_.data()[first].low = 0;
      searches_.data()[first].high = most;
      rounds = std::max(rounds, mapped_rounds(most));
    }
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t d = 0; d < group_.size(); ++d) {
        const std::size_t first = d / count * count;
        const bool is_left = d - first < half;
        const std::size_t begin_device = is_left ? first : first + half;
        const CurrentDevice current = group_.current(d);
        publish_probes_kernel<<<1, mapped_probes, 0, group_.stream(d)>>>(
            now(d).keys, size_of(begin_device, d - begin_device), sides(d).n, is_left,
            size_of(first, half), searches_.data() + first);
        check_cuda(cudaGetLastError());
      }
      group_.barrier();
      for (std::size_t first = 0; first < group_.size(); first += count) {
        const CurrentDevice current = group_.current(first);
        narrow_kernel<<<1, mapped_probes, 0, group_.stream(first)>>>(searches_.data() + first,
                                                                     order_);
        check_cuda(cudaGetLastError());
      }
      group_.barrier();
    }
    std::vector<std::uint64_t> pivots;
    for (std::size_t first = 0; first < group_.size(); first += count) {
      check_cuda(cudaStreamSynchronize(group_.stream(first)));
      pivots.push_back(searches_.data()[first].low);
    }
    return pivots;
  }

  /// The part of a range of an array that is on one device.
  struct Share {
    std::size_t device;
    std::uint64_t at;      ///< position on the device
    std::uint64_t offset;  ///< items of the range before it
    std::uint64_t size;
  };
  [[nodiscard]] std::vector<Share> shares_of(std::size_t first, std::size_t count,
                                             std::uint64_t begin, std::uint64_t size) const {
    std::vector<Share> shares;
    std::uint64_t device_begin = 0;
    for (std::size_t d = first; d < first + count; ++d) {
      const std::uint64_t device_end = device_begin + sides(d).n;
      const std::uint64_t from = std::max(begin, device_begin);
      const std::uint64_t to = std::min(begin + size, device_end);
      if (from < to) shares.push_back({d, from - device_begin, from - begin, to - from});
      device_begin = device_end;
    }
    return shares;
  }

  /// Exchanges the last `pivot` items of the left half of each array with the first ones of its right
  /// half: copies them to the spare sides, and from there to their destination.
  void swap_items(std::size_t count, const std::vector<std::uint64_t>& pivots) {
    std::vector<std::vector<plan::Transfer>> by_source(group_.size());
    std::vector<Share> moved;
    const auto send = [&](std::size_t first, std::uint64_t from, std::uint64_t to,
                          std::uint64_t size) {
      for (const Share& source : shares_of(first, count, from, size)) {
        moved.push_back(source);
        for (const Share& target : shares_of(first, count, to + source.offset, source.size))
          by_source[source.device].push_back(
              {source.device, target.device, source.at + target.offset, target.at, target.size});
      }
    };
    for (std::size_t first = 0; first < group_.size(); first += count) {
      const std::uint64_t pivot = pivots[first / count];
      const std::uint64_t middle = size_of(first, count / 2);
      send(first, middle - pivot, middle, pivot);
      send(first, middle, middle - pivot, pivot);
    }
    if (moved.empty()) return;
    std::vector<Items<Key, Value>> from;
    std::vector<Items<Key, Value>> to;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      from.push_back(now(d));
      to.push_back(spare(d));
    }
    exchange_items(sort_.exchange(), by_source, from, to);
    for (const Share& share : moved)
      copy_on_device(share.device, spare(share.device).from(share.at),
                     now(share.device).from(share.at), share.size);
  }

  /// Merges the items before and after position `border` of the array on devices
  /// [first, first + count), on the one device that holds both, if any.
  void merge_at(std::size_t first, std::size_t count, std::uint64_t border) {
    std::uint64_t begin = 0;
    for (std::size_t d = first; d < first + count; ++d) {
      const std::uint64_t n = sides(d).n;
      const std::uint64_t before = border - begin;
      if (begin < border && before < n) {
        const CurrentDevice current = group_.current(d);
        launch_merge<Key, Value>({now(d), now(d).from(before), before, n - before, n}, spare(d),
                                 order_, false, sort_.splits(d), group_.stream(d));
        side_[d] = other(side_[d]);
      }
      begin += n;
    }
  }

  void copy_on_device(std::size_t d, const Items<Key, Value>& from, const Items<Key, Value>& to,
                      std::uint64_t size) {
    const CurrentDevice current = group_.current(d);
    const cudaStream_t stream = group_.stream(d);
    check_cuda(
        cudaMemcpyAsync(to.keys, from.keys, size * sizeof(Key), cudaMemcpyDeviceToDevice, stream));
    if constexpr (has_values<Value>)
      check_cuda(cudaMemcpyAsync(to.values, from.values, size * sizeof(Value),
                                 cudaMemcpyDeviceToDevice, stream));
  }

  const Context& context_;
  const DeviceGroup& group_;
  DevicesSort<Key, Value>& sort_;
  std::vector<Side> side_;  ///< current side of each device's items
  WordOrder<Key> order_;
  PinnedBuffer<ChunkView<Key>> chunk_views_;
  PinnedBuffer<std::uint64_t> pivots_;  ///< that of an array at the number of its first device
  PinnedBuffer<MappedSearch<Key>>
      searches_;  ///< that of an array at the number of its first device
  int stage_ = 0;
};

}  // namespace sortie::multisort::merge

namespace sortie::papers {

/// \pre the number of chunks is a power of two
template <class Word, class Value>
void tanasic_sort_typed(const Context& context, const multisort::DeviceGroup& group,
                        const multisort::ChunkRequest& request) {
  using namespace multisort::merge;
  run_to_the_end(group, [&] {
    const bool is_alone = group.size() == 1;
    // With two devices, the one merge moves the items back to Side::data.
    const Side sorted_side = is_alone ? Side::data : Side::scratch;
    DevicesSort<Word, Value> sort(context, group, request, sorted_side, is_alone);
    if (!is_alone) {
      multisort::GroupPhase phase(context, group, "stages");
      StagesSort<Word, Value> stages(context, group, sort, sorted_side);
      stages.sort(group.size());
      stages.finish();
      phase.stop();
    }
    group.synchronise();
  });
}

}  // namespace sortie::papers
