// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "apps/spgemm/cuda/semiring/structure_values.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/semiring_spgemm.hpp"

/// Entries of rows on the device: which are kept, and their copies.
namespace sortie::spgemm::cuda {

/// flags[i] = 1 for the entries of `structure` that are not in `mask`, which has as many rows.
void mark_outside(std::int64_t rows, const StructureRows& structure, const StructureRows& mask,
                  std::uint8_t* flags, cudaStream_t stream);

/// flags[i] = 1 for the entries that the filter keeps.
/// \pre the filter is valid
/// Memory: with keep_top, 16 bytes for each entry and the temporary storage of DeviceTopK.
/// \throws Error (out_of_memory, device)
template <class Value>
void mark_kept(std::int64_t rows, const std::int64_t* row_ptr, std::int64_t entries,
               const Value* values, const RowFilter& filter, std::uint8_t* flags,
               cudaStream_t stream);

/// The entries of rows that are kept: those whose flag is not 0.
class KeptEntries {
 public:
  /// Launches what counts them. Memory: a quarter of a byte for each entry.
  /// Instantiated for std::uint8_t and std::uint32_t.
  /// \throws Error (out_of_memory, device)
  template <class Flag>
  KeptEntries(const Flag* flags, std::int64_t entries, cudaStream_t stream);

  /// The number of entries. The first call waits for it.
  [[nodiscard]] std::int64_t count() { return mailbox_.wait(); }

  /// The rows of c with the entries that are left: all arrays, or only those of the structure.
  /// \param rows, row_ptr, col_idx  with all entries
  /// \param values                  null: without values
  /// Instantiated for the types of semiring_spgemm.hpp.
  /// \throws Error (out_of_memory, device)
  template <class Value>
  void write(std::int64_t rows, const std::int64_t* row_ptr, const std::uint32_t* col_idx,
             const Value* values, DeviceCsr<Value>& c);
  /// The same with values for counts or truths. \param ones  all are 1
  template <class Value, class Number>
  void write_numbers(std::int64_t rows, const std::int64_t* row_ptr, const std::uint32_t* col_idx,
                     const Number* numbers, bool ones, DeviceCsr<Value>& c);

 private:
  template <class Value, class From, class ValueOf>
  void write_rows(std::int64_t rows, const std::int64_t* row_ptr, const std::uint32_t* col_idx,
                  const From* from, const ValueOf& value_of, DeviceCsr<Value>& c);

  std::int64_t entries_;
  DeviceBuffer<std::byte> storage_;       ///< of the arrays below
  std::int64_t* before_tile_ = nullptr;   ///< entries that are kept before a tile; a counter
  std::uint32_t* words_ = nullptr;        ///< a bit for each entry
  std::uint16_t* before_word_ = nullptr;  ///< entries of the tile that are kept, before a word
  PinnedMailbox<std::int64_t> mailbox_;
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
