// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sortie/context.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::indexing {

/// Sorts runs on one GPU, one after the other. The memory there is kept from run to run, since to
/// allocate it takes longer than to sort a run. Used by one thread.
class DeviceRunSort {
 public:
  /// \throws Error (unavailable) no such CUDA device; (device)
  explicit DeviceRunSort(const Context& context);
  ~DeviceRunSort();
  DeviceRunSort(const DeviceRunSort&) = delete;
  DeviceRunSort& operator=(const DeviceRunSort&) = delete;

  /// Sorts keys, and values with them, in host memory; stable.
  /// \param values  as many as keys, or none
  /// \throws Error (out_of_memory, device)
  /// Extra memory: on the device two copies of keys and values, and what the radix sort takes.
  void sort(std::span<std::uint64_t> keys, std::span<std::uint32_t> values);

 private:
  template <class T>
  void reserve(DeviceBuffer<T>& buffer, std::size_t size);

  Context context_;
  DeviceBuffer<std::uint64_t> keys_;
  DeviceBuffer<std::uint64_t> other_keys_;
  DeviceBuffer<std::uint32_t> values_;
  DeviceBuffer<std::uint32_t> other_values_;
  DeviceBuffer<std::byte> scratch_;
};

}  // namespace sortie::indexing
