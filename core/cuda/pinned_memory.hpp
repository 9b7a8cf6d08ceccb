// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "core/cuda/check.hpp"
#include "core/host_memory.hpp"

/// Page-locked host memory: buffers, and mailboxes to which kernels write.
namespace sortie {

namespace detail {
/// \throws Error (out_of_memory) naming the bytes required and free; (device)
[[nodiscard]] void* allocate_pinned(std::size_t bytes);

struct FreePinned {
  void operator()(void* memory) const { static_cast<void>(cudaFreeHost(memory)); }
};
}  // namespace detail

/// Whether host memory is page-locked, by this library or by the caller. Plain copies of such memory
/// have the full speed of the bus.
/// \throws Error (device)
[[nodiscard]] bool is_page_locked(const void* host);

/// Page-locked host memory, for copies at the full speed of the bus.
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t size)
      : data_(size == 0 ? nullptr : static_cast<T*>(detail::allocate_pinned(size * sizeof(T)))),
        size_(size) {}

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<T> span() { return {data_.get(), size_}; }

 private:
  std::unique_ptr<T[], detail::FreePinned> data_;
  std::size_t size_ = 0;
};

namespace detail {

/// Page-locked memory that kernels write to, and an event recorded after the kernel. Mailboxes are
/// kept for reuse until the process ends: locking a page takes as long as a small product.
struct Mailbox {
  static constexpr std::size_t bytes = 256;

  PinnedBuffer<std::byte> memory;  ///< the same address on host and device
  CudaEvent written;
  int device = 0;  ///< device of the event
};

/// A mailbox for the current device. \throws Error (out_of_memory, device)
[[nodiscard]] Mailbox take_mailbox();
void return_mailbox(Mailbox mailbox) noexcept;

}  // namespace detail

/// A small result that a kernel writes directly to page-locked host memory: without a copy, and
/// without waiting for later work. Belongs to one device and one host thread.
///
///     PinnedMailbox<Counts> counts(stream);
///     kernel<<<..., stream>>>(..., counts.on_device());
///     counts.mark();
///     further_kernel<<<..., stream>>>(...);
///     const Counts& found = counts.wait();  // waits for `kernel` only
template <class T>
class PinnedMailbox {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= detail::Mailbox::bytes);

 public:
  /// \throws Error (out_of_memory, device)
  explicit PinnedMailbox(cudaStream_t stream) : mailbox_(detail::take_mailbox()), stream_(stream) {}
  /// Waits for the stream unless wait() has done so: a kernel may still write.
  ~PinnedMailbox() {
    if (!is_written_) static_cast<void>(cudaStreamSynchronize(stream_));
    detail::return_mailbox(std::move(mailbox_));
  }
  PinnedMailbox(const PinnedMailbox&) = delete;
  PinnedMailbox& operator=(const PinnedMailbox&) = delete;

  /// The address to which a kernel writes the result.
  [[nodiscard]] T* on_device() { return reinterpret_cast<T*>(mailbox_.memory.data()); }

  /// Records that the writing kernel has been launched.
  void mark() { check_cuda(cudaEventRecord(mailbox_.written.get(), stream_)); }

  /// Waits for the work that was in the stream at mark(). \pre mark() \throws Error (device)
  [[nodiscard]] const T& wait() {
    check_cuda(cudaEventSynchronize(mailbox_.written.get()));
    is_written_ = true;
    return *on_device();
  }

 private:
  detail::Mailbox mailbox_;
  cudaStream_t stream_;
  bool is_written_ = false;
};

}  // namespace sortie
