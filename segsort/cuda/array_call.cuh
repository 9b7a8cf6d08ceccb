// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/cuda/device_pool.hpp"
#include "segsort/cuda/device_request.hpp"
#include "segsort/cuda/launch.cuh"

namespace sortie::segsort {

/// One phase of a call that sorts an array: its temporary storage, its GPU and its stream.
///
/// Both phases run the same code. With null storage nothing is launched, and only the size of the
/// storage is found. Before each launch, what has been taken is compared with the size that the
/// caller passed.
class ArrayCall {
 public:
  ArrayCall(void* storage, std::size_t bytes, cudaStream_t stream)
      : stream_(stream), storage_(storage), carver_(storage), available_(bytes) {
    has_gpu_ = limits_.query() == cudaSuccess;
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] const DeviceLimits& limits() const { return limits_; }
  /// Of kernels for an array of n items.
  [[nodiscard]] LaunchPlan plan(std::uint64_t n) const {
    return LaunchPlan{n, 1, limits_, stream_};
  }
  /// Whether a block can have `bytes` bytes of shared memory. True without a GPU, where only the
  /// size of the storage is found.
  [[nodiscard]] bool has_shared_memory(std::size_t bytes) const {
    return !has_gpu_ || limited_shared_bytes(limits_.shared_bytes) >= static_cast<int>(bytes);
  }

  /// Whether only the size of the storage is found.
  [[nodiscard]] bool measures() const { return storage_ == nullptr; }
  /// Size of the storage that has been needed so far. It is at least one byte, since a caller
  /// without storage would pass null, and query the size again.
  [[nodiscard]] std::size_t bytes() const {
    return std::max({carver_.used(), most_used_, std::size_t{1}});
  }
  /// Whether the storage of the caller has that size.
  [[nodiscard]] cudaError_t fits() const {
    return bytes() <= available_ ? cudaSuccess : cudaErrorInvalidValue;
  }
  /// Calls `launches` in the second phase.
  template <class Launches>
  cudaError_t launch_if_it_fits(const Launches& launches) const {
    if (measures()) return cudaSuccess;
    const cudaError_t status = fits();
    return status == cudaSuccess ? launches() : status;
  }

  /// An array of temporary storage, as StorageCarver::take().
  template <class T>
  T* take(std::uint64_t count) {
    return carver_.take<T>(count);
  }
  /// Calls `sort`, and then frees the storage that it has taken for the next one.
  template <class Sort>
  cudaError_t with_reused_storage(const Sort& sort) {
    const StorageCarver before = carver_;
    const cudaError_t status = sort();
    most_used_ = std::max(most_used_, carver_.used());
    carver_ = before;
    return status;
  }
  /// Calls sort(storage, bytes), a two-phase sort, with storage of its own.
  /// \param is_checked  `sort` refuses storage that is too small, so that its size need not be
  ///                    queried again if it has all of the storage
  template <class Sort>
  cudaError_t with_storage(bool is_checked, const Sort& sort) {
    if (is_checked && !measures() && carver_.used() == 0) return sort(storage_, available_);
    std::size_t bytes = 0;
    const cudaError_t status = sort(nullptr, bytes);
    if (status != cudaSuccess) return status;
    if (carver_.used() == 0) {
      most_used_ = std::max(most_used_, bytes);
      return launch_if_it_fits([&] { return sort(storage_, bytes); });
    }
    void* const storage = carver_.take<char>(bytes);
    return launch_if_it_fits([&] { return sort(storage, bytes); });
  }

 private:
  cudaStream_t stream_;
  void* storage_;
  StorageCarver carver_;
  std::size_t most_used_ = 0;  ///< by a sort that others followed, or that had all storage
  std::size_t available_;
  DeviceLimits limits_;
  bool has_gpu_;
};

}  // namespace sortie::segsort
