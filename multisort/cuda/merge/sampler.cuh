// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cuda/check.hpp"
#include "multisort/cuda/device_group.hpp"
#include "multisort/plan/sampled_split.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::multisort::merge {

/// A range of samples and the position of its keys in the output.
struct SampleTask {
  std::uint64_t first;
  std::uint64_t stride;
  std::uint64_t count;
  std::uint64_t target;
};

/// One block copies one range of samples.
template <class Key>
__global__ void sample_kernel(const Key* keys, const SampleTask* tasks, Key* samples) {
  const SampleTask task = tasks[blockIdx.x];
  for (std::uint64_t i = threadIdx.x; i < task.count; i += blockDim.x)
    samples[task.target + i] = keys[task.first + i * task.stride];
}

/// Reads samples of sorted sequences, each on a device of a group, for plan::split_by_samples().
/// Every device reads its own memory, so no peer access is needed. Samples are few, some ten
/// kilobytes: allocating page-locked memory would take longer than the pageable copy.
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
  /// Enqueues the reading of a device's samples on its stream.
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

}  // namespace sortie::multisort::merge
