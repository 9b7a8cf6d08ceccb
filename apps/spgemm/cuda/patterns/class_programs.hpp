// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/patterns/row_classes.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_csr.hpp"

/// What all rows of a class of C have in common.
namespace sortie::spgemm::cuda {

/// Rows with more entries of A or C are not computed by a program.
inline constexpr std::uint32_t max_program_entries = 1024;
/// Bytes of shared memory that a tile of 8 rows may take; longer rows are not computed by a program.
inline constexpr std::uint32_t max_tile_bytes = 98304;
/// Most consecutive entries of A whose rows of B are loaded together.
inline constexpr std::uint32_t max_step_group = 4;

/// An entry of A in the rows of a class: the row of B that it multiplies.
struct ProgramStep {
  std::uint32_t offset;  ///< row of B less row of A, modulo 2^32
  std::uint32_t length;  ///< of the row of B
  std::uint64_t places;  ///< of its first product in ClassPrograms::places
  /// This step and how many of the next multiply consecutive rows of B with the same pattern
  std::uint32_t group;
};

/// The rows of a class of C.
struct ClassProgram {
  std::uint32_t row;      ///< first row of the class
  std::uint32_t entries;  ///< of a row of C
  std::uint32_t steps;    ///< entries of a row of A
  std::uint32_t longest;  ///< longest row of B
  std::uint64_t step;     ///< first step
  std::uint64_t column;   ///< first column of `row` in the product of the first rows
  std::uint32_t is_long;  ///< too long to be computed by the program
  std::uint32_t number;   ///< row of the product of the first rows
};

/// Sizes over all programs that are not long.
struct ProgramSizes {
  std::uint32_t longest;         ///< row of B
  std::uint32_t elements_of_16;  ///< values in shared memory for a tile of 16 rows (row_tiles.hpp)
  std::uint32_t elements_of_8;
  std::uint32_t long_classes;  ///< number of classes with long rows
};

/// Programs of the classes of C = A * B.
template <class Value>
struct ClassPrograms {
  DeviceBuffer<ClassProgram> of_class;  ///< by class number
  DeviceBuffer<ProgramStep> steps;
  /// Of every product of the first row of a class: its rank in the row of C.
  DeviceBuffer<std::uint16_t> places;
  DeviceCsr<Value> first_rows;  ///< the first row of each class of C
  ProgramSizes sizes{};
};

/// Elements of the sums of a tile: also those of lanes without a product, one for each lane.
[[nodiscard]] constexpr std::uint32_t sum_elements(std::uint32_t tile_rows, std::uint32_t entries) {
  return (entries + 32 / tile_rows) * (tile_rows + 1);
}
/// Elements of the staged rows of B of a tile; those behind the last row are read, not used.
[[nodiscard]] constexpr std::uint32_t staged_elements(std::uint32_t tile_rows,
                                                      std::uint32_t longest) {
  constexpr std::uint32_t behind_last_row = 32;
  return (tile_rows + max_step_group - 1) * (longest | 1) + behind_last_row;
}
/// Elements of a tile in shared memory: sums, staged rows of B, and values of A (tile_rows.cuh).
[[nodiscard]] constexpr std::uint32_t tile_elements(std::uint32_t tile_rows, std::uint32_t entries,
                                                    std::uint32_t longest, std::uint32_t steps) {
  return sum_elements(tile_rows, entries) + staged_elements(tile_rows, longest) +
         tile_rows * (steps | 1);
}

/// The rows of `a` with the given numbers, in this order. The host waits for their number of entries.
/// \throws Error (out_of_memory, device)
template <class Value>
[[nodiscard]] DeviceCsr<Value> gather_rows(const DeviceCsrView<Value>& a, const std::uint32_t* rows,
                                           std::int64_t count, cudaStream_t stream);

/// The classes that are used, in no particular order.
struct ClassList {
  DeviceBuffer<std::uint32_t> classes;  ///< their numbers, `count` elements and others
  DeviceBuffer<std::uint32_t> rows;     ///< the first row of each
  std::uint32_t count = 0;
  std::uint32_t end = 0;  ///< all numbers are less
};
/// The host waits for the number of classes. \throws Error (out_of_memory, device)
[[nodiscard]] ClassList list_classes(const RowClasses& classes, cudaStream_t stream);

/// Writes the programs. The host waits for their sizes.
/// \param list       the classes of C
/// \param a_rows     their first rows in A
/// \param c_rows     the product of a_rows and B
/// \param b_classes  class of each row of B
/// \throws Error (out_of_memory, device)
template <class Value>
[[nodiscard]] ClassPrograms<Value> make_programs(const ClassList& list,
                                                 const DeviceCsr<Value>& a_rows,
                                                 const DeviceCsrView<Value>& b,
                                                 const std::uint32_t* b_classes,
                                                 DeviceCsr<Value> c_rows, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
