// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/spgemm/cuda/patterns/class_programs.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_csr.hpp"

/// Rows of C by class: their numbers of entries, and tiles of rows that a warp computes together.
namespace sortie::spgemm::cuda {

/// Most rows of a tile.
inline constexpr int max_tile_rows = 16;
/// Shorter runs share tiles, since a warp takes as long for few rows as for all of a tile.
inline constexpr int min_tile_run = 4;
/// Rows among which those of a tile are found.
inline constexpr int tile_window = 2048;

/// Rows of one class from one window: a run of consecutive rows, or rows that are not in a run of at
/// least min_tile_run rows.
struct RowTile {
  std::uint32_t window;  ///< first row of the window
  std::uint32_t of_class;
  std::uint8_t rows;
  /// Nonzero: rows one after the other
  std::uint8_t is_consecutive;
  /// Rows less the window's first; the last ones repeat the first if there are fewer
  std::uint16_t row[max_tile_rows];
};

/// Tiles of the rows of some windows, in no particular order; rows of long classes are not among them.
struct RowTiles {
  DeviceBuffer<RowTile> tiles;
  std::uint32_t count = 0;
};

/// counts[i] = entries of row i of C, for all rows; counts[rows] = 0.
void count_by_class(const RowClasses& classes, const ClassProgram* programs, std::int64_t rows,
                    std::int64_t* counts, cudaStream_t stream);

/// Groups the rows from first_row on. The host waits for the number of tiles.
/// \param first_row  a multiple of tile_window
/// \param tile_rows  of a tile, 8 or 16
/// \throws Error (out_of_memory, device)
[[nodiscard]] RowTiles make_tiles(const RowClasses& classes, const ClassProgram* programs,
                                  std::int64_t first_row, std::int64_t rows, int tile_rows,
                                  cudaStream_t stream);

/// Numbers of the rows of long classes among rows first_row .. first_row + rows. The host waits for
/// their number.
struct LongRows {
  DeviceBuffer<std::uint32_t> rows;
  std::uint32_t count = 0;
};
[[nodiscard]] LongRows list_long_rows(const RowClasses& classes, const ClassProgram* programs,
                                      std::int64_t first_row, std::int64_t rows,
                                      cudaStream_t stream);

/// Where the rows of a tile are written.
template <class Value>
struct TileRowsOut {
  const std::int64_t* row_ptr;  ///< of C
  std::int64_t first_entry;     ///< of C that col_idx and values begin with
  std::uint32_t* col_idx;       ///< null: only values are written
  Value* values;
};

/// Computes the rows of tiles. Every entry of C is the sum of its products in the order of A's
/// entries, rounded after each product and each sum.
/// \param tile_rows  as for make_tiles()
/// \throws Error (device)
template <class Value>
void compute_tiles(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                   const ClassPrograms<Value>& programs, const RowTiles& tiles, int tile_rows,
                   const TileRowsOut<Value>& out, cudaStream_t stream);

/// Copies rows of C that another product computed. \param c  row i of it is row rows[i] of C
template <class Value>
void copy_long_rows(const DeviceCsr<Value>& c, const LongRows& rows, const TileRowsOut<Value>& out,
                    cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
