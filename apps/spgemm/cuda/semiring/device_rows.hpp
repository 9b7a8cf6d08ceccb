// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/semiring/structure_values.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/semiring_spgemm.hpp"

/// Entries of rows on the device: which are kept, and their copies.
namespace sortie::spgemm::cuda {

/// flags[i] = 1 for the entries of `structure` that are not in `mask`, which has as many rows.
void mark_outside(std::int64_t rows, const StructureRows& structure, const StructureRows& mask,
                  std::uint8_t* flags, cudaStream_t stream);

/// flags[i] = 1 for the entries that the filter keeps.
/// \pre the filter is valid
/// Memory: with keep_top, 16 bytes for each entry and the temporary storage of the sort.
/// \throws Error (out_of_memory, device)
template <class Value>
void mark_kept(std::int64_t rows, const std::int64_t* row_ptr, std::int64_t entries,
               const Value* values, const RowFilter& filter, std::uint8_t* flags,
               cudaStream_t stream);

/// Entries of rows that are kept, by their flags.
class KeptEntries {
 public:
  /// Waits for the number of entries. Memory: 8 bytes for each entry.
  /// \throws Error (out_of_memory, device)
  KeptEntries(const std::uint8_t* flags, std::int64_t entries, cudaStream_t stream);

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// The offsets of the rows that are left.
  [[nodiscard]] DeviceBuffer<std::int64_t> offsets(const std::int64_t* row_ptr,
                                                   std::int64_t rows) const;
  /// The items of the entries that are left.
  /// Instantiated for std::uint32_t and the types of semiring_spgemm.hpp.
  template <class T>
  [[nodiscard]] DeviceBuffer<T> items(const T* from) const;

 private:
  const std::uint8_t* flags_;
  std::int64_t entries_;
  std::int64_t count_ = 0;
  DeviceBuffer<std::int64_t> positions_;  ///< of an entry among those that are kept, if it is one
  cudaStream_t stream_;
};

/// 1 for values that are not zero.
template <class Value>
[[nodiscard]] DeviceBuffer<std::uint8_t> truths(const Value* values, std::int64_t count,
                                                cudaStream_t stream);

/// Writes the entries for counts or truths. \param ones  all are 1
template <class Value, class Number>
void write_entries_of(const Number* numbers, std::int64_t count, bool ones, Value* to,
                      cudaStream_t stream);

/// to[i] = from[i] in another floating-point type: of 16 bits or float, and the other.
template <class From, class To>
void convert_values(const From* from, std::int64_t count, To* to, cudaStream_t stream);

/// `count` times 1.
template <class Value>
[[nodiscard]] DeviceBuffer<Value> ones(std::int64_t count, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
