// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/lists/product_lists.hpp"

#include <algorithm>
#include <array>
#include <cub/block/block_radix_sort.cuh>
#include <span>
#include <utility>

#include "apps/spgemm/cuda/device_product.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/merge_path.cuh"
#include "primitives/cuda/warp.cuh"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// Rows that follow each other share a tile up to this weight.
constexpr std::int64_t kTileWeight = 1024;
/// Rows of more weight are divided into ranges of entries, with kRangeProducts products each; those
/// of the last entry may come on top. On an H100, new values for ego-Twitter took 3.06 ms with
/// whole rows of up to 16,384, 2.65 with 3072 and ranges of 2304, 3.10 with 2048 and 1536, which
/// cut the products of a factor into more parts.
constexpr std::uint32_t kRowWeight = 3072;
constexpr std::int64_t kRangeProducts = 2304;
/// Products of an entry of C, in the mean of a tile, above which its lists are in columns, with 2
/// bytes more for each entry. On an H100, ms of new values with 2 and with 1.3: 7-point grid (2.0
/// products an entry) 2.00, 2.05; like web-Google (1.7) 0.344, 0.343.
constexpr std::uint32_t kProductsForColumns = 2;
constexpr int kThreads = 256;

/// Entries of C that a tile computes, of all rows from `first_row` to `end_row`.
struct TileSource {
  std::uint32_t first_row;
  std::uint32_t end_row;
  std::int64_t c_begin;
  std::int64_t c_end;
  std::uint32_t is_range;  ///< the tile has a part of one row
  std::uint32_t weight;
};

/// First of `count` ascending columns that is not below `column`.
__device__ __forceinline__ std::uint32_t lower_bound(const std::uint32_t* columns,
                                                     std::uint32_t count, std::uint32_t column) {
  return first_not(std::uint32_t{0}, count, [&](std::uint32_t i) { return columns[i] < column; });
}

/// The products of an entry of A in a tile.
struct FactorProducts {
  std::int64_t first;  ///< entry of B
  std::uint32_t count;
};

__device__ __forceinline__ FactorProducts products_of(const ListOperands& operands,
                                                      const TileSource& source,
                                                      std::int64_t entry) {
  const std::uint32_t row = operands.a_col_idx[entry];
  const std::int64_t begin = operands.b_row_ptr[row];
  const auto length = static_cast<std::uint32_t>(operands.b_row_ptr[row + 1] - begin);
  if (source.is_range == 0) return {begin, length};
  const std::uint32_t* const columns = operands.b_col_idx + begin;
  const std::uint32_t from = lower_bound(columns, length, operands.c_col_idx[source.c_begin]);
  const std::uint32_t last = operands.c_col_idx[source.c_end - 1];
  const std::uint32_t to = from + first_not(std::uint32_t{0}, length - from, [&](std::uint32_t i) {
                             return columns[from + i] <= last;
                           });
  return {begin + from, to - from};
}

// One thread per row: whether a tile begins with it. `weights` has the weights of the rows before.
// Rows that are too long for a tile count with kTileWeight, so that the next row begins a tile.
__global__ void __launch_bounds__(kThreads)
    mark_tiles_kernel(std::int64_t rows, const std::int64_t* weights, std::int64_t* begins) {
  const std::int64_t row = global_thread();
  if (row > rows) return;
  if (row == rows) {
    begins[row] = 0;
    return;
  }
  const bool is_long = weights[row + 1] - weights[row] >= kTileWeight;
  begins[row] =
      row == 0 || is_long || weights[row] / kTileWeight != weights[row - 1] / kTileWeight ? 1 : 0;
}

/// Class of a tile; -1 if it is empty.
__device__ __forceinline__ int class_of_tile(const ListTile& tile) {
  if (tile.products == 0) return -1;
  constexpr auto classes = tile_classes;
  const std::uint32_t weight = tile.products + tile.factors;
  int found = 0;
  while (found + 1 < static_cast<int>(classes.size()) && weight > classes[found].max_weight)
    ++found;
  return found;
}

__device__ __forceinline__ bool has_short_codes(int tile_class) {
  constexpr auto classes = tile_classes;
  return classes[tile_class].has_short_codes();
}

// One block per tile: its products and factors.
__global__ void __launch_bounds__(kThreads)
    count_tiles_kernel(const ListOperands operands, const TileSource* sources, ListTile* tiles,
                       std::uint32_t most, std::int64_t* word_sums) {
  __shared__ std::uint32_t sums[3];
  const TileSource source = sources[blockIdx.x];
  if (threadIdx.x < 3) sums[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t begin = operands.a_row_ptr[source.first_row];
  const std::int64_t end = operands.a_row_ptr[source.end_row];
  // A row that is too long has its length from the caller.
  const bool is_known_long = source.is_range == 0 && source.weight > most;
  std::uint32_t products = 0;
  std::uint32_t factors = 0;
  if (!is_known_long) {
    for (std::int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
      const std::uint32_t own = products_of(operands, source, i).count;
      products += own;
      factors += own != 0 ? 1 : 0;
    }
  }
  std::uint32_t longest = 0;
  if (!is_known_long)
    for (std::uint32_t row = source.first_row + threadIdx.x; row < source.end_row; row += kThreads)
      longest = max(longest, static_cast<std::uint32_t>(operands.a_row_ptr[row + 1] -
                                                        operands.a_row_ptr[row]));
  atomicMax(&sums[2], longest);
  products = sum_in_warp(products);
  factors = sum_in_warp(factors);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums[0], products);
    atomicAdd(&sums[1], factors);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  ListTile tile;
  tile.a_begin = begin;
  tile.c_begin = source.c_begin;
  tile.products = sums[0];
  tile.factors = sums[1];
  tile.entries = tile.products == 0 ? 0 : static_cast<std::uint32_t>(source.c_end - source.c_begin);
  tile.is_indexed = tile.factors != 0 && tile.factors != end - begin ? 1 : 0;
  if (tile.products > kProductsForColumns * tile.entries)
    tile.columns = min(min(sums[2], tile.factors), tile.products - tile.entries + 1);
  tiles[blockIdx.x] = tile;
  const int own = class_of_tile(tile);
  word_sums[blockIdx.x] = own < 0 ? 0 : ListArrays(tile, has_short_codes(own)).end;
}

/// What the host reads: the tiles of each class, and their greatest weights.
struct ClassCounts {
  std::uint32_t count[tile_classes.size()];
  std::uint32_t max_weight[tile_classes.size()];
};

// One thread per tile: its place in the arrays and in the list of its class.
__global__ void __launch_bounds__(kThreads)
    place_tiles_kernel(std::uint32_t count, ListTile* tiles, const std::int64_t* word_sums,
                       ClassCounts* counts, std::uint32_t* numbers) {
  const auto i = static_cast<std::uint32_t>(global_thread());
  int own = -1;
  if (i < count) {
    ListTile& tile = tiles[i];
    tile.number = i;
    tile.first_word = word_sums[i];
    own = class_of_tile(tile);
    if (own >= 0) atomicMax(&counts->max_weight[own], tile.products + tile.factors);
  }
  const std::uint32_t place = take_places(counts->count, own);
  if (own >= 0) numbers[static_cast<std::size_t>(own) * count + place] = i;
}

struct BuildArguments {
  ListOperands operands;
  const TileSource* sources;
  const ListTile* tiles;
  std::uint32_t* words;
};

/// Shared memory of build_lists_kernel.
template <int Threads, int Items>
struct BuildShared {
  static constexpr int words = Threads * Items / 32;
  using Sort = cub::BlockRadixSort<std::uint32_t, Threads, Items>;
  typename Sort::TempStorage sort;
  std::uint32_t factor_begins[words];  ///< bits of products, as in ListWord
  std::uint32_t list_begins[words];    ///< of codes
  std::uint16_t factors_before[words];
  std::uint32_t warp_sums[Threads / 32];
  std::uint32_t last[Threads];                        ///< the last key of each thread
  std::uint16_t first_by_entry[Threads * Items + 1];  ///< first code of each entry, lists by entry
  std::uint16_t ranks[Threads * Items];               ///< of each entry, longest lists first
  std::uint16_t columns[Threads * Items + 1];         ///< products before each column
};

// Makes the lists of a tile, one block per tile.
//
//   keys[i] of thread t     product Items t + i: its entry of C, and its number; sorted by entry
//   levels[i] of thread t   entry Items t + i: its length, and its number; sorted, longest first
template <int Threads, int Items, bool ShortCodes>
__global__ void __launch_bounds__(Threads) build_lists_kernel(const BuildArguments args) {
  constexpr int warps = Threads / 32;
  constexpr int most_words = Threads * Items / 32;
  static_assert(most_words <= Threads);
  auto& shared = *reinterpret_cast<BuildShared<Threads, Items>*>(dynamic_shared_memory());
  auto& [sort_storage, factor_begins, list_begins, factors_before, warp_sums, last, first_by_entry,
         ranks, columns] = shared;
  const ListTile tile = args.tiles[blockIdx.x];
  const TileSource source = args.sources[tile.number];
  const ListOperands& operands = args.operands;
  const ListArrays arrays(tile, ShortCodes);
  std::uint32_t* const offsets = args.words + tile.first_word;
  std::uint32_t* const begins_or_lengths = offsets + arrays.begins_or_lengths;
  std::uint32_t* const indices = offsets + arrays.indices;
  const std::int64_t a_end = operands.a_row_ptr[source.end_row];
  if (threadIdx.x < most_words) {
    factor_begins[threadIdx.x] = 0;
    list_begins[threadIdx.x] = 0;
  }
  __syncthreads();
  // Products in the upper half, factors in the lower one.
  std::uint32_t before = 0;
  for (std::int64_t from = tile.a_begin; from < a_end; from += Threads) {
    const std::int64_t entry = from + threadIdx.x;
    FactorProducts own{};
    if (entry < a_end) own = products_of(operands, source, entry);
    const auto sums =
        prefix_sum_in_block<warps>(own.count << 16 | (own.count != 0 ? 1u : 0u), warp_sums);
    if (own.count != 0) {
      const std::uint32_t f = (before + sums.before) & 0xffffu;
      const std::uint32_t product = (before + sums.before) >> 16;
      offsets[f] = static_cast<std::uint32_t>(own.first) - product;
      if (tile.is_indexed != 0) indices[f] = static_cast<std::uint32_t>(entry);
      atomicOr(&factor_begins[product / 32], 1u << product % 32);
    }
    before += sums.total;
  }
  __syncthreads();
  const std::uint32_t factors_of_word =
      threadIdx.x < most_words ? __popc(factor_begins[threadIdx.x]) : 0;
  const auto factor_sums = prefix_sum_in_block<warps>(factors_of_word, warp_sums);
  if (threadIdx.x < most_words)
    factors_before[threadIdx.x] = static_cast<std::uint16_t>(factor_sums.before);
  __syncthreads();

  std::uint32_t keys[Items];
  for (int i = 0; i < Items; ++i) {
    const std::uint32_t p = threadIdx.x * Items + i;
    keys[i] = ~0u;
    if (p >= tile.products) continue;
    const std::uint32_t bits = factor_begins[p / 32] & (0xffffffffu >> (31 - p % 32));
    const std::uint32_t f = factors_before[p / 32] + __popc(bits) - 1;
    const std::uint32_t column = operands.b_col_idx[p + offsets[f]];
    std::int64_t begin = source.c_begin;
    std::int64_t end = source.c_end;
    if (source.is_range == 0) {
      const std::int64_t entry = tile.is_indexed != 0 ? indices[f] : tile.a_begin + f;
      // The last row that begins at or before the entry.
      const std::uint32_t row =
          source.first_row +
          first_not(std::uint32_t{0}, source.end_row - source.first_row, [&](std::uint32_t r) {
            return operands.a_row_ptr[source.first_row + r + 1] <= entry;
          });
      begin = operands.c_row_ptr[row];
      end = operands.c_row_ptr[row + 1];
    }
    const std::uint32_t place =
        static_cast<std::uint32_t>(begin - source.c_begin) +
        lower_bound(operands.c_col_idx + begin, static_cast<std::uint32_t>(end - begin), column);
    keys[i] = place << 16 | p;
  }
  // Stable: the products of an entry stay in order. Keys of no product have all bits of an entry.
  const int bits = 32 - __clz(static_cast<int>(tile.entries));
  typename BuildShared<Threads, Items>::Sort(sort_storage).Sort(keys, 16, 16 + bits);
  last[threadIdx.x] = keys[Items - 1] >> 16;
  __syncthreads();
  const std::uint32_t own_first = threadIdx.x * Items;
  {
    std::uint32_t previous = threadIdx.x == 0 ? ~0u : last[threadIdx.x - 1];
    for (int i = 0; i < Items; ++i) {
      const std::uint32_t entry = keys[i] >> 16;
      if (own_first + i < tile.products && entry != previous)
        first_by_entry[entry] = static_cast<std::uint16_t>(own_first + i);
      previous = entry;
    }
    if (threadIdx.x == 0) first_by_entry[tile.entries] = static_cast<std::uint16_t>(tile.products);
  }
  __syncthreads();
  const auto length_of = [&](std::uint32_t entry) {
    return std::uint32_t{first_by_entry[entry + 1]} - first_by_entry[entry];
  };
  const bool is_sorted = tile.columns != 0;
  if (is_sorted) {
    std::uint32_t levels[Items];
    const int length_bits = 32 - __clz(static_cast<int>(tile.columns) + 1);
    for (int i = 0; i < Items; ++i) {
      const std::uint32_t entry = own_first + i;
      const bool is_entry = entry < tile.entries;
      levels[i] = is_entry ? ((1u << length_bits) - 1 - length_of(entry)) << 16 | entry : ~0u;
    }
    // Stable: entries of the same length stay in order, and keys of no entry come last.
    typename BuildShared<Threads, Items>::Sort(sort_storage).Sort(levels, 16, 16 + length_bits);
    const auto length_at = [&](int i) {
      return levels[i] != ~0u ? length_of(levels[i] & 0xffffu) : 0u;
    };
    last[threadIdx.x] = length_at(0);
    auto* const slots = reinterpret_cast<std::uint16_t*>(offsets + arrays.slots);
    for (int i = 0; i < Items; ++i) {
      if (levels[i] == ~0u) break;
      const std::uint32_t entry = levels[i] & 0xffffu;
      ranks[entry] = static_cast<std::uint16_t>(own_first + i);
      slots[own_first + i] = static_cast<std::uint16_t>(entry);
    }
    __syncthreads();
    for (int i = 0; i < Items; ++i) {
      const std::uint32_t own = length_at(i);
      const std::uint32_t next = i + 1 < Items               ? length_at(i + 1)
                                 : threadIdx.x + 1 < Threads ? last[threadIdx.x + 1]
                                                             : 0u;
      for (std::uint32_t k = next; k < own; ++k)
        columns[k] = static_cast<std::uint16_t>(own_first + i + 1);
    }
    const std::uint32_t column_count = last[0];
    auto* const lengths = reinterpret_cast<std::uint16_t*>(begins_or_lengths);
    std::uint32_t before_column = 0;
    __syncthreads();
    for (std::uint32_t from = 0; from < tile.columns; from += Threads) {
      const std::uint32_t k = from + threadIdx.x;
      const std::uint32_t own = k < column_count ? columns[k] : 0;
      const auto sums = prefix_sum_in_block<warps>(own, warp_sums);
      if (k < tile.columns) lengths[k] = static_cast<std::uint16_t>(own);
      if (k < column_count) columns[k] = static_cast<std::uint16_t>(before_column + sums.before);
      before_column += sums.total;
    }
    __syncthreads();
  }
  const std::uint32_t groups = (tile.products + group_products - 1) / group_products;
  std::uint16_t places[Items];
  for (int i = 0; i < Items; ++i) {
    const std::uint32_t p = own_first + i;
    if (p < tile.products) {
      const std::uint32_t entry = keys[i] >> 16;
      const std::uint32_t in_list = p - first_by_entry[entry];
      places[i] = static_cast<std::uint16_t>(is_sorted ? columns[in_list] + ranks[entry] : p);
      if (in_list == 0) atomicOr(&list_begins[p / 32], 1u << p % 32);
    } else if (p < groups * group_products) {
      atomicOr(&list_begins[p / 32], 1u << p % 32);  // the last list ends here
    }
  }
  __syncthreads();
  std::uint16_t* const place_of = ranks;
  for (int i = 0; i < Items; ++i)
    if (own_first + i < tile.products) place_of[keys[i] & 0xffffu] = places[i];
  const std::uint32_t lists_of_step =
      threadIdx.x < most_words ? __popc(list_begins[threadIdx.x]) : 0;
  const auto list_sums = prefix_sum_in_block<warps>(lists_of_step, warp_sums);
  if (threadIdx.x < 4 * groups) {
    reinterpret_cast<ListStep*>(offsets + arrays.steps)[threadIdx.x] = {
        factor_begins[threadIdx.x], factors_before[threadIdx.x],
        static_cast<std::uint16_t>(list_sums.before)};
    if (!is_sorted) begins_or_lengths[threadIdx.x] = list_begins[threadIdx.x];
  }
  for (std::uint32_t i = threadIdx.x; i < 32 * groups; i += Threads) {
    std::uint32_t own[4];
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t product = i / 32 * group_products + k * 32 + i % 32;
      own[k] = product < tile.products ? place_of[product] : 0;
    }
    std::uint32_t* const codes =
        offsets + arrays.codes + i / 32 * ListArrays::group_words(ShortCodes);
    if constexpr (ShortCodes) {
      codes[i % 32] = own[0] | own[1] << 12 | own[2] << 24;
      reinterpret_cast<std::uint16_t*>(codes + 32)[i % 32] =
          static_cast<std::uint16_t>(own[2] >> 8 | own[3] << 4);
    } else {
      codes[i % 32] = own[0] | own[1] << 16;
      codes[32 + i % 32] = own[2] | own[3] << 16;
    }
  }
}

// Counts the products of each entry of long rows; one warp per entry of A. Blocks of the same x
// have the same row.
__global__ void __launch_bounds__(kThreads)
    count_entry_products_kernel(const ListOperands operands, const std::uint32_t* rows,
                                const std::int64_t* first_counts, unsigned long long* counts) {
  const std::uint32_t row = rows[blockIdx.x];
  const std::int64_t end = operands.a_row_ptr[row + 1];
  const std::int64_t c_begin = operands.c_row_ptr[row];
  const auto length = static_cast<std::uint32_t>(operands.c_row_ptr[row + 1] - c_begin);
  unsigned long long* const own = counts + first_counts[blockIdx.x];
  constexpr int warps = kThreads / 32;
  for (std::int64_t i = operands.a_row_ptr[row] + blockIdx.y * warps + threadIdx.x / 32; i < end;
       i += gridDim.y * warps) {
    const std::uint32_t factor = operands.a_col_idx[i];
    const std::int64_t b_end = operands.b_row_ptr[factor + 1];
    for (std::int64_t b = operands.b_row_ptr[factor] + threadIdx.x % 32; b < b_end; b += 32)
      atomicAdd(own + lower_bound(operands.c_col_idx + c_begin, length, operands.b_col_idx[b]),
                1ull);
  }
}

// One thread per tile: marks the rows of tiles that are too heavy.
__global__ void __launch_bounds__(kThreads)
    mark_rows_kernel(std::uint32_t count, const TileSource* sources, const ListTile* tiles,
                     std::uint32_t most, std::uint8_t* is_left) {
  const auto i = static_cast<std::uint32_t>(global_thread());
  if (i >= count) return;
  if (tiles[i].products + std::uint64_t{tiles[i].factors} > most) is_left[sources[i].first_row] = 1;
}

// One thread per tile: empties the tiles of marked rows.
__global__ void __launch_bounds__(kThreads)
    empty_tiles_kernel(std::uint32_t count, const TileSource* sources, const std::uint8_t* is_left,
                       ListTile* tiles, std::int64_t* word_sums) {
  const auto i = static_cast<std::uint32_t>(global_thread());
  if (i >= count || sources[i].is_range == 0 || is_left[sources[i].first_row] == 0) return;
  tiles[i].products = 0;
  word_sums[i] = 0;
}

/// Replaces numbers by the sums of those before them. \return the last
std::int64_t sum_up(DeviceBuffer<std::int64_t>& numbers, cudaStream_t stream) {
  exclusive_sum(numbers.data(), static_cast<std::int64_t>(numbers.size()), stream);
  std::int64_t total = 0;
  check_cuda(cudaMemcpyAsync(&total, numbers.data() + numbers.size() - 1, sizeof(total),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return total;
}

/// An array of `count` numbers and a last one, which is 0.
DeviceBuffer<std::int64_t> numbers_and_end(std::int64_t count, cudaStream_t stream) {
  DeviceBuffer<std::int64_t> numbers(static_cast<std::size_t>(count) + 1, stream);
  check_cuda(cudaMemsetAsync(numbers.data() + count, 0, sizeof(std::int64_t), stream));
  return numbers;
}

/// The positions of the ones of `marks`, of which the last element is none, and its size behind
/// them. `marks` becomes the sums before each element.
DeviceBuffer<std::int64_t> positions_of(DeviceBuffer<std::int64_t>& marks, cudaStream_t stream) {
  const std::int64_t count = sum_up(marks, stream);
  const auto end = static_cast<std::int64_t>(marks.size()) - 1;
  DeviceBuffer<std::int64_t> positions(static_cast<std::size_t>(count) + 1, stream);
  for_each_item<std::int64_t>(
      marks.size(),
      [end, sums = marks.data(), to = positions.data()] __device__(std::int64_t i) {
        if (i == end || sums[i + 1] != sums[i]) to[sums[i]] = i;
      },
      stream);
  return positions;
}

/// Tiles of whole rows. Rows that are too long have a tile of their own, whose weight says so.
DeviceBuffer<TileSource> sources_of_rows(const ListOperands& operands,
                                         const std::uint64_t* products, cudaStream_t stream) {
  const std::int64_t rows = operands.rows;
  DeviceBuffer<std::int64_t> weights = numbers_and_end(rows, stream);
  for_each_item<std::int64_t>(
      static_cast<std::uint64_t>(rows),
      [a_row_ptr = operands.a_row_ptr, products, to = weights.data()] __device__(std::int64_t row) {
        const auto own = static_cast<std::int64_t>(products[row]);
        to[row] = own == 0 ? 0 : own + a_row_ptr[row + 1] - a_row_ptr[row];
      },
      stream);
  exclusive_sum(weights.data(), rows + 1, stream);
  DeviceBuffer<std::int64_t> begins(static_cast<std::size_t>(rows) + 1, stream);
  mark_tiles_kernel<<<blocks_for(static_cast<std::uint64_t>(rows) + 1, kThreads), kThreads, 0,
                      stream>>>(rows, weights.data(), begins.data());
  check_cuda(cudaGetLastError());
  const DeviceBuffer<std::int64_t> first_rows = positions_of(begins, stream);
  DeviceBuffer<TileSource> sources(first_rows.size() - 1, stream);
  for_each_item<std::uint32_t>(
      sources.size(),
      [c_row_ptr = operands.c_row_ptr, first = first_rows.data(), weights = weights.data(),
       to = sources.data()] __device__(std::uint32_t i) {
        const std::int64_t begin = first[i];
        const std::int64_t end = first[i + 1];
        to[i] = {static_cast<std::uint32_t>(begin),
                 static_cast<std::uint32_t>(end),
                 c_row_ptr[begin],
                 c_row_ptr[end],
                 0,
                 static_cast<std::uint32_t>(
                     min(weights[end] - weights[begin], std::int64_t{0xffffffff}))};
      },
      stream);
  return sources;
}

/// Tiles of parts of the rows that are too long for one.
/// \param row_weight  the most weight of a tile of whole rows; raised to `max_weight` if the budget
///                    is too small for longer rows in parts
DeviceBuffer<TileSource> sources_of_ranges(const ListOperands& operands,
                                           const DeviceBuffer<TileSource>& of_rows,
                                           std::uint32_t& row_weight, std::uint32_t max_weight,
                                           std::uint64_t budget, cudaStream_t stream) {
  DeviceBuffer<std::int64_t> marks =
      numbers_and_end(static_cast<std::int64_t>(of_rows.size()), stream);
  for_each_item<std::uint32_t>(
      of_rows.size(),
      [row_weight, sources = of_rows.data(), to = marks.data()] __device__(std::uint32_t i) {
        to[i] = sources[i].weight > row_weight ? 1 : 0;
      },
      stream);
  const DeviceBuffer<std::int64_t> long_rows = positions_of(marks, stream);
  const auto count = static_cast<std::int64_t>(long_rows.size()) - 1;
  if (count == 0) return {};
  DeviceBuffer<std::uint32_t> rows(static_cast<std::size_t>(count), stream);
  DeviceBuffer<std::int64_t> first = numbers_and_end(count, stream);
  for_each_item<std::int64_t>(
      static_cast<std::uint64_t>(count),
      [sources = of_rows.data(), list = long_rows.data(), rows = rows.data(),
       to = first.data()] __device__(std::int64_t i) {
        const TileSource& source = sources[list[i]];
        rows[i] = source.first_row;
        to[i] = source.c_end - source.c_begin;
      },
      stream);
  const std::int64_t entries = sum_up(first, stream);
  const std::uint64_t wanted = 2 * sizeof(std::int64_t) * static_cast<std::uint64_t>(entries);
  if (wanted > budget) {
    if (row_weight >= max_weight)
      throw out_of_memory_error("the entries of long rows", wanted, budget);
    row_weight = max_weight;
    return sources_of_ranges(operands, of_rows, row_weight, max_weight, budget, stream);
  }
  DeviceBuffer<std::int64_t> sums(static_cast<std::size_t>(entries) + 1, stream);
  check_cuda(cudaMemsetAsync(sums.data(), 0, sums.bytes(), stream));
  constexpr unsigned parts = 16;
  count_entry_products_kernel<<<dim3(static_cast<unsigned>(count), parts), kThreads, 0, stream>>>(
      operands, rows.data(), first.data(), reinterpret_cast<unsigned long long*>(sums.data()));
  check_cuda(cudaGetLastError());
  exclusive_sum(sums.data(), entries + 1, stream);
  // A range begins where the products of a row pass a multiple of kRangeProducts.
  DeviceBuffer<std::int64_t> begins = numbers_and_end(entries, stream);
  for_each_item<std::int64_t>(
      static_cast<std::uint64_t>(entries),
      [count, first = first.data(), sums = sums.data(),
       to = begins.data()] __device__(std::int64_t entry) {
        const std::int64_t row = first_not(std::int64_t{0}, count,
                                           [&](std::int64_t r) { return first[r + 1] <= entry; });
        const std::int64_t before = sums[first[row]];
        to[entry] = entry == first[row] || (sums[entry] - before) / kRangeProducts !=
                                               (sums[entry - 1] - before) / kRangeProducts
                        ? 1
                        : 0;
      },
      stream);
  const DeviceBuffer<std::int64_t> range_begins = positions_of(begins, stream);
  DeviceBuffer<TileSource> ranges(range_begins.size() - 1, stream);
  for_each_item<std::uint32_t>(
      ranges.size(),
      [count, c_row_ptr = operands.c_row_ptr, first = first.data(), begin = range_begins.data(),
       rows = rows.data(), to = ranges.data()] __device__(std::uint32_t i) {
        const std::int64_t own = first_not(
            std::int64_t{0}, count, [&](std::int64_t r) { return first[r + 1] <= begin[i]; });
        const std::uint32_t row = rows[own];
        const std::int64_t c_begin = c_row_ptr[row] + begin[i] - first[own];
        to[i] = {row, row + 1, c_begin, c_begin + begin[i + 1] - begin[i], 1, 0};
      },
      stream);
  return ranges;
}

/// The two lists in one.
DeviceBuffer<TileSource> joined(const DeviceBuffer<TileSource>& one,
                                const DeviceBuffer<TileSource>& other, cudaStream_t stream) {
  DeviceBuffer<TileSource> all(one.size() + other.size(), stream);
  const auto copy = [&](const DeviceBuffer<TileSource>& from, std::size_t to) {
    if (from.size() != 0)
      check_cuda(cudaMemcpyAsync(all.data() + to, from.data(), from.bytes(),
                                 cudaMemcpyDeviceToDevice, stream));
  };
  copy(one, 0);
  copy(other, one.size());
  return all;
}

template <int Class>
void build_class(const ProductLists& lists, const BuildArguments& args, cudaStream_t stream) {
  constexpr ListClass own = tile_classes[Class];
  const ListTiles& tiles = lists.of_class[Class];
  if (tiles.count != 0) {
    BuildArguments of_class = args;
    of_class.tiles += tiles.first;
    const auto kernel = build_lists_kernel<own.threads, own.items, own.has_short_codes()>;
    constexpr std::size_t bytes = sizeof(BuildShared<own.threads, own.items>);
    check_cuda(allow_shared_memory(kernel, bytes));
    kernel<<<tiles.count, own.threads, bytes, stream>>>(of_class);
    check_cuda(cudaGetLastError());
  }
  if constexpr (Class + 1 < static_cast<int>(tile_classes.size()))
    build_class<Class + 1>(lists, args, stream);
}

/// Bytes of shared memory of the kernel that builds the tiles of each class.
template <int... Class>
constexpr auto build_bytes(std::integer_sequence<int, Class...>) {
  return std::array{sizeof(BuildShared<tile_classes[Class].threads, tile_classes[Class].items>)...};
}

}  // namespace

std::uint32_t max_list_weight(std::size_t (*tile_bytes)(std::size_t)) {
  constexpr std::size_t reserved = 1024;
  const std::size_t most = static_cast<std::size_t>(max_shared_bytes()) - reserved;
  constexpr auto bytes =
      build_bytes(std::make_integer_sequence<int, static_cast<int>(tile_classes.size())>{});
  std::uint32_t weight = 0;
  for (std::size_t i = 0; i < tile_classes.size() && bytes[i] <= most; ++i)
    weight = tile_classes[i].max_weight;
  while (tile_bytes(weight) > most) weight -= 32;
  return weight;
}

ProductLists make_product_lists(const ListOperands& operands, std::uint64_t* products,
                                std::uint32_t max_weight, std::uint64_t budget,
                                cudaStream_t stream) {
  ProductLists lists;
  const std::uint64_t of_rows_bytes =
      4 * sizeof(std::int64_t) * static_cast<std::uint64_t>(operands.rows + 1);
  if (of_rows_bytes > budget) throw out_of_memory_error("product lists", of_rows_bytes, budget);
  DeviceBuffer<TileSource> sources = sources_of_rows(operands, products, stream);
  std::uint32_t row_weight = std::min(max_weight, kRowWeight);
  {
    const DeviceBuffer<TileSource> ranges = sources_of_ranges(
        operands, sources, row_weight, max_weight, budget - of_rows_bytes, stream);
    if (ranges.size() != 0) sources = joined(sources, ranges, stream);
  }
  const auto count = static_cast<std::uint32_t>(sources.size());
  DeviceBuffer<ListTile> tiles(count, stream);
  DeviceBuffer<std::int64_t> word_sums = numbers_and_end(count, stream);
  DeviceBuffer<std::uint8_t> is_left(static_cast<std::size_t>(operands.rows), stream);
  DeviceBuffer<ClassCounts> class_counts(1, stream);
  DeviceBuffer<std::uint32_t> numbers(std::size_t{count} * tile_classes.size(), stream);
  check_cuda(cudaMemsetAsync(is_left.data(), 0, is_left.bytes(), stream));
  check_cuda(cudaMemsetAsync(class_counts.data(), 0, class_counts.bytes(), stream));
  count_tiles_kernel<<<count, kThreads, 0, stream>>>(operands, sources.data(), tiles.data(),
                                                     row_weight, word_sums.data());
  check_cuda(cudaGetLastError());
  mark_rows_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
      count, sources.data(), tiles.data(), max_weight, is_left.data());
  check_cuda(cudaGetLastError());
  empty_tiles_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
      count, sources.data(), is_left.data(), tiles.data(), word_sums.data());
  check_cuda(cudaGetLastError());
  const std::int64_t words = sum_up(word_sums, stream);
  place_tiles_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream>>>(
      count, tiles.data(), word_sums.data(), class_counts.data(), numbers.data());
  check_cuda(cudaGetLastError());
  ClassCounts found{};
  class_counts.copy_to({&found, 1});
  DeviceBuffer<std::uint64_t> others(1, stream);
  check_cuda(cudaMemsetAsync(others.data(), 0, others.bytes(), stream));
  for_each_item<std::int64_t>(
      static_cast<std::uint64_t>(operands.rows),
      [products, left = is_left.data(),
       sum = reinterpret_cast<unsigned long long*>(others.data())] __device__(std::int64_t row) {
        if (products[row] == 0) return;
        if (left[row] == 0) {
          products[row] = 0;
        } else {
          atomicAdd(sum, 1ull);
        }
      },
      stream);
  others.copy_to({&lists.other_rows, 1});
  check_cuda(cudaStreamSynchronize(stream));
  const auto wanted = static_cast<std::uint64_t>(words) * sizeof(std::uint32_t) +
                      count * (sizeof(ListTile) + sizeof(TileSource) + 4 * sizeof(std::int64_t));
  if (wanted > budget) throw out_of_memory_error("product lists", wanted, budget);
  std::uint32_t placed = 0;
  for (std::size_t i = 0; i < tile_classes.size(); ++i) {
    lists.of_class[i] = {placed, found.count[i], found.max_weight[i]};
    placed += found.count[i];
  }
  lists.tiles = DeviceBuffer<ListTile>(placed, stream);
  for (std::size_t i = 0; i < tile_classes.size(); ++i) {
    for_each_item<std::uint32_t>(
        found.count[i],
        [from = tiles.data(), number = numbers.data() + i * count,
         to = lists.tiles.data() + lists.of_class[i].first] __device__(std::uint32_t j) {
          to[j] = from[number[j]];
        },
        stream);
  }
  lists.words = DeviceBuffer<std::uint32_t>(static_cast<std::size_t>(words), stream);
  build_class<0>(lists, {operands, sources.data(), lists.tiles.data(), lists.words.data()}, stream);
  return lists;
}

}  // namespace sortie::spgemm::cuda
