// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>

/// The sums of the entries of a structure on the device: what the host passes to the kernels.
namespace sortie::spgemm::cuda {

inline constexpr int structure_warps = 8;
inline constexpr int structure_threads = 32 * structure_warps;

/// Rows of up to this many entries are computed by a warp, in a table for so many. A power of two.
inline constexpr std::uint32_t short_row_entries = 128;
/// How counts of rows with many products are divided.
struct CountLimits {
  std::int64_t entries;          ///< of structures with fewer
  std::uint32_t tiny_products;   ///< rows with up to as many are for a few lanes
  std::uint32_t short_products;  ///< and up to as many, for a warp
  std::uint64_t slice_products;  ///< longer rows have a slice for as many, one for each block
};
/// In small structures the longest rows decide. H100, ms with each of the four limits: memplus (54 K
/// entries) 0.075, 0.082, 0.099, 0.173; ca-AstroPh (198 K) 0.143, 0.130, 0.137, 0.171; blogcatalog
/// (334 K) 1.02, 0.868, 0.797, 0.958; ego-Twitter (1.3 M) 0.974, 0.830, 0.683, 0.696; the crawl
/// cnr-2000 (2.7 M) takes 5.3 with the third and 2.5 with the fourth.
inline constexpr CountLimits count_limits[] = {
    {1 << 17, 64, 1 << 9, 1 << 12},
    {1 << 18, 64, 1 << 10, 1 << 13},
    {1 << 20, 64, 1 << 11, 1 << 14},
    {std::numeric_limits<std::int64_t>::max(), 512, 1 << 13, 1 << 18}};
inline constexpr std::uint32_t most_slices = 64;
/// Slices but the first of each part, of which the list has so many.
inline constexpr std::uint32_t most_extra_slices = 1 << 14;

/// Counts of rows with up to so many entries in the structure and in A, and few products, are
/// computed by a few lanes.
inline constexpr int tiny_row_lanes = 8;
inline constexpr std::uint32_t tiny_row_entries = 32;

/// Bytes of a table of `capacity` entries, a power of two: a multiple of 16.
template <class Semiring>
[[nodiscard]] constexpr std::size_t structure_table_bytes(std::uint32_t capacity) {
  constexpr std::size_t slot_bytes = sizeof(std::uint32_t) + sizeof(std::uint16_t);
  return capacity * (sizeof(typename Semiring::Sum) + 2 * slot_bytes + 1);
}

/// Rows of a matrix, without values.
struct StructureRows {
  const std::int64_t* row_ptr = nullptr;
  const std::uint32_t* col_idx = nullptr;
};

/// Slice `slice` of the products of part `number` of a row of the structure.
struct StructurePart {
  std::uint32_t row = 0;
  std::uint32_t number = 0;
  std::uint32_t slice = 0;
  std::uint32_t slices = 1;
};

struct StructureCounters {
  std::uint32_t warp_rows = 0;  ///< in the list of rows
  std::uint32_t parts = 0;      ///< in the list
  std::uint32_t taken = 0;
  std::uint32_t extra_slices = 0;  ///< wanted
};

template <class Semiring>
struct StructureArguments {
  std::int64_t rows = 0;
  StructureRows a;
  StructureRows b;
  StructureRows structure;
  const typename Semiring::Operand* a_values = nullptr;  ///< null: not read
  const typename Semiring::Operand* b_values = nullptr;
  std::uint32_t part_entries = 0;  ///< of a part, a power of two, at most 2^15
  StructurePart* parts = nullptr;
  CountLimits limits = count_limits[0];
  std::uint32_t* warp_rows = nullptr;  ///< counts: the rows that are not tiny
  StructureCounters* counters = nullptr;
  typename Semiring::Sum* sums = nullptr;
  std::uint8_t* hits = nullptr;  ///< 1 for entries with products; null: not wanted
};

/// Computes the sums of all entries of the structure.
/// \param a_values, b_values  null if the semiring reads none
/// \param hits                may be null, and is not written for counts, which are 0 without products
/// \pre fewer than 2^32 rows, fewer than 2^32 columns
/// \throws Error (out_of_memory, device)
/// Memory: 20 bytes for every row, 16 for every 1024 entries of the structure at most, and 256 KiB.
template <class Semiring>
void compute_structure_sums(std::int64_t rows, std::int64_t entries, const StructureRows& a,
                            const StructureRows& b, const StructureRows& structure,
                            const typename Semiring::Operand* a_values,
                            const typename Semiring::Operand* b_values,
                            typename Semiring::Sum* sums, std::uint8_t* hits, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
