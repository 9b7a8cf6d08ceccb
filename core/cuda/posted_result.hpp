#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>

#include "sortie/core/cuda/check.hpp"

namespace sortie {

namespace detail {

/// Page-locked memory that kernels write to, and the event that says that they have. Boxes are kept
/// for reuse until the process ends: to lock a page takes as long as a small product.
struct PostBox {
  static constexpr std::size_t bytes = 256;

  void* memory = nullptr;  ///< at the same address for host and device
  cudaEvent_t written = nullptr;
  int device = 0;  ///< of the event
};

/// For the current device. \throws Error (out_of_memory, device)
[[nodiscard]] PostBox take_post_box();
void give_back(const PostBox& box) noexcept;

}  // namespace detail

/// A few numbers that the host waits for, written by a kernel straight to the host's memory: no
/// copy follows the kernel, and what is launched behind mark() is not waited for.
///
///     PostedResult<Counts> counts(stream);
///     kernel<<<..., stream>>>(..., counts.on_device());
///     counts.mark();
///     further_kernel<<<..., stream>>>(...);
///     const Counts& found = counts.wait();  // of kernel
///
/// For one device and one thread of the host.
template <class T>
class PostedResult {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= detail::PostBox::bytes);

 public:
  /// \throws Error (out_of_memory, device)
  explicit PostedResult(cudaStream_t stream) : box_(detail::take_post_box()), stream_(stream) {}
  /// Waits for the stream where wait() has not: a kernel may still write.
  ~PostedResult() {
    if (!is_written_) static_cast<void>(cudaStreamSynchronize(stream_));
    detail::give_back(box_);
  }
  PostedResult(const PostedResult&) = delete;
  PostedResult& operator=(const PostedResult&) = delete;

  /// Where a kernel writes the result.
  [[nodiscard]] T* on_device() { return static_cast<T*>(box_.memory); }

  /// The kernel that writes has been launched.
  void mark() { check_cuda(cudaEventRecord(box_.written, stream_)); }

  /// Waits for what was in the stream when it was marked.
  /// \pre mark()
  /// \throws Error (device)
  [[nodiscard]] const T& wait() {
    check_cuda(cudaEventSynchronize(box_.written));
    is_written_ = true;
    return *static_cast<const T*>(box_.memory);
  }

 private:
  detail::PostBox box_;
  cudaStream_t stream_;
  bool is_written_ = false;
};

}  // namespace sortie
