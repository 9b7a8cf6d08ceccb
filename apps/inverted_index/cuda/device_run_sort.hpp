// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "multisort/backends.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "sortie/context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/sort.hpp"

namespace sortie::indexing {

/// Sorts runs on one GPU, one after the other. The memory there is kept from run to run, since to
/// allocate it takes longer than to sort a run. Used by one thread.
class DeviceRunSort {
 public:
  /// \param algorithm  automatic: a radix sort, whose memory is kept; others sort a chunk on the device
  /// \throws Error (unavailable) no such CUDA device; (usage) the algorithm does not sort in GPU
  ///         memory; (device)
  explicit DeviceRunSort(const Context& context,
                         SortAlgorithm algorithm = SortAlgorithm::automatic);
  ~DeviceRunSort();
  DeviceRunSort(const DeviceRunSort&) = delete;
  DeviceRunSort& operator=(const DeviceRunSort&) = delete;

  /// Sorts keys, and values with them, in host memory; stable if the algorithm is.
  /// \param values  as many as keys, or none
  /// \throws Error (out_of_memory, device)
  /// Extra memory: on the device two copies of keys and values, and what the radix sort takes; for
  /// other algorithms one copy, and what they take.
  void sort(std::span<std::uint64_t> keys, std::span<std::uint32_t> values);

 private:
  template <class T>
  void reserve(DeviceBuffer<T>& buffer, std::size_t size);
  /// Sorts keys_ and values_, whose first items are those of a run; returns where the result is.
  RadixBuffers sort_by_radix(std::size_t size, bool has_values);
  void sort_chunk(std::size_t size, bool has_values);

  Context context_;
  SortAlgorithm algorithm_;
  multisort::ChunkSort chunk_sort_ = nullptr;      ///< null: radix sort
  std::unique_ptr<multisort::DeviceGroup> group_;  ///< of the chunk sort
  DeviceBuffer<std::uint64_t> keys_;
  DeviceBuffer<std::uint64_t> other_keys_;
  DeviceBuffer<std::uint32_t> values_;
  DeviceBuffer<std::uint32_t> other_values_;
  DeviceBuffer<std::byte> scratch_;
};

}  // namespace sortie::indexing
