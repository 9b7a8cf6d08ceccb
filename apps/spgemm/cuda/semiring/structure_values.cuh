// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include "apps/spgemm/cuda/semiring/structure_values.hpp"
#include "apps/spgemm/semiring.hpp"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"

/// Kernels that compute the sums of the entries of a structure.
///
/// The columns of a row of the structure, or of a part of a long row, are put into a hash table in
/// shared memory. A warp takes 32 entries of the row of A at a time, and their products in order,
/// one per lane: the lane finds the entry of A, loads the column of B, looks it up and adds the
/// product. Two lanes may have the same column. Counts are added atomically, since integers can be
/// added in any order. All other sums are added by a single warp, those of a column in the order of
/// its lanes, so that their order is that of the entries of A.
namespace sortie::spgemm::cuda {

/// Whether products can be added in any order.
template <class Semiring>
inline constexpr bool adds_in_any_order = std::is_same_v<typename Semiring::Operand, NoOperand> &&
                                          sizeof(typename Semiring::Sum) == sizeof(std::uint32_t);

/// The least power of two that is not below `count`, but 16 at least: the capacity of a table.
__device__ __forceinline__ std::uint32_t capacity_for(std::uint32_t count) {
  constexpr std::uint32_t least = 16;
  return count <= least ? least : 1u << (32 - __clz(static_cast<int>(count - 1)));
}
/// Bits of a hash that do not number one of `slots` slots, a power of two.
__device__ __forceinline__ int unused_hash_bits(std::uint32_t slots) {
  return __clz(static_cast<int>(slots)) + 1;
}

/// The entries of a part of a row, by their columns.
///
/// | array   | elements     | content                                        |
/// |---------|--------------|------------------------------------------------|
/// | sums    | entries      | sum of the products                            |
/// | columns | 2 * capacity | column in a slot, or no_column                 |
/// | places  | 2 * capacity | number of its entry, where a column is         |
/// | hits    | entries      | 1: a product was added                         |
template <class Semiring>
struct EntryTable {
  using Sum = typename Semiring::Sum;

  static constexpr std::uint32_t no_column = 0xffffffffu;
  static constexpr int no_place = -1;

  Sum* sums;
  std::uint32_t* columns;
  std::uint16_t* places;
  std::uint8_t* hits;
  std::uint32_t slot_mask;
  int shift;  ///< of a hash

  /// \param storage  structure_table_bytes() of shared memory, aligned to 16 bytes
  __device__ __forceinline__ EntryTable(unsigned char* storage, std::uint32_t capacity)
      : sums(reinterpret_cast<Sum*>(storage)),
        columns(reinterpret_cast<std::uint32_t*>(storage + capacity * sizeof(Sum))),
        places(reinterpret_cast<std::uint16_t*>(columns + 2 * capacity)),
        hits(reinterpret_cast<std::uint8_t*>(places + 2 * capacity)),
        slot_mask(2 * capacity - 1),
        shift(unused_hash_bits(2 * capacity)) {}

  __device__ __forceinline__ std::uint32_t slot_of(std::uint32_t column) const {
    return (column * 2654435769u) >> shift;
  }

  /// Thread `thread` of `threads` empties its slots.
  __device__ __forceinline__ void clear(unsigned int thread, unsigned int threads) {
    for (std::uint32_t slot = thread; slot <= slot_mask; slot += threads) columns[slot] = no_column;
  }
  /// And inserts its entries, once all slots are empty.
  __device__ __forceinline__ void insert(const std::uint32_t* entries, std::uint32_t count,
                                         unsigned int thread, unsigned int threads) {
    for (std::uint32_t i = thread; i < count; i += threads) {
      const std::uint32_t column = entries[i];
      std::uint32_t slot = slot_of(column);
      while (atomicCAS(&columns[slot], no_column, column) != no_column)
        slot = (slot + 1) & slot_mask;
      places[slot] = static_cast<std::uint16_t>(i);
      sums[i] = Semiring::zero();
      hits[i] = 0;
    }
  }
  /// The entry of a column; no_place if there is none.
  __device__ __forceinline__ int find(std::uint32_t column) const {
    for (std::uint32_t slot = slot_of(column);; slot = (slot + 1) & slot_mask) {
      const std::uint32_t found = columns[slot];
      if (found == column) return places[slot];
      if (found == no_column) return no_place;
    }
  }
  /// Adds a product to each lane's entry, unless it is no_place. All lanes of the warp call it.
  __device__ __forceinline__ void add(int place, Sum product) {
    if constexpr (adds_in_any_order<Semiring>) {
      if (place != no_place) atomicAdd(&sums[place], product);
    } else {
      const std::uint32_t rank = rank_among(__match_any_sync(full_warp, place));
      const bool adds = place != no_place;
      for (std::uint32_t turn = 0; __any_sync(full_warp, adds && rank >= turn); ++turn) {
        if (adds && rank == turn) {
          Semiring::add(sums[place], product);
          hits[place] = 1;
        }
        __syncwarp();
      }
    }
  }
};

/// from_lane() of the operand of a semiring.
template <class Operand>
__device__ __forceinline__ Operand lane_operand(Operand operand, int lane_with_it) {
  if constexpr (is_complex<Operand>) {
    return {from_lane(operand.real(), lane_with_it), from_lane(operand.imag(), lane_with_it)};
  } else {
    return static_cast<Operand>(from_lane(operand, lane_with_it));
  }
}

/// The number of columns of [begin, end) that are below `column`.
__device__ __forceinline__ std::int64_t columns_below(const std::uint32_t* columns,
                                                      std::int64_t begin, std::int64_t end,
                                                      std::uint64_t column) {
  const std::int64_t first = begin;
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (columns[middle] < column) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin - first;
}

/// Part of a row of the structure: entries [begin, begin + count).
struct RowPart {
  std::int64_t row;
  std::int64_t begin;
  std::uint32_t count;
  bool is_whole;  ///< all of the row
};

/// The products of a row that one of several warps adds: those of each `warps`th group of 32
/// entries of A, or, if there are few groups, each `warps`th tile of the products of every group.
struct WarpShare {
  std::uint32_t warp = 0;
  std::uint32_t warps = 1;
  bool by_tiles = false;
};

/// Adds the products of the row to the entries of the table, for one warp.
/// \param share  more than one warp only for products that can be added in any order
template <class Semiring>
__device__ __forceinline__ void add_products(const StructureArguments<Semiring>& args,
                                             EntryTable<Semiring>& table, const RowPart& part,
                                             const WarpShare& share) {
  using Operand = typename Semiring::Operand;
  constexpr bool with_values = !std::is_same_v<Operand, NoOperand>;
  const std::uint32_t* const columns = args.structure.col_idx + part.begin;
  const std::uint64_t least = columns[0];
  const std::uint64_t beyond = std::uint64_t{columns[part.count - 1]} + 1;
  const std::int64_t end_a = args.a.row_ptr[part.row + 1];
  const std::uint32_t first_tile = share.by_tiles ? share.warp : 0;
  const std::uint32_t tile_step = share.by_tiles ? share.warps : 1;
  const std::int64_t group_step = 32 * std::int64_t{share.by_tiles ? 1 : share.warps};
  for (std::int64_t group =
           args.a.row_ptr[part.row] + (share.by_tiles ? 0 : 32 * std::int64_t{share.warp});
       group < end_a; group += group_step) {
    // Lane l holds entry group + l of A, and where its row of B begins.
    const std::int64_t i = group + lane();
    std::int64_t begin_b = 0;
    std::uint32_t length = 0;
    Operand factor{};
    if (i < end_a) {
      const std::uint32_t k = args.a.col_idx[i];
      begin_b = args.b.row_ptr[k];
      std::int64_t end_b = args.b.row_ptr[k + 1];
      if (!part.is_whole) {
        const std::int64_t skipped = columns_below(args.b.col_idx, begin_b, end_b, least);
        end_b = begin_b + columns_below(args.b.col_idx, begin_b, end_b, beyond);
        begin_b += skipped;
      }
      length = static_cast<std::uint32_t>(end_b - begin_b);
      if constexpr (with_values) factor = args.a_values[i];
    }
    const std::uint32_t up_to = inclusive_sum_in_warp(length);
    const std::uint32_t before = up_to - length;
    const std::uint32_t total = from_lane(up_to, 31);

    // Few columns of the structure are looked up in each row of B, if these are long.
    const std::uint32_t rounds = (part.count + 31) / 32;
    constexpr std::uint32_t steps_per_search = 16;
    if (total / 32 > 32 * steps_per_search * rounds) {
      for (std::uint32_t lane_b = first_tile; lane_b < 32; lane_b += tile_step) {
        const int from = static_cast<int>(lane_b);
        const std::int64_t row_begin = from_lane(begin_b, from);
        const std::int64_t row_end = row_begin + from_lane(length, from);
        for (std::uint32_t j = lane(); j < 32 * rounds && row_begin < row_end; j += 32) {
          int place = EntryTable<Semiring>::no_place;
          std::int64_t at = row_begin;
          if (j < part.count) {
            at += columns_below(args.b.col_idx, row_begin, row_end, columns[j]);
            if (at < row_end && args.b.col_idx[at] == columns[j]) place = static_cast<int>(j);
          }
          typename Semiring::Sum product{};
          if constexpr (with_values) {
            const Operand of_row = lane_operand(factor, from);
            if (place >= 0) product = Semiring::product(of_row, args.b_values[at]);
          } else {
            product = 1;
          }
          table.add(place, product);
        }
      }
      continue;
    }

    // The loads of a tile are in flight together.
    constexpr std::uint32_t unrolled = 4;
    constexpr std::uint32_t tile = 32 * unrolled;
    for (std::uint64_t start = std::uint64_t{tile} * first_tile; start < total;
         start += std::uint64_t{tile} * tile_step) {
      std::uint32_t column[unrolled];
      std::int64_t at[unrolled];
      int owner[unrolled];
#pragma unroll
      for (std::uint32_t u = 0; u < unrolled; ++u) {
        const std::uint64_t number = start + 32 * u + lane();
        // The last lane whose products begin at or before this number; lanes without products begin
        // where the next one does.
        owner[u] = 0;
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
          const std::uint32_t begins = from_lane(before, owner[u] + distance);
          if (begins <= number) owner[u] += distance;
        }
        at[u] = from_lane(begin_b, owner[u]) +
                static_cast<std::int64_t>(number - from_lane(before, owner[u]));
        column[u] = EntryTable<Semiring>::no_column;
        if (number < total) column[u] = args.b.col_idx[at[u]];
      }
#pragma unroll
      for (std::uint32_t u = 0; u < unrolled; ++u) {
        int place = EntryTable<Semiring>::no_place;
        if (column[u] != EntryTable<Semiring>::no_column) place = table.find(column[u]);
        typename Semiring::Sum product{};
        if constexpr (with_values) {
          const Operand of_row = lane_operand(factor, owner[u]);
          if (place >= 0) product = Semiring::product(of_row, args.b_values[at[u]]);
        } else {
          product = 1;
        }
        table.add(place, product);
      }
    }
  }
}

/// Writes the sums of the entries of a part; thread `thread` of `threads`.
template <class Semiring>
__device__ __forceinline__ void write_entries(const StructureArguments<Semiring>& args,
                                              const EntryTable<Semiring>& table,
                                              const RowPart& part, unsigned int thread,
                                              unsigned int threads) {
  for (std::uint32_t i = thread; i < part.count; i += threads) {
    args.sums[part.begin + i] = table.sums[i];
    if (args.hits != nullptr) args.hits[part.begin + i] = table.hits[i];
  }
}

/// All of a part, for one warp.
/// \param storage  for a table of its entries
template <class Semiring>
__device__ __forceinline__ void compute_part_in_warp(const StructureArguments<Semiring>& args,
                                                     unsigned char* storage, const RowPart& part) {
  EntryTable<Semiring> table(storage, capacity_for(part.count));
  table.clear(lane(), 32);
  __syncwarp();
  table.insert(args.structure.col_idx + part.begin, part.count, lane(), 32);
  __syncwarp();
  add_products(args, table, part, {});
  __syncwarp();
  write_entries(args, table, part, lane(), 32);
  __syncwarp();
}

/// The products of a row, for one warp.
template <class Semiring>
__device__ __forceinline__ std::uint64_t products_of_row(const StructureArguments<Semiring>& args,
                                                         std::int64_t row) {
  std::uint64_t products = 0;
  for (std::int64_t i = args.a.row_ptr[row] + lane(); i < args.a.row_ptr[row + 1]; i += 32) {
    const std::uint32_t k = args.a.col_idx[i];
    products += static_cast<std::uint64_t>(args.b.row_ptr[k + 1] - args.b.row_ptr[k]);
  }
  return sum_in_warp(products);
}

/// Adds the parts of a row to the list, for one warp.
/// \param slices  of each part, for as many blocks; 1 if the list has no space for them
template <class Semiring>
__device__ __forceinline__ void list_parts(const StructureArguments<Semiring>& args,
                                           std::int64_t row, std::int64_t count,
                                           std::uint32_t slices) {
  const auto parts =
      static_cast<std::uint32_t>((count + args.part_entries - 1) / args.part_entries);
  std::uint32_t place = 0;
  if (lane() == 0) {
    const std::uint64_t extra = std::uint64_t{parts} * (slices - 1);
    if (extra != 0 && (extra > most_extra_slices ||
                       atomicAdd(&args.counters->extra_slices, static_cast<std::uint32_t>(extra)) >
                           most_extra_slices - extra))
      slices = 1;
    place = atomicAdd(&args.counters->parts, parts * slices);
  }
  place = from_lane(place, 0);
  slices = from_lane(slices, 0);
  for (std::uint32_t i = lane(); i < parts * slices; i += 32)
    args.parts[place + i] = {static_cast<std::uint32_t>(row), i / slices, i % slices, slices};
}

/// Writes zeros to `count` sums; thread `thread` of `threads`.
template <class Sum>
__device__ __forceinline__ void write_zeros(Sum* sums, std::int64_t count, unsigned int thread,
                                            unsigned int threads) {
  for (std::int64_t i = thread; i < count; i += threads) sums[i] = 0;
}

/// A few lanes count the products of each row with few; the other rows are listed. The columns of
/// such a row are searched for the column of each product.
template <class Semiring>
__global__ void __launch_bounds__(structure_threads)
    count_tiny_rows_kernel(StructureArguments<Semiring> args) {
  trigger_dependent_launch();
  constexpr int lanes = tiny_row_lanes;
  constexpr int chunks = tiny_row_entries / lanes;  // of the row of A
  __shared__ std::uint32_t tables[structure_threads / lanes][2 * tiny_row_entries];
  std::uint32_t* const columns = tables[threadIdx.x / lanes];
  std::uint32_t* const sums = columns + tiny_row_entries;
  const std::uint32_t place = threadIdx.x % lanes;
  const std::int64_t row = (std::int64_t{blockIdx.x} * structure_threads + threadIdx.x) / lanes;
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t begin_a = 0;
  std::int64_t length_a = 0;
  if (row < args.rows) {
    begin = args.structure.row_ptr[row];
    count = args.structure.row_ptr[row + 1] - begin;
    begin_a = args.a.row_ptr[row];
    length_a = args.a.row_ptr[row + 1] - begin_a;
  }
  bool is_tiny = count <= tiny_row_entries && length_a <= tiny_row_entries;
  std::int64_t begin_b[chunks] = {};
  std::uint32_t length[chunks] = {};
  std::uint32_t products = 0;
  const std::uint32_t most = args.limits.tiny_products;
#pragma unroll
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t i = chunk * lanes + place;
    if (is_tiny && count != 0 && i < length_a) {
      const std::uint32_t k = args.a.col_idx[begin_a + i];
      begin_b[chunk] = args.b.row_ptr[k];
      const std::int64_t all = args.b.row_ptr[k + std::int64_t{1}] - begin_b[chunk];
      length[chunk] = all <= most ? static_cast<std::uint32_t>(all) : most + 1;
      products += length[chunk];
    }
  }
  products = sum_in_warp<lanes>(products);
  is_tiny = is_tiny && products <= most;
  const bool is_listed = count != 0 && length_a != 0 && !is_tiny;
  const std::uint32_t listed =
      take_places(&args.counters->warp_rows, is_listed && place == 0 ? 0 : -1);
  if (is_listed && place == 0) args.warp_rows[listed] = static_cast<std::uint32_t>(row);
  if (!is_tiny) {
    if (length_a == 0) write_zeros(args.sums + begin, count, place, lanes);
    count = 0;
  }

  for (std::uint32_t i = place; i < count; i += lanes) {
    columns[i] = args.structure.col_idx[begin + i];
    sums[i] = 0;
  }
  __syncwarp();
#pragma unroll
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (count == 0) length[chunk] = 0;
    if (!__any_sync(full_warp, length[chunk] != 0)) continue;
    const std::uint32_t up_to = inclusive_sum_in_warp<lanes>(length[chunk]);
    const std::uint32_t before = up_to - length[chunk];
    const std::uint32_t total = from_lane(up_to, lanes - 1, lanes);
    const int longest = max_in_warp(static_cast<int>(total));
    for (int first = 0; first < longest; first += lanes) {
      // The last lane whose products begin at or before this number; lanes without products begin
      // where the next one does.
      const std::uint32_t number = static_cast<std::uint32_t>(first) + place;
      int owner = 0;
#pragma unroll
      for (int distance = lanes / 2; distance > 0; distance /= 2)
        if (from_lane(before, owner + distance, lanes) <= number) owner += distance;
      const std::int64_t at = from_lane(begin_b[chunk], owner, lanes) +
                              static_cast<std::int64_t>(number - from_lane(before, owner, lanes));
      if (number >= total) continue;
      const std::uint32_t column = args.b.col_idx[at];
      std::uint32_t low = 0;
      for (auto high = static_cast<std::uint32_t>(count); low < high;) {
        const std::uint32_t middle = (low + high) / 2;
        if (columns[middle] < column) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (low < count && columns[low] == column) atomicAdd(&sums[low], 1u);
    }
  }
  __syncwarp();
  for (std::uint32_t i = place; i < count; i += lanes) args.sums[begin + i] = sums[i];
}

/// A row for one warp, unless it has many entries, or many products that several warps can add: then
/// it is added to the list of parts instead.
template <class Semiring>
__device__ __forceinline__ void compute_row_in_warp(const StructureArguments<Semiring>& args,
                                                    std::int64_t row) {
  const std::int64_t begin = args.structure.row_ptr[row];
  const std::int64_t count = args.structure.row_ptr[row + 1] - begin;
  if (count == 0) return;
  if constexpr (adds_in_any_order<Semiring>) {
    const std::uint64_t products = products_of_row(args, row);
    const bool is_long = count > short_row_entries || products > args.limits.short_products;
    const std::uint64_t slices = products / args.limits.slice_products + 1;
    // Several blocks will add to the sums.
    if (products == 0 || (is_long && slices > 1)) write_zeros(args.sums + begin, count, lane(), 32);
    if (products == 0) return;
    if (is_long) {
      return list_parts(args, row, count,
                        slices < most_slices ? static_cast<std::uint32_t>(slices) : most_slices);
    }
  } else if (count > short_row_entries) {
    return list_parts(args, row, count, 1);
  }
  unsigned char* const storage =
      dynamic_shared_memory() +
      threadIdx.x / 32 * structure_table_bytes<Semiring>(short_row_entries);
  compute_part_in_warp(args, storage, {row, begin, static_cast<std::uint32_t>(count), true});
}

/// One warp computes each row; counts: each listed row.
template <class Semiring>
__global__ void __launch_bounds__(structure_threads)
    compute_short_rows_kernel(StructureArguments<Semiring> args) {
  wait_for_preceding_kernels();
  trigger_dependent_launch();
  const std::int64_t warp =
      std::int64_t{blockIdx.x} * structure_warps + static_cast<int>(threadIdx.x / 32);
  if constexpr (adds_in_any_order<Semiring>) {
    const std::uint32_t rows = args.counters->warp_rows;
    for (std::int64_t i = warp; i < rows; i += std::int64_t{gridDim.x} * structure_warps)
      compute_row_in_warp(args, args.warp_rows[i]);
  } else {
    if (warp < args.rows) compute_row_in_warp(args, warp);
  }
}

/// Blocks take parts of the list. Counts: all warps of a block share a table, and several blocks
/// may add to the sums of a part. Other sums: each warp takes an equal share of the entries, and
/// all products of their columns.
template <class Semiring>
__global__ void __launch_bounds__(structure_threads)
    compute_long_rows_kernel(StructureArguments<Semiring> args) {
  wait_for_preceding_kernels();
  __shared__ std::uint32_t next;
  const unsigned int warp = threadIdx.x / 32;
  const std::uint32_t parts = args.counters->parts;
  for (;;) {
    if (threadIdx.x == 0) next = atomicAdd(&args.counters->taken, 1u);
    __syncthreads();
    const std::uint32_t taken = next;
    __syncthreads();
    if (taken >= parts) return;
    const std::int64_t row = args.parts[taken].row;
    const std::int64_t row_begin = args.structure.row_ptr[row];
    const std::int64_t row_end = args.structure.row_ptr[row + 1];
    RowPart part{row, row_begin + std::int64_t{args.parts[taken].number} * args.part_entries, 0,
                 row_end - row_begin <= args.part_entries};
    const std::int64_t left = row_end - part.begin;
    part.count = left < args.part_entries ? static_cast<std::uint32_t>(left) : args.part_entries;
    if constexpr (adds_in_any_order<Semiring>) {
      EntryTable<Semiring> table(dynamic_shared_memory(), capacity_for(part.count));
      table.clear(threadIdx.x, structure_threads);
      __syncthreads();
      table.insert(args.structure.col_idx + part.begin, part.count, threadIdx.x, structure_threads);
      __syncthreads();
      const std::uint32_t slices = args.parts[taken].slices;
      WarpShare share{args.parts[taken].slice * structure_warps + warp, slices * structure_warps};
      const std::int64_t groups = (args.a.row_ptr[row + 1] - args.a.row_ptr[row] + 31) / 32;
      share.by_tiles = groups < 2 * std::int64_t{share.warps};
      add_products(args, table, part, share);
      __syncthreads();
      if (slices == 1) {
        write_entries(args, table, part, threadIdx.x, structure_threads);
      } else {
        for (std::uint32_t i = threadIdx.x; i < part.count; i += structure_threads)
          if (table.sums[i] != 0) atomicAdd(&args.sums[part.begin + i], table.sums[i]);
      }
      __syncthreads();
    } else {
      const std::uint32_t share = args.part_entries / structure_warps;
      const std::uint32_t from = warp * share;
      if (from < part.count) {
        const std::uint32_t own = part.count - from < share ? part.count - from : share;
        compute_part_in_warp(
            args, dynamic_shared_memory() + warp * structure_table_bytes<Semiring>(share),
            {row, part.begin + from, own, false});
      }
    }
  }
}

}  // namespace sortie::spgemm::cuda
