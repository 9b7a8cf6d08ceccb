// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/packed_field.cuh"
#include "segsort/cuda/tile_sort.cuh"

/// Sort of one array of keys of 4 or 8 bytes that fits the tile of a block: one kernel without
/// temporary storage.
namespace sortie::segsort {

/// A tile of keys whose values are gathered: keys that agree are not interchangeable.
template <class Word, int Warps, int Items>
struct ArrayTile : Tile<Word, 0, Warps, Items> {
  using Keys = Tile<Word, 0, Warps, Items>;
  static constexpr int value_bytes = 4;  ///< what sort_tile() is told
};

/// Sorts an array in one block. Values are not held in the tile: they are gathered when the keys
/// are in order.
///
///   shared memory           the tile: keys, words
///   registers of thread t   while loading and storing: items t, threads + t, ...; while sorting: the
///                           words of positions Items t .. Items t + Items - 1
///
/// \param values  `units` units for each item, none if that is 0; without `in`, the values are positions
/// \pre arguments.keys_out is null, or holds the keys; values.in is not values.out
template <class Word, int Warps, int Items>
__global__ void __launch_bounds__(32 * Warps)
    array_tile_kernel(Arguments<Word> arguments, PackedField values, std::uint32_t items) {
  using T = ArrayTile<Word, Warps, Items>;
  T& tile = tile_at<T>(0);
  typename T::Keys& own_keys = tile;
  const auto& codec = arguments.codec;
  const auto length = static_cast<int>(items);
  Word keys[T::items];
  std::uint32_t words[T::items];
  load_items(own_keys, keys, arguments.keys_in, nullptr, length);
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = r * T::threads + T::thread();
    words[r] = e < length ? static_cast<std::uint32_t>(e) : 0xffffffffu;
  }
  keep_keys(own_keys, keys, codec);
  sort_tile(tile, keys, words, length, 0, codec);
  T::synchronise();
  if (arguments.keys_out != nullptr)
    store_items(own_keys, codec, length, arguments.keys_out, nullptr);
  const auto place_of = [&](std::uint32_t position) {
    return tile.word(static_cast<int>(position)) & T::index_mask;
  };
  with_unit_of(values.unit, [&]<class Unit>() {
    auto* const out = static_cast<Unit*>(values.out);
    if (values.in == nullptr) {
      for (std::uint32_t i = threadIdx.x; i < items; i += T::threads)
        out[i] = static_cast<Unit>(place_of(i));
      return;
    }
    const auto* const in = static_cast<const Unit*>(values.in);
    for (std::uint32_t i = threadIdx.x; i < items * values.units; i += T::threads)
      out[i] = in[place_of(i / values.units) * values.units + i % values.units];
  });
}

}  // namespace sortie::segsort
