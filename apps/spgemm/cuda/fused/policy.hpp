// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

/// Which kernel computes which rows of C, and with how much shared memory. row_bins selects by the
/// number of products: the kernel that counts a row and, for small and medium rows, the one that
/// computes it. task_classes selects the kernel that computes a large row by its number of entries.
///
/// Medium rows have at most 512 products, the most that a warp sorts in registers: 16 per lane, as
/// words of 23 bits of column and 9 bits of index. docs/performance.md ("Rows by number of
/// products") has the rate by products per row, and the command that measures it.
namespace sortie::spgemm::cuda {

/// Shared memory of the kernels for large rows, in column blocks of 32 columns.
struct BitmapMemory {
  /// C with at most this many blocks has a bitmap of one level. With more words, the bitmap would
  /// be large compared with the products of the row.
  std::uint32_t one_level_blocks = 0;
  /// Capacity of the lower of two levels.
  std::uint32_t lower_blocks = 0;
  /// Counting, C of more than one_level_blocks: a row still has a bitmap of one level if its columns
  /// lie within near_blocks + (words of the upper level) blocks, and within lower_blocks. For
  /// example, C of 100 000 columns has 3125 blocks and 98 words of the upper level, so the limit of
  /// rows of up to 1024 products is 320 + 98 blocks. The limit exists because the computing kernel
  /// reads a bitmap of one level twice if it exceeds the memory for its two levels.
  std::uint32_t near_blocks = 0;
};

/// Rows of C by number of products.
struct RowBin {
  std::int64_t max_products;
  int lanes = 0;  ///< small rows: lanes per row; sorted in registers, one product per lane
  int items = 0;  ///< medium rows: products per lane; a warp sorts the row
  int warps = 0;  ///< large rows: warps of the block that counts the row; TaskClass::warps make it
  BitmapMemory memory = {};  ///< large rows: to count the row
};

/// Bin 0 has the empty rows, which no kernel processes. Bins 1 to 3: small rows, from
/// first_medium_bin on: medium rows, from first_large_bin on: large rows.
inline constexpr std::array<RowBin, 12> row_bins{{
    {.max_products = 0},
    {.max_products = 8, .lanes = 8},
    {.max_products = 16, .lanes = 16},
    {.max_products = 32, .lanes = 32},
    {.max_products = 64, .items = 2},
    {.max_products = 128, .items = 4},
    {.max_products = 256, .items = 8},
    {.max_products = 512, .items = 16},
    {.max_products = 1024, .warps = 2, .memory = {1280, 1280, 320}},
    {.max_products = 2048, .warps = 4, .memory = {2560, 2560, 640}},
    {.max_products = 32768, .warps = 8, .memory = {5120, 8192, 1600}},
    {.max_products = std::numeric_limits<std::int64_t>::max(),
     .warps = 32,
     .memory = {5120, 8192, 1600}},
}};
/// The bin of a row with this many products.
[[nodiscard]] constexpr int bin_of(std::uint64_t products) {
  constexpr auto bins = row_bins;  // a copy: device code has no address of the original
  int bin = 0;
  for (const RowBin& one : bins) bin += products > static_cast<std::uint64_t>(one.max_products);
  return bin;
}
inline constexpr int first_medium_bin = 4;
inline constexpr int first_large_bin = 8;
/// Products of a row that is not large.
inline constexpr std::int64_t max_sorted_products = row_bins[first_large_bin - 1].max_products;
/// Rows of this bin and the following may be divided into tasks.
inline constexpr int first_panel_bin = 10;

/// Tasks of large rows, once the entries of C are counted; one block per task.
struct TaskClass {
  std::uint32_t max_entries;  ///< of C
  int warps;                  ///< per block
  bool is_ranged = false;     ///< a range of column panels; otherwise whole rows
  BitmapMemory memory;

  /// Entries that shared memory holds: of values wider than double, as many as fit the space of
  /// 6144 doubles.
  template <class Value>
  [[nodiscard]] constexpr std::uint32_t sums() const {
    return std::min(max_entries, std::uint32_t{49152 / sizeof(Value)});
  }
};

/// The last class has parts of rows; a single panel with more entries is a task of it, too.
inline constexpr std::array<TaskClass, 6> task_classes{{
    {.max_entries = 512, .warps = 2, .memory = {1280, 512}},
    {.max_entries = 1024, .warps = 4, .memory = {1280, 1024}},
    {.max_entries = 2048, .warps = 8, .memory = {1280, 2048}},
    {.max_entries = 4096, .warps = 8, .memory = {2560, 3072}},
    {.max_entries = 6144, .warps = 12, .memory = {2560, 3072}},
    {.max_entries = 6144, .warps = 12, .is_ranged = true, .memory = {2560, 3072}},
}};
/// The class of a whole row with this many entries; the last class if it has to be divided.
[[nodiscard]] constexpr int class_of(std::uint32_t entries) {
  constexpr auto classes = task_classes;
  int number = 0;
  while (number + 1 < static_cast<int>(classes.size()) && entries > classes[number].max_entries)
    ++number;
  return number;
}

/// True if essc is faster for all rows: one or two large rows have so many products that the 64 blocks
/// of a row are too few. Measured on an H200, ms, fused and essc: the identity and a full row of
/// 300 000 entries 2.78, 0.24.
[[nodiscard]] constexpr bool has_few_long_rows(std::int64_t large_rows,
                                               std::int64_t large_row_products,
                                               std::int64_t products) {
  return large_rows >= 1 && large_rows <= 2 && large_row_products >= std::int64_t{1} << 17 &&
         products <= std::int64_t{1} << 26;
}
/// True if essc is faster, since most rows are empty: a million entries in four million rows take
/// 0.325 and 0.257 ms.
[[nodiscard]] constexpr bool has_mostly_empty_rows(std::int64_t rows, std::int64_t products) {
  return rows > std::int64_t{1} << 20 && products < rows / 8;
}

// Samples of B's entries, which divide the columns of C into panels. The order in which a row of more
// than 6144 entries is summed depends on them. Where B has only the rows that A asks for, as on
// ranks, they are those of the whole B.

/// Entries that are sampled: 256 per panel. Panels need not be exact: tasks are made of as many panels
/// as are known from counting to fit.
inline constexpr std::int64_t column_samples = 16384;

/// Number of the entry of B that is sample `sample` of min(nnz, column_samples): at a pseudo-random
/// place of each of equal parts of the entries; of fewer entries, all are taken.
[[nodiscard]] constexpr std::int64_t sampled_entry(std::int64_t nnz, std::int64_t sample) {
  const std::int64_t part = nnz < column_samples ? 1 : nnz / column_samples;
  auto random = static_cast<std::uint32_t>(sample);
  random *= 0x9e3779b9u;
  random ^= random >> 15;
  random *= 0x85ebca6bu;
  random ^= random >> 13;
  const std::int64_t range = part < (std::int64_t{1} << 31) ? part : std::int64_t{1} << 31;
  return sample * part +
         static_cast<std::int64_t>(std::uint64_t{random} * static_cast<std::uint64_t>(range) >> 32);
}

// Slots of the staging buffers. Small and medium rows may be computed before row_ptr of C is known.
// Each such row is written to its own range of consecutive slots and copied to C later.

/// Entries per slot. Rows therefore begin at 32-byte sectors of device memory.
inline constexpr std::uint32_t entries_per_slot = 8;

/// First slot of a row that is not staged.
inline constexpr std::uint32_t no_slot = 0xffffffffu;

/// Slots of a row with this many products.
[[nodiscard]] constexpr std::uint64_t slots_of_row(std::uint64_t products) {
  return (products + entries_per_slot - 1) / entries_per_slot;
}

}  // namespace sortie::spgemm::cuda
