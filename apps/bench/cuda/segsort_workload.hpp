#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sortie/apps/bench/cuda/segsort_data.hpp"
#include "sortie/apps/bench/segment_cases.hpp"
#include "sortie/apps/bench/segsort_bench.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::bench {

/// Sizes and types of a workload.
struct WorkloadOptions {
  std::uint64_t items = 0;
  KeyType key = KeyType::u32;
  int value_bytes = 4;
  std::uint64_t seed = 1;
};

/// The arrays that all methods and cases of a run share: allocated once, filled and checked on the
/// device. Bytes on the device for n items: twice those of keys and values, 4 n for segment
/// numbers, the offsets, and n / 8 while a result is checked.
class SegsortWorkload {
 public:
  /// \throws Error (usage) as require_countable(); (out_of_memory)
  SegsortWorkload(const WorkloadOptions& options, cudaStream_t stream);

  /// Makes the segments of the next case.
  void set_segments(const SegmentShape& shape);
  /// Makes new input, different for every `round`, and fills the output with bytes that no method
  /// would leave there by accident. Writes the values anew too: they are index values always.
  void renew(std::uint64_t round);
  /// What is wrong with the output; empty when it is right. Waits for the stream.
  [[nodiscard]] std::string fault();

  /// The sort to do, without policy.
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
  std::uint64_t longest_ = 0;
  std::uint64_t seed_ = 0;  ///< of the present keys
  segsort::DeviceRequest request_;
};

/// A sort that is called as segsort::sort_on_device().
using TwoPhaseSort =
    std::function<cudaError_t(void*, std::size_t&, const segsort::DeviceRequest&, cudaStream_t)>;

/// Sortie's own.
[[nodiscard]] TwoPhaseSort sortie_sort(SegsortPolicy policy);

/// What came of timing one sort.
struct TimedSort {
  std::vector<double> seconds;
  bool agrees = false;
  std::string fault;    ///< what is wrong with the result
  std::string failure;  ///< why there is no result
};

/// How a sort is timed.
struct TimingOptions {
  int repetitions = 5;     ///< timed, after one that is not
  bool check_all = false;  ///< check every result and not only the first
};

/// Times a sort with CUDA events, every time on new input and poisoned output. Temporary storage is
/// allocated before. What takes longer than 50 ms is repeated twice at most, and what takes longer
/// than 2 s is not repeated and reported as a failure: its median would not be worth the wait. An
/// Error ends the measurement and becomes the failure.
[[nodiscard]] TimedSort time_sort(SegsortWorkload& work, const TwoPhaseSort& sort,
                                  const TimingOptions& options);

/// CUB sorts a long segment with a single block: true where the longest alone would take it more
/// than 2 s.
[[nodiscard]] bool hopeless_for_cub(const SegsortWorkload& work);
extern const char* const hopeless_message;

}  // namespace sortie::bench
