#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <future>
#include <utility>
#include <vector>

#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/core/context.hpp"
#include "sortie/core/cuda/append_to_host.hpp"
#include "sortie/core/cuda/check.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/core/large_pages.hpp"

namespace sortie::suffix_array::cuda {

/// Brings the ranges of a suffix array to the host, on a stream and a thread of its own: a range is
/// on its way while the next is sorted. The host's memory is touched for the first time meanwhile,
/// too.
///
/// Memory: the range that is on its way, and 8 MiB page-locked.
template <Position Pos>
class RangesToHost {
 public:
  /// \param symbols  of the text: entries of the suffix array
  /// \throws Error (out_of_memory, device), std::bad_alloc
  RangesToHost(const Context& context, std::uint64_t symbols)
      : context_(context), copier_(symbols * sizeof(Pos)) {
    suffixes_.reserve(symbols);
    check_cuda(cudaEventCreateWithFlags(&sorted_, cudaEventDisableTiming));
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    work_ = std::async(std::launch::async, [memory = suffixes_.data(), symbols] {
      touch_new_memory(memory, symbols * sizeof(Pos));
    });
  }
  ~RangesToHost() {
    // What is under way uses all that is about to go.
    if (work_.valid()) work_.wait();
    static_cast<void>(cudaStreamDestroy(stream_));
    static_cast<void>(cudaEventDestroy(sorted_));
  }
  RangesToHost(const RangesToHost&) = delete;
  RangesToHost& operator=(const RangesToHost&) = delete;

  /// Waits until the range before has arrived and frees it. Throws what its copy has thrown.
  void wait() {
    if (work_.valid()) work_.get();
    range_.reset();
  }
  /// Starts with the copy of a range, once the context's stream has come so far.
  /// \pre wait() was called since the last one
  void start(DeviceBuffer<Pos> range) {
    range_ = std::move(range);
    check_cuda(cudaEventRecord(sorted_, context_.stream));
    check_cuda(cudaStreamWaitEvent(stream_, sorted_, 0));
    work_ = std::async(std::launch::async, [this] {
      check_cuda(cudaSetDevice(context_.device));
      copier_.copy(range_.data(), range_.bytes(), stream_, [this](auto piece) {
        const Pos* const items = reinterpret_cast<const Pos*>(piece.data());
        suffixes_.insert(suffixes_.end(), items, items + piece.size() / sizeof(Pos));
      });
    });
  }
  /// All ranges, in the order in which they were given.
  [[nodiscard]] std::vector<Pos> finish() {
    wait();
    return std::move(suffixes_);
  }

 private:
  const Context& context_;
  PieceCopier copier_;
  std::vector<Pos> suffixes_;
  DeviceBuffer<Pos> range_;
  cudaEvent_t sorted_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::future<void> work_;
};

}  // namespace sortie::suffix_array::cuda
