#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sortie/core/cuda/check.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/multisort/cuda/device_group.hpp"
#include "sortie/multisort/plan/sampled_split.hpp"

namespace sortie::multisort::merge {

/// A range of samples and where its keys go.
struct SampleJob {
  std::uint64_t first;
  std::uint64_t stride;
  std::uint64_t count;
  std::uint64_t target;
};

/// One block a range.
template <class Key>
__global__ void sample_kernel(const Key* keys, const SampleJob* jobs, Key* samples) {
  const SampleJob job = jobs[blockIdx.x];
  for (std::uint64_t i = threadIdx.x; i < job.count; i += blockDim.x)
    samples[job.target + i] = keys[job.first + i * job.stride];
}

/// Reads samples of sorted sequences, each on a device of a group, for plan::split_by_samples().
/// Every device reads its own memory, so that no peer access is needed. Samples are few, some ten
/// kilobytes: page-locked memory for them would take longer to get than to copy without.
template <class Key>
class Sampler {
 public:
  /// Of a sequence and rank and round. With two devices 1024 leave 4 rounds for 2^31 items each.
  static constexpr std::uint64_t samples = 1024;

  /// \param keys   of each device of the group; what is on its work stream comes first
  /// \param ranks  most ranks that are searched at once
  Sampler(const DeviceGroup& group, std::vector<const Key*> keys, std::size_t ranks)
      : group_(group), keys_(std::move(keys)) {
    for (std::size_t d = 0; d < group.size(); ++d) {
      const CurrentDevice current = group.current(d);
      device_jobs_.emplace_back(ranks, group.stream(d));
      device_samples_.emplace_back(ranks * samples, group.stream(d));
    }
  }

  /// The keys of all ranges, one after the other. Waits for the devices.
  [[nodiscard]] std::vector<Key> operator()(std::span<const plan::SampleRange> ranges) {
    for (std::size_t d = 0; d < group_.size(); ++d) start(d, ranges);
    // The samples of a device lie in a row, in the order of its ranges.
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
  /// Puts the reading of a device's samples on its stream.
  void start(std::size_t device, std::span<const plan::SampleRange> ranges) {
    std::vector<SampleJob> jobs;
    std::uint64_t target = 0;
    for (const plan::SampleRange& range : ranges) {
      if (range.sequence != device) continue;
      jobs.push_back({range.first, range.stride, range.count, target});
      target += range.count;
    }
    if (jobs.empty()) return;
    const CurrentDevice current = group_.current(device);
    device_jobs_[device].copy_from(jobs);  // read before the call returns: the memory is pageable
    sample_kernel<<<static_cast<unsigned int>(jobs.size()), 256, 0, group_.stream(device)>>>(
        keys_[device], device_jobs_[device].data(), device_samples_[device].data());
    check_cuda(cudaGetLastError());
  }

  const DeviceGroup& group_;
  std::vector<const Key*> keys_;
  std::vector<DeviceBuffer<SampleJob>> device_jobs_;
  std::vector<DeviceBuffer<Key>> device_samples_;
};

}  // namespace sortie::multisort::merge
