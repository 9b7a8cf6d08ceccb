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

/// One block a range. Jobs and results lie in page-locked host memory: there are some hundred.
template <class Key>
__global__ void sample_kernel(const Key* keys, const SampleJob* jobs, Key* results) {
  const SampleJob job = jobs[blockIdx.x];
  for (std::uint64_t i = threadIdx.x; i < job.count; i += blockDim.x)
    results[job.target + i] = keys[job.first + i * job.stride];
}

/// Reads samples of sorted sequences, each on a device of a group, for plan::split_by_samples().
/// Every device reads its own memory, so that no peer access is needed.
template <class Key>
class Sampler {
 public:
  /// Of a sequence and rank and round. With two devices 1024 leave 4 rounds for 2^31 items each.
  static constexpr std::uint64_t samples = 1024;

  /// \param keys   of each device of the group; what is on its work stream comes first
  /// \param ranks  most ranks that are searched at once
  Sampler(const DeviceGroup& group, std::vector<const Key*> keys, std::size_t ranks)
      : group_(group),
        keys_(std::move(keys)),
        jobs_(ranks * group.size()),
        results_(ranks * group.size() * samples) {}

  /// The keys of all ranges, one after the other. Waits for the devices.
  [[nodiscard]] std::span<const Key> operator()(std::span<const plan::SampleRange> ranges) {
    // The jobs of a device stand together.
    std::vector<std::uint64_t> targets;
    std::uint64_t keys = 0;
    for (const plan::SampleRange& range : ranges) {
      targets.push_back(keys);
      keys += range.count;
    }
    std::size_t job = 0;
    for (std::size_t device = 0; device < group_.size(); ++device) {
      const std::size_t begin = job;
      for (std::size_t i = 0; i < ranges.size(); ++i)
        if (ranges[i].sequence == device)
          jobs_.data()[job++] = {ranges[i].first, ranges[i].stride, ranges[i].count, targets[i]};
      if (job == begin) continue;
      const CurrentDevice current = group_.current(device);
      sample_kernel<<<static_cast<unsigned int>(job - begin), 256, 0, group_.stream(device)>>>(
          keys_[device], jobs_.data() + begin, results_.data());
      check_cuda(cudaGetLastError());
    }
    for (std::size_t device = 0; device < group_.size(); ++device)
      check_cuda(cudaStreamSynchronize(group_.stream(device)));
    return {results_.data(), keys};
  }

 private:
  const DeviceGroup& group_;
  std::vector<const Key*> keys_;
  PinnedBuffer<SampleJob> jobs_;
  PinnedBuffer<Key> results_;
};

}  // namespace sortie::multisort::merge
