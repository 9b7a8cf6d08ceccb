#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "sortie/core/cuda/check.hpp"

namespace sortie {

namespace detail {
/// Stream-ordered allocation; on failure throws Error (out_of_memory) naming bytes wanted and free.
void* allocate_on_device(std::size_t bytes, cudaStream_t stream);
void* allocate_pinned(std::size_t bytes);
}  // namespace detail

/// `size` items of device memory from the stream-ordered allocator; freed in stream order.
/// Not initialised. The buffer must not outlive its stream.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceBuffer() = default;
  DeviceBuffer(std::size_t size, cudaStream_t stream)
      : data_(size == 0 ? nullptr
                        : static_cast<T*>(detail::allocate_on_device(size * sizeof(T), stream))),
        size_(size),
        stream_(stream) {}
  DeviceBuffer(std::span<const T> host, cudaStream_t stream) : DeviceBuffer(host.size(), stream) {
    copy_from(host);
  }
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        stream_(other.stream_) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    if (this != &other) {
      reset();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      stream_ = other.stream_;
    }
    return *this;
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  /// Frees now (in stream order) instead of at the end of the scope.
  void reset() noexcept {
    if (data_ != nullptr) static_cast<void>(cudaFreeAsync(data_, stream_));
    data_ = nullptr;
    size_ = 0;
  }

  /// Copies host.size() items to the front of the buffer, in stream order.
  void copy_from(std::span<const T> host) {
    if (!host.empty())
      check_cuda(
          cudaMemcpyAsync(data_, host.data(), host.size_bytes(), cudaMemcpyHostToDevice, stream_));
  }
  /// Copies the first host.size() items to the host, in stream order; the caller synchronises.
  void copy_to(std::span<T> host) const {
    if (!host.empty())
      check_cuda(
          cudaMemcpyAsync(host.data(), data_, host.size_bytes(), cudaMemcpyDeviceToHost, stream_));
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  cudaStream_t stream_ = nullptr;
};

/// Page-locked host memory, for copies at the full speed of the bus.
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t size)
      : data_(size == 0 ? nullptr : static_cast<T*>(detail::allocate_pinned(size * sizeof(T)))),
        size_(size) {}
  ~PinnedBuffer() {
    if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<T> span() { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sortie
