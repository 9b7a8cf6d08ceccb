#include "sortie/apps/bench/segsort_bench.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "sortie/apps/bench/cuda/segsort_peers.hpp"
#include "sortie/core/cuda/check.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::bench {
namespace {

/// A pair of CUDA events around work on a stream.
class EventTimer {
 public:
  EventTimer() {
    check_cuda(cudaEventCreate(&start_));
    check_cuda(cudaEventCreate(&stop_));
  }
  ~EventTimer() {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(stop_));
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  /// Seconds that the device spent on what `work` put on the stream.
  double time(cudaStream_t stream, const std::function<void()>& work) {
    check_cuda(cudaEventRecord(start_, stream));
    work();
    check_cuda(cudaEventRecord(stop_, stream));
    check_cuda(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

/// Offsets in the narrowest type that holds them, since their reading is part of the work.
std::vector<std::byte> offset_bytes(const SegmentCase& segments, int bytes_each) {
  std::vector<std::byte> bytes(segments.offsets.size() * static_cast<std::size_t>(bytes_each));
  for (std::size_t i = 0; i < segments.offsets.size(); ++i) {
    const auto narrow = static_cast<std::uint32_t>(segments.offsets[i]);
    const void* const source = bytes_each == 4 ? static_cast<const void*>(&narrow)
                                               : static_cast<const void*>(&segments.offsets[i]);
    std::memcpy(bytes.data() + i * static_cast<std::size_t>(bytes_each), source,
                static_cast<std::size_t>(bytes_each));
  }
  return bytes;
}

/// The arrays of one case on the device.
struct DeviceCase {
  const SegmentCase& segments;
  std::vector<std::byte> host_keys;
  DeviceBuffer<std::byte> keys_in;
  DeviceBuffer<std::byte> values_in;
  DeviceBuffer<std::byte> keys_out;
  DeviceBuffer<std::byte> values_out;
  DeviceBuffer<std::byte> offsets;
  segsort::DeviceRequest request;
  cudaStream_t stream;

  DeviceCase(const Context& context, const SegmentCase& shape, const SegsortOptions& options)
      : segments(shape),
        host_keys(random_keys(options.key, shape.items(), options.seed)),
        stream(context.stream) {
    const std::vector<std::byte> values = index_values(options.value_bytes, shape.items());
    const int width = shape.items() <= std::numeric_limits<std::int32_t>::max() ? 4 : 8;
    keys_in = DeviceBuffer<std::byte>(host_keys, stream);
    values_in = DeviceBuffer<std::byte>(values, stream);
    keys_out = DeviceBuffer<std::byte>(host_keys.size(), stream);
    values_out = DeviceBuffer<std::byte>(values.size(), stream);
    offsets = DeviceBuffer<std::byte>(offset_bytes(shape, width), stream);
    check_cuda(cudaStreamSynchronize(stream));
    request.key_type = options.key;
    request.value_bytes = options.value_bytes;
    request.offset_bytes = width;
    request.keys_in = keys_in.data();
    request.keys_out = keys_out.data();
    request.values_in = values_in.data();
    request.values_out = values_out.data();
    request.num_items = static_cast<std::int64_t>(shape.items());
    request.num_segments = static_cast<std::int64_t>(shape.segments());
    request.begin_offsets = offsets.data();
    request.end_offsets = offsets.data() + width;
  }

  /// Bytes that no method would leave there by accident.
  void poison_output() {
    check_cuda(cudaMemsetAsync(keys_out.data(), 0xee, keys_out.bytes(), stream));
    if (values_out.size() != 0)
      check_cuda(cudaMemsetAsync(values_out.data(), 0xee, values_out.bytes(), stream));
  }

  [[nodiscard]] bool output_is_sorted() const {
    std::vector<std::byte> keys(keys_out.size());
    std::vector<std::byte> values(values_out.size());
    keys_out.copy_to(keys);
    values_out.copy_to(values);
    check_cuda(cudaStreamSynchronize(stream));
    return is_sorted_result(segments, request.key_type, host_keys.data(), keys.data(),
                            values.data(), request.value_bytes);
  }
};

using TwoPhaseSort = cudaError_t (*)(void*, std::size_t&, const segsort::DeviceRequest&,
                                     cudaStream_t);

void time_sort(Row& row, DeviceCase& work, TwoPhaseSort sort, int repetitions) {
  try {
    std::size_t bytes = 0;
    check_cuda(sort(nullptr, bytes, work.request, work.stream));
    DeviceBuffer<std::byte> temporary(bytes, work.stream);
    EventTimer timer;
    for (int round = 0; round <= repetitions; ++round) {
      work.poison_output();
      const double seconds = timer.time(work.stream, [&] {
        check_cuda(sort(temporary.data(), bytes, work.request, work.stream));
      });
      if (round == 0) {
        row.agrees = work.output_is_sorted();
      } else {
        row.seconds.push_back(seconds);
      }
    }
  } catch (const Error& error) {
    row.failure = error.what();
  }
}

void time_copy(Row& row, DeviceCase& work, int repetitions) {
  EventTimer timer;
  for (int round = 0; round <= repetitions; ++round) {
    const double seconds = timer.time(work.stream, [&] {
      check_cuda(cudaMemcpyAsync(work.keys_out.data(), work.keys_in.data(), work.keys_in.bytes(),
                                 cudaMemcpyDeviceToDevice, work.stream));
      if (work.values_in.size() != 0)
        check_cuda(cudaMemcpyAsync(work.values_out.data(), work.values_in.data(),
                                   work.values_in.bytes(), cudaMemcpyDeviceToDevice, work.stream));
    });
    if (round != 0) row.seconds.push_back(seconds);
  }
  row.agrees = true;
}

}  // namespace

std::vector<Row> segsort_on_cuda(const Context& context, const SegmentCase& segments,
                                 const SegsortOptions& options) {
  const DeviceScope scope(context);
  DeviceCase work(context, segments, options);
  std::vector<Row> rows;
  const auto add = [&](const char* method) -> Row& {
    Row& row = rows.emplace_back();
    row.case_name = segments.name;
    row.method = method;
    row.backend = "cuda";
    row.items = segments.items();
    row.unit = options.value_bytes == 0 ? "Gkeys/s" : "Gpairs/s";
    return row;
  };
  Row& copy = add("memcpy");
  copy.limit = true;
  time_copy(copy, work, options.repetitions);
  time_sort(add("sortie"), work, segsort::sort_on_device, options.repetitions);
  if (has_cub_peers(work.request)) {
    Row& cub = add("cub segmented");
    cub.baseline = true;
    time_sort(cub, work, cub_segmented_sort, options.repetitions);
    if (segments.segments() == 1) {
      Row& radix = add("cub radix");
      radix.baseline = true;
      time_sort(radix, work, cub_radix_sort, options.repetitions);
    }
  }
  relate(rows);
  return rows;
}

}  // namespace sortie::bench
