// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <future>
#include <utility>
#include <vector>

#include "core/cuda/append_to_host.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/host_memory.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// Copies the ranges of a suffix array to the host, on a stream and a thread of its own: the copy
/// of a range overlaps the sort of the next. The page faults of the host's memory are parallel to
/// the sort, too.
///
/// Memory: the range that is being copied, and 8 MiB page-locked.
template <Position Pos>
class RangesToHost {
 public:
  /// \param symbols  symbols of the text: entries of the suffix array
  /// \throws Error (out_of_memory, device), std::bad_alloc
  RangesToHost(const DeviceContext& context, std::uint64_t symbols)
      : device_(context.device), work_stream_(context.stream), copier_(symbols * sizeof(Pos)) {
    suffixes_.reserve(symbols);
    check_cuda(cudaEventCreateWithFlags(&sorted_, cudaEventDisableTiming));
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    work_ = std::async(std::launch::async, [memory = suffixes_.data(), symbols] {
      touch_new_memory(memory, symbols * sizeof(Pos));
    });
  }
  ~RangesToHost() {
    // Waits for the thread, which uses the members that are destroyed next.
    if (work_.valid()) work_.wait();
    static_cast<void>(cudaStreamDestroy(stream_));
    static_cast<void>(cudaEventDestroy(sorted_));
  }
  RangesToHost(const RangesToHost&) = delete;
  RangesToHost& operator=(const RangesToHost&) = delete;

  /// Waits for the copy of the previous range and frees the range. Rethrows errors of the copy.
  void wait() {
    if (work_.valid()) work_.get();
    range_.reset();
  }
  /// Starts the copy of a range, ordered after the work that is on the context's stream now.
  /// \pre wait() was called since the last start()
  void start(DeviceBuffer<Pos> range) {
    range_ = std::move(range);
    check_cuda(cudaEventRecord(sorted_, work_stream_));
    check_cuda(cudaStreamWaitEvent(stream_, sorted_, 0));
    work_ = std::async(std::launch::async, [this] {
      check_cuda(cudaSetDevice(device_));
      copier_.copy(range_.data(), range_.bytes(), stream_, [this](auto chunk) {
        const Pos* const items = reinterpret_cast<const Pos*>(chunk.data());
        suffixes_.insert(suffixes_.end(), items, items + chunk.size() / sizeof(Pos));
      });
    });
  }
  /// All ranges, in the order of the calls of start().
  [[nodiscard]] std::vector<Pos> finish() {
    wait();
    return std::move(suffixes_);
  }

 private:
  int device_;
  cudaStream_t work_stream_;
  ChunkCopier copier_;
  std::vector<Pos> suffixes_;
  DeviceBuffer<Pos> range_;
  cudaEvent_t sorted_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::future<void> work_;
};

}  // namespace sortie::suffix_array::cuda
