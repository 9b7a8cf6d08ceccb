// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "sortie/device_buffer.hpp"
#include "sortie/device_csr.hpp"

namespace sortie::spgemm::cuda {

/// A part of C that one block computes: consecutive rows, or a range of entries of one row. Its
/// *factors* are the entries of A that have products in it.
struct ListTile {
  std::int64_t first_word = 0;  ///< in ProductLists::words; a multiple of 4
  std::int64_t a_begin = 0;     ///< the first entry of A
  std::int64_t c_begin = 0;     ///< the first entry of C
  std::uint32_t products = 0;
  std::uint32_t factors = 0;
  std::uint32_t entries = 0;     ///< of C: lists
  std::uint32_t columns = 0;     ///< lists are in columns, so many or fewer; 0: in the order of C
  std::uint32_t is_indexed = 0;  ///< 0: the factors are consecutive entries of A
  std::uint32_t number = 0;      ///< while the lists are made
};

/// What belongs to 32 products of a tile.
struct ListStep {
  std::uint32_t factor_begins;  ///< bit i: product i is the first of its factor
  std::uint16_t factors_before;
  std::uint16_t lists_before;
};

/// Products are numbered in groups of 4 steps, one product of each step for a lane.
inline constexpr std::uint32_t group_products = 128;

/// The arrays of a tile, as positions after its first word.
///
/// | array   | bytes                                                                         |
/// |---------|-------------------------------------------------------------------------------|
/// | offsets | 4 per factor: what leads from a product's number to its entry of B            |
/// | begins  | lists in the order of C: a bit per product, 1 for the first of each list      |
/// | lengths | lists in columns: 2 per column, the number of its products                    |
/// | steps   | 8 for each 32 products                                                        |
/// | codes   | place of each product among those of all lists: 12 bits, in large tiles 16    |
/// | slots   | lists in columns: 2 per list, its entry of C                                  |
/// | indices | 4 per factor, if they are not consecutive                                     |
struct ListArrays {
  std::uint32_t begins_or_lengths;
  std::uint32_t steps;
  std::uint32_t codes;
  std::uint32_t slots;
  std::uint32_t indices;
  std::uint32_t end;  ///< a multiple of 4

#ifdef __CUDACC__
  __host__ __device__
#endif
      constexpr ListArrays(const ListTile& tile, bool has_short_codes)
      : begins_or_lengths(tile.factors) {
    const std::uint32_t groups = (tile.products + group_products - 1) / group_products;
    steps =
        (begins_or_lengths + (tile.columns != 0 ? (tile.columns + 1) / 2 : 4 * groups) + 3) / 4 * 4;
    codes = steps + 8 * groups;
    slots = codes + group_words(has_short_codes) * groups;
    indices = slots + (tile.columns != 0 ? (tile.entries + 1) / 2 : 0);
    end = (indices + (tile.is_indexed != 0 ? tile.factors : 0) + 3) / 4 * 4;
  }

  /// Words of the codes of a group: for each lane 4 codes, in a word and a half of one or two.
#ifdef __CUDACC__
  __host__ __device__
#endif
      static constexpr std::uint32_t
      group_words(bool has_short_codes) {
    return has_short_codes ? 48 : 64;
  }
};

/// Tiles by their weight, the number of products and factors, which shared memory holds.
struct ListClass {
  std::uint32_t max_weight;
  int threads;         ///< of a block that builds or adds a tile
  int items;           ///< products of a thread that builds a tile
  int threads_per_sm;  ///< that registers allow at least, of blocks that add
  [[nodiscard]] constexpr bool has_short_codes() const { return max_weight <= 4096; }
};
/// Many threads hide the latency of the loads of B. On an H100, new values for ego-Twitter took
/// 3.95 ms with 1280 threads a multiprocessor and 3.25 with 1536.
inline constexpr std::array<ListClass, 4> tile_classes{
    {{2048, 256, 8, 2048}, {3072, 256, 12, 1536}, {6144, 512, 12, 1536}, {16384, 1024, 16, 1024}}};

/// Bytes of shared memory for a tile: values of products and factors, offsets, and bits or lengths.
template <class Value>
[[nodiscard]] constexpr std::size_t list_tile_bytes(std::size_t weight) {
  return (sizeof(Value) + 3) * weight + (weight + 127) / 128 * 16 + 64;
}

/// The tiles of a class, which follow each other.
struct ListTiles {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t max_weight = 0;  ///< of these tiles
};

/// For each entry of C the list of its products, in the order of A's entries. With it, new values
/// need neither columns nor row_ptr: the products of a tile are computed in the order in which A
/// and B have them, each is written to its place in its list, and the lists are added. Where they
/// are long, the products with the same number in their lists are next to each other, and longer
/// lists come first: lanes of a warp have about as many products, and read them without conflicts.
struct ProductLists {
  DeviceBuffer<ListTile> tiles;
  std::array<ListTiles, tile_classes.size()> of_class;
  DeviceBuffer<std::uint32_t> words;  ///< ListArrays of each tile
  /// Rows of C without lists, of which some entry has too many products. They are in no tile.
  std::uint64_t other_rows = 0;

  [[nodiscard]] std::uint64_t bytes() const { return tiles.bytes() + words.bytes(); }
};

/// The structures of a product. Columns ascend in every row.
struct ListOperands {
  std::int64_t rows = 0;
  const std::int64_t* a_row_ptr = nullptr;
  const std::uint32_t* a_col_idx = nullptr;
  const std::int64_t* b_row_ptr = nullptr;
  const std::uint32_t* b_col_idx = nullptr;
  const std::int64_t* c_row_ptr = nullptr;
  const std::uint32_t* c_col_idx = nullptr;
};

/// The most weight of a tile that the current device has the shared memory for.
/// \param tile_bytes  list_tile_bytes of the type of values
[[nodiscard]] std::uint32_t max_list_weight(std::size_t (*tile_bytes)(std::size_t));

/// Makes the lists of all rows whose tiles fit `max_weight`. The host waits for sizes.
/// \param products    of each row; on return 0 for rows that have lists, unchanged for others
/// \param max_weight  of a tile
/// \param budget      bytes, for the lists and what making them takes
/// \pre A, B have less than 2^32 entries, A less than 2^32 - 1 rows
/// \throws Error (out_of_memory, device)
/// Complexity: O(n log m) for n products and rows of C of m entries.
[[nodiscard]] ProductLists make_product_lists(const ListOperands& operands, std::uint64_t* products,
                                              std::uint32_t max_weight, std::uint64_t budget,
                                              cudaStream_t stream);

/// Computes the values of all entries of C that have lists. Only launches kernels.
template <class Value>
void add_product_lists(const ProductLists& lists, const Value* a_values, const Value* b_values,
                       Value* c_values, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
