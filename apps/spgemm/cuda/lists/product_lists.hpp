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
  std::int64_t first_product = 0;  ///< in `codes`; a multiple of 32
  std::int64_t first_factor = 0;   ///< in `offsets`
  std::int64_t first_index = -1;   ///< in `indices`; -1: the factors are consecutive entries of A
  std::int64_t a_begin = 0;        ///< the first entry of A
  std::int64_t c_begin = 0;        ///< the first entry of C
  std::int64_t first_slot = -1;    ///< in `slots`; -1: lists are in the order of the entries of C
  std::uint32_t products = 0;
  std::uint32_t factors = 0;
  std::uint32_t entries = 0;
  std::uint32_t number = 0;  ///< while the lists are made
};

/// What belongs to 32 products of a tile.
struct ListWord {
  std::uint32_t factor_begins;  ///< bit i: product i is the first of its factor
  std::uint16_t factors_before;
  std::uint16_t lists_before;
};

/// Tiles by their weight, the number of products and factors, which shared memory holds.
struct ListClass {
  std::uint32_t max_weight;
  int threads;  ///< of a block that builds or adds a tile
  int items;    ///< products of a thread that builds a tile
};
inline constexpr std::array<ListClass, 3> tile_classes{
    {{3072, 256, 12}, {6144, 512, 12}, {16384, 1024, 16}}};

/// Bytes of shared memory for a tile: values and offsets of factors; values, codes, first codes and bits
/// of products.
template <class Value>
[[nodiscard]] constexpr std::size_t list_tile_bytes(std::size_t weight) {
  return (sizeof(Value) + sizeof(std::uint32_t)) * weight + (weight + 31) / 32 * 12 + 128;
}

/// The tiles of a class, which follow each other.
struct ListTiles {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t max_weight = 0;  ///< of these tiles
};

/// For each entry of C the list of its products, in the order of A's entries. With it, new values
/// need neither columns nor row_ptr: the products of a tile are computed in the order in which A and
/// B have them, and each entry adds those of its list. Where the lengths of a tile's lists differ,
/// longer lists come first, so that lanes of a warp have about as many products.
///
/// | array       | bytes                                                              |
/// |-------------|--------------------------------------------------------------------|
/// | codes       | 2 per product: its number in the tile, by list                     |
/// | words       | 8 for each 32 products                                             |
/// | list_begins | 4 for each 32 products                                             |
/// | offsets     | 4 per factor: what leads from a product's number to its entry of B |
/// | indices     | 4 per factor of tiles whose factors are not consecutive            |
/// | slots       | 2 per entry of C of tiles whose lists have several lengths         |
/// | tiles       | 64 for each 1536 products or more                                  |
struct ProductLists {
  DeviceBuffer<ListTile> tiles;
  std::array<ListTiles, tile_classes.size()> of_class;
  DeviceBuffer<std::uint16_t> codes;
  DeviceBuffer<ListWord> words;
  DeviceBuffer<std::uint32_t> list_begins;  ///< bit i of each word: code i is the first of its list
  DeviceBuffer<std::uint32_t> offsets;
  DeviceBuffer<std::uint32_t> indices;
  DeviceBuffer<std::uint16_t> slots;  ///< the first product of each entry
  /// Rows of C without lists. Their entries are in no tile.
  std::uint64_t other_rows = 0;

  [[nodiscard]] std::uint64_t bytes() const {
    return tiles.bytes() + codes.bytes() + words.bytes() + list_begins.bytes() + offsets.bytes() +
           indices.bytes() + slots.bytes();
  }
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
