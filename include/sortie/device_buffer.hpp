// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "sortie/export.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sortie {

namespace detail {
/// Allocates from the current device's pool, in stream order.
/// \throws Error (out_of_memory) naming the bytes required and free; (device)
[[nodiscard]] SORTIE_API void* allocate_on_device(std::size_t bytes, CUstream_st* stream);
SORTIE_API void free_on_device(void* data, CUstream_st* stream) noexcept;
/// \throws Error (device)
SORTIE_API void copy_to_device(void* device, const void* host, std::size_t bytes,
                               CUstream_st* stream);
SORTIE_API void copy_to_host(void* host, const void* device, std::size_t bytes,
                             CUstream_st* stream);
}  // namespace detail

/// `size` uninitialised items of device memory from Sortie's memory pool on the device that is
/// current at construction. The process's default pool is not used. Allocated and freed in stream
/// order; the buffer must not outlive the stream.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceBuffer() = default;
  /// \throws Error (out_of_memory, device)
  DeviceBuffer(std::size_t size, CUstream_st* stream)
      : data_(size == 0 ? nullptr
                        : static_cast<T*>(detail::allocate_on_device(size * sizeof(T), stream))),
        size_(size),
        stream_(stream) {}
  DeviceBuffer(std::span<const T> host, CUstream_st* stream) : DeviceBuffer(host.size(), stream) {
    copy_from(host);
  }
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
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
  [[nodiscard]] CUstream_st* stream() const { return stream_; }

  /// Frees the memory now (in stream order) instead of at the end of the scope.
  void reset() noexcept {
    if (data_ != nullptr) detail::free_on_device(data_, stream_);
    data_ = nullptr;
    size_ = 0;
  }

  /// Copies host.size() items to the front of the buffer, in stream order.
  /// \pre host.size() <= size() \throws Error (device)
  void copy_from(std::span<const T> host) {
    if (!host.empty()) detail::copy_to_device(data_, host.data(), host.size_bytes(), stream_);
  }
  /// Copies the first host.size() items to the host, in stream order; the caller synchronises.
  /// \pre host.size() <= size() \throws Error (device)
  void copy_to(std::span<T> host) const {
    if (!host.empty()) detail::copy_to_host(host.data(), data_, host.size_bytes(), stream_);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  CUstream_st* stream_ = nullptr;
};

}  // namespace sortie
