// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/bench/cuda/segsort_data.hpp"
#include "apps/bench/segsort/segment_cases.hpp"
#include "apps/bench/segsort/segsort_bench.hpp"
#include "apps/bench/segsort/tune.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::bench {

/// Sizes and types of a workload.
struct WorkloadOptions {
  std::uint64_t items = 0;
  KeyType key = KeyType::u32;
  int value_bytes = 4;
  std::uint64_t seed = 1;
};

/// The arrays shared by all methods and cases of a run, allocated once, filled and checked on the
/// device. Device memory for n items: twice the keys and values, 4 n bytes for segment numbers, the
/// offsets, and n / 8 bytes during a check.
class SegsortWorkload {
 public:
  /// \throws Error (usage) as require_countable(); (out_of_memory)
  SegsortWorkload(const WorkloadOptions& options, cudaStream_t stream);

  /// Sets the distribution of the keys of further calls of renew().
  void set_keys(const SortCase& keys) { distribution_.keys = keys; }
  /// Generates the segments of the next case.
  void set_segments(const SegmentShape& shape);
  /// Generates new input, different for every `round`, and fills the output with a bit pattern that
  /// no method is likely to leave there. Rewrites the values as well; they are always index values.
  void renew(std::uint64_t round);
  /// The error in the output; empty if it is right. Waits for the stream.
  [[nodiscard]] std::string fault();

  /// The request to sort, without a policy.
  [[nodiscard]] const segsort::DeviceRequest& request() const { return request_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] std::uint64_t items() const { return options_.items; }
  [[nodiscard]] std::uint64_t longest() const { return longest_; }
  [[nodiscard]] std::size_t key_bytes() const { return keys_in_.bytes(); }
  [[nodiscard]] std::size_t value_bytes() const { return values_in_.bytes(); }

 private:
  WorkloadOptions options_;
  cudaStream_t stream_;
  DeviceBuffer<std::byte> keys_in_;
  DeviceBuffer<std::byte> keys_out_;
  DeviceBuffer<std::byte> values_in_;
  DeviceBuffer<std::byte> values_out_;
  DeviceBuffer<std::uint32_t> ids_;
  DeviceSegments segments_;
  KeyDistribution distribution_;
  std::uint64_t longest_ = 0;
  std::uint64_t seed_ = 0;  ///< seed of the current keys
  segsort::DeviceRequest request_;
};

/// A sort with the interface of segsort::sort_on_device().
using TwoPhaseSort =
    std::function<cudaError_t(void*, std::size_t&, const segsort::DeviceRequest&, cudaStream_t)>;

/// Sortie's sort.
[[nodiscard]] TwoPhaseSort sortie_sort(SegsortPolicy policy);

/// The result of timing one sort.
struct TimedSort {
  std::vector<double> seconds;
  bool agrees = false;
  std::string fault;    ///< error in the result
  std::string failure;  ///< reason for a missing result
};

/// Options of time_sort().
struct TimingOptions {
  int repetitions = 5;     ///< timed runs, after one untimed run
  bool check_all = false;  ///< check every result instead of only the first
};

/// Times a sort with CUDA events, every time on new input and with poisoned output. Temporary
/// storage is allocated in advance. A sort that takes longer than 50 ms is repeated at most twice.
/// A sort that takes longer than 2 s is not repeated and is reported as a failure. An Error ends
/// the measurement and becomes the failure.
[[nodiscard]] TimedSort time_sort(SegsortWorkload& work, const TwoPhaseSort& sort,
                                  const TimingOptions& options);

/// CUB sorts a long segment with a single block. True if the longest segment alone would take more
/// than 2 s.
[[nodiscard]] bool hopeless_for_cub(const SegsortWorkload& work);
extern const char* const hopeless_message;

/// Times one kernel on the current segments of `work`, all of length `length`, and stores the
/// result in `time`.
void time_kernel(KernelTime& time, SegsortWorkload& work, std::uint64_t length,
                 const TwoPhaseSort& sort, int repetitions);

}  // namespace sortie::bench
