// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/row_patterns.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_csr.hpp"

/// Classes of rows with the same pattern (row_patterns.hpp).
namespace sortie::spgemm::cuda {

/// Numbers of classes that rows share. A row has a class of its own, with a number from
/// max_shared_classes on, if the hash table of classes is full or if another pattern has the hash of
/// its pattern.
inline constexpr std::uint32_t max_shared_classes = 8192;

/// The classes of the rows of a matrix, on the device. Numbers of shared classes have gaps.
struct RowClasses {
  DeviceBuffer<std::uint32_t> of_row;  ///< class of each row
  /// The first row of each class; ~0 for unused numbers. max_shared_classes + rows elements
  DeviceBuffer<std::uint32_t> first_row;
  DeviceBuffer<std::uint32_t> own_classes;  ///< one number: rows with a class of their own
};

/// Finds the classes: rows are hashed, and each is compared with the first row of its class, so that
/// a class never has two patterns. The host does not wait.
/// \param column_classes  null, or a class for every column: rows of a class then also agree in the
///                        classes of their columns
/// \pre rows < 2^32. Complexity: O(nnz + rows). Extra memory: the result, 96 KiB.
/// \throws Error (out_of_memory, device)
[[nodiscard]] RowClasses find_row_classes(std::int64_t rows, std::int64_t nnz,
                                          const std::int64_t* row_ptr, const std::uint32_t* col_idx,
                                          const std::uint32_t* column_classes, cudaStream_t stream);

/// Whether the patterns of a matrix repeat, by its sampled rows.
class PatternSamples {
 public:
  /// Only launches kernels. \pre rows >= pattern_samples \throws Error (out_of_memory, device)
  PatternSamples(std::int64_t rows, const std::int64_t* row_ptr, const std::uint32_t* col_idx,
                 cudaStream_t stream);
  /// Waits for them. \throws Error (device)
  [[nodiscard]] bool repeat() { return in_frequent_.wait() >= min_in_frequent; }

 private:
  DeviceBuffer<std::uint64_t> hashes_;
  PinnedMailbox<std::uint32_t> in_frequent_;  ///< samples of frequent patterns
};

}  // namespace sortie::spgemm::cuda
