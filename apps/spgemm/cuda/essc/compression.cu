// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/essc/chunk_steps.hpp"
#include "apps/spgemm/cuda/fused/value.cuh"
#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::spgemm::cuda {
namespace {

constexpr int kWarpSize = 32;
constexpr int kWarps = element_threads / kWarpSize;

/// Products per thread; their head bits form one byte.
constexpr int kProductsPerThread = 8;
static_assert(kProductsPerThread * kWarpSize == RunHeads::range_products);

/// Keys loaded by one instruction.
template <class Key>
struct alignas(16) KeyPack {
  Key keys[16 / sizeof(Key)];
};

// Marks the heads of runs; one warp per range of 256 products. Lane l processes products
// 8 l .. 8 l + 7 of the range. On entry the bits mark row starts; on return, run heads.
template <class Key>
__global__ void __launch_bounds__(element_threads)
    mark_heads_kernel(const Key* keys, std::int64_t products, std::uint8_t* heads,
                      std::int64_t* range_heads) {
  constexpr int keys_per_pack = 16 / sizeof(Key);
  const std::int64_t range = global_thread() / kWarpSize;
  if (range * RunHeads::range_products >= products) return;
  const int lane = static_cast<int>(threadIdx.x % kWarpSize);
  const std::int64_t first = range * RunHeads::range_products + lane * kProductsPerThread;
  Key own[kProductsPerThread] = {};
  if (first + kProductsPerThread <= products) {
    const auto* const packs = reinterpret_cast<const KeyPack<Key>*>(keys + first);
#pragma unroll
    for (int i = 0; i < kProductsPerThread / keys_per_pack; ++i) {
      const KeyPack<Key> pack = packs[i];
#pragma unroll
      for (int k = 0; k < keys_per_pack; ++k) own[i * keys_per_pack + k] = pack.keys[k];
    }
  } else {
#pragma unroll
    for (int k = 0; k < kProductsPerThread; ++k)
      if (first + k < products) own[k] = keys[first + k];
  }
  Key previous = __shfl_up_sync(full_warp, own[kProductsPerThread - 1], 1);
  if (lane == 0) previous = first == 0 ? own[0] : keys[first - 1];
  unsigned marks = 0;
  if (first < products) {
    marks = heads[first / kProductsPerThread];
    if (first == 0) marks |= 1U;
#pragma unroll
    for (int k = 0; k < kProductsPerThread; ++k) {
      if (first + k < products && own[k] != previous) marks |= 1U << k;
      previous = own[k];
    }
    heads[first / kProductsPerThread] = static_cast<std::uint8_t>(marks);
  }
  const int count = sum_in_warp(__popc(marks));
  if (lane == 0) range_heads[range] = count;
}

constexpr int kTileProducts = element_threads * kProductsPerThread;
constexpr int kTileRanges = kTileProducts / RunHeads::range_products;

/// Runs longer than this are summed by a whole warp. A single lane takes one step per product while
/// the other 31 lanes may be idle; the warp takes length / 32 + 5 steps, one run at a time. The
/// limit follows from this count (break-even near 32 if one run per warp is long), not from
/// a measurement.
constexpr std::int64_t kLongestRunOfOneLane = 48;

/// Product i of the sorted order.
template <class Value, class Key>
__device__ __forceinline__ Value product_at(const ExpandedProducts<Value, Key>& sorted,
                                            std::int64_t i) {
  if constexpr (payload_is_index<Value>) {
    return sorted.products[sorted.payloads[i]];
  } else {
    return sorted.payloads[i];
  }
}

/// Sum of `length` >= 32 products from `begin` on, computed by a warp and returned on lane 0. Lane
/// l adds products l, l + 32, ... in order; a fixed tree adds the lanes.
template <class Value, class Key>
__device__ Value sum_by_warp(const ExpandedProducts<Value, Key>& sorted, std::int64_t begin,
                             std::int64_t length, int lane) {
  Value total = product_at(sorted, begin + lane);
#pragma unroll 4
  for (std::int64_t i = lane + kWarpSize; i < length; i += kWarpSize)
    total = sum(total, product_at(sorted, begin + i));
#pragma unroll
  for (int delta = kWarpSize / 2; delta > 0; delta /= 2)
    total = sum(total, from_lane_above(total, delta));
  return total;
}

/// The first head at or after product `first`, a multiple of 32; `products` if there is none.
/// Called by a whole warp.
__device__ std::int64_t next_head(const std::uint32_t* bits, std::int64_t products,
                                  std::int64_t first, int lane) {
  for (; first < products; first += kWarpSize * kWarpSize) {
    const std::int64_t mine = first + lane * kWarpSize;
    const std::uint32_t word = mine < products ? bits[mine / kWarpSize] : 0;
    const unsigned found = __ballot_sync(full_warp, word != 0);
    if (found == 0) continue;
    const int owner = first_lane(found);
    const auto heads = static_cast<int>(from_lane(word, owner));
    return first + owner * kWarpSize + __ffs(heads) - 1;
  }
  return products;
}

// Computes the entries of C whose runs begin in a tile of 2048 products; one block per tile.
//
//   shared tile_products[i]   product i of the tile
//   shared starts[r]          first product of run r of the tile
//   shared end_of_last        end of the last run, which may lie in a later tile
//
// Thread t lists the heads among products 8t .. 8t + 7. Then thread t processes runs t, t + 256,
// ...: it sums a short run alone, in order; the long runs of the 32 threads of a warp are summed by
// the whole warp, one after another.
template <class Value, class Column, class Key>
__global__ void __launch_bounds__(element_threads)
    sum_runs_kernel(const ExpandedProducts<Value, Key> sorted, Key column_mask,
                    std::int64_t products, const std::uint32_t* bits, const std::int64_t* before,
                    Column* columns, Value* sums) {
  // Raw bytes, since std::complex has a constructor, which shared variables must not have.
  alignas(16) __shared__ unsigned char tile_bytes[kTileProducts * sizeof(Value)];
  auto* const tile_products = reinterpret_cast<Value*>(tile_bytes);
  __shared__ std::uint16_t starts[kTileProducts];
  __shared__ int warp_heads[kWarps];
  __shared__ std::int64_t end_of_last;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpSize;
  const int warp = thread / kWarpSize;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTileProducts;

#pragma unroll
  for (int k = 0; k < kProductsPerThread; ++k) {
    const int i = k * element_threads + thread;
    if (first + i < products) tile_products[i] = product_at(sorted, first + i);
  }
  unsigned heads = 0;
  if (first + thread * kProductsPerThread < products)
    heads = reinterpret_cast<const std::uint8_t*>(bits)[first / kProductsPerThread + thread];
  const int own = __popc(heads);
  const int up_to = inclusive_sum_in_warp(own);
  if (lane == kWarpSize - 1) warp_heads[warp] = up_to;
  if (warp == kWarps - 1) {
    const std::int64_t end = next_head(bits, products, first + kTileProducts, lane);
    if (lane == 0) end_of_last = end;
  }
  __syncthreads();
  int place = up_to - own;
  int runs = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) place += warp_heads[w];
    runs += warp_heads[w];
  }
  for (; heads != 0; heads &= heads - 1)
    starts[place++] = static_cast<std::uint16_t>(thread * kProductsPerThread +
                                                 __ffs(static_cast<int>(heads)) - 1);
  __syncthreads();

  const std::int64_t first_run = before[blockIdx.x * std::int64_t{kTileRanges}];
  for (int base = warp * kWarpSize; base < runs; base += element_threads) {
    const int run = base + lane;
    std::int64_t begin = 0;
    std::int64_t length = 0;
    if (run < runs) {
      begin = first + starts[run];
      length = (run + 1 < runs ? first + starts[run + 1] : end_of_last) - begin;
      columns[first_run + run] = static_cast<Column>(sorted.keys[begin] & column_mask);
    }
    if (length > 0 && length <= kLongestRunOfOneLane) {
      const int own_begin = starts[run];
      Value total = tile_products[own_begin];
      for (int i = 1; i < static_cast<int>(length); ++i) {
        total = sum(total, own_begin + i < kTileProducts ? tile_products[own_begin + i]
                                                         : product_at(sorted, begin + i));
      }
      sums[first_run + run] = total;
    }
    unsigned long_runs = __ballot_sync(full_warp, length > kLongestRunOfOneLane);
    while (long_runs != 0) {
      const int owner = first_lane(long_runs);
      long_runs &= long_runs - 1;
      const Value total =
          sum_by_warp(sorted, from_lane(begin, owner), from_lane(length, owner), lane);
      if (lane == 0) sums[first_run + base + owner] = total;
    }
  }
}

}  // namespace

template <class Key>
RunHeads find_run_heads(const Key* keys, const std::uint32_t* row_offsets, const RowChunk& chunk,
                        cudaStream_t stream) {
  RunHeads heads;
  const std::int64_t products = chunk.products;
  const std::size_t ranges = blocks_for(products, RunHeads::range_products);
  // One extra element 0, which the scan turns into the number of runs.
  heads.before = DeviceBuffer<std::int64_t>(ranges + 1, stream);
  check_cuda(cudaMemsetAsync(heads.before.data() + ranges, 0, sizeof(std::int64_t), stream));
  if (products == 0) return heads;

  heads.bits = DeviceBuffer<std::uint32_t>(blocks_for(products, kWarpSize), stream);
  check_cuda(cudaMemsetAsync(heads.bits.data(), 0, heads.bits.bytes(), stream));
  if (chunk.column_bits == 0) {
    for_each_item<std::int64_t>(
        chunk.rows,
        [row_offsets, bits = heads.bits.data()] __device__(std::int64_t row) {
          const std::uint32_t begin = row_offsets[row];
          if (begin < row_offsets[row + 1])
            atomicOr(&bits[begin / kWarpSize], 1U << (begin % kWarpSize));
        },
        stream);
  }
  mark_heads_kernel<<<blocks_for(static_cast<std::int64_t>(ranges), element_threads / kWarpSize),
                      element_threads, 0, stream>>>(
      keys, products, reinterpret_cast<std::uint8_t*>(heads.bits.data()), heads.before.data());
  check_cuda(cudaGetLastError());
  exclusive_sum(heads.before.data(), static_cast<std::int64_t>(ranges) + 1, stream);
  PinnedMailbox<std::int64_t> mailbox(stream);
  check_cuda(cudaMemcpyAsync(mailbox.on_device(), heads.before.data() + ranges, sizeof(heads.runs),
                             cudaMemcpyDeviceToHost, stream));
  mailbox.mark();
  heads.runs = mailbox.wait();
  return heads;
}

void write_row_ends(const RunHeads& heads, const std::uint32_t* row_offsets, const RowChunk& chunk,
                    std::int64_t first, std::int64_t* row_ends, cudaStream_t stream) {
  const std::uint32_t* const bits = heads.bits.data();
  const std::int64_t* const before = heads.before.data();
  for_each_item<std::int64_t>(
      chunk.rows,
      [=] __device__(std::int64_t row) {
        // Every non-empty row begins a run, so the runs before its end are the heads before it.
        const std::uint32_t end = row_offsets[row + 1];
        const std::uint32_t range = end / RunHeads::range_products;
        std::int64_t runs = before[range];
        std::uint32_t word = range * (RunHeads::range_products / kWarpSize);
        for (; word < end / kWarpSize; ++word) runs += __popc(bits[word]);
        const std::uint32_t rest = end % kWarpSize;
        if (rest != 0) runs += __popc(bits[word] & ((1U << rest) - 1));
        row_ends[row] = first + runs;
      },
      stream);
}

template RunHeads find_run_heads(const std::uint32_t*, const std::uint32_t*, const RowChunk&,
                                 cudaStream_t);
template RunHeads find_run_heads(const std::uint64_t*, const std::uint32_t*, const RowChunk&,
                                 cudaStream_t);

template <class Value, class Column, class Key>
void sum_runs(const RunHeads& heads, const ExpandedProducts<Value, Key>& sorted,
              const RowChunk& chunk, Column* columns, Value* sums, cudaStream_t stream) {
  if (heads.runs == 0) return;
  const Key column_mask = chunk.column_bits != 0 ? (Key{1} << chunk.column_bits) - 1 : ~Key{0};
  sum_runs_kernel<<<blocks_for(chunk.products, kTileProducts), element_threads, 0, stream>>>(
      sorted, column_mask, chunk.products, heads.bits.data(), heads.before.data(), columns, sums);
  check_cuda(cudaGetLastError());
}

#define SORTIE_INSTANTIATE(Value, Column, Key)                                                  \
  template void sum_runs(const RunHeads&, const ExpandedProducts<Value, Key>&, const RowChunk&, \
                         Column*, Value*, cudaStream_t);
SORTIE_FOR_EACH_SORTED_PRODUCT(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
