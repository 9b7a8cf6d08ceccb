// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace sortie {

namespace detail {
/// \throws Error (out_of_memory) naming the bytes required and free; (device)
[[nodiscard]] void* allocate_pinned(std::size_t bytes);

struct FreePinned {
  void operator()(void* memory) const { static_cast<void>(cudaFreeHost(memory)); }
};
}  // namespace detail

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

}  // namespace sortie
