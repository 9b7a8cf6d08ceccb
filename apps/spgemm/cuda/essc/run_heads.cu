// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/essc/run_heads.hpp"

#include "apps/spgemm/cuda/index_arrays.hpp"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::spgemm::cuda {
namespace {

constexpr int kWarpSize = 32;

/// Products per lane; their head bits form one byte.
constexpr int kProductsPerLane = RunHeads::range_products / kWarpSize;
static_assert(kProductsPerLane == 8);

void mark_row_starts(const std::uint32_t* row_offsets, std::int64_t rows, std::uint32_t* bits,
                     cudaStream_t stream) {
  for_each_item<std::int64_t>(
      rows,
      [=] __device__(std::int64_t row) {
        const std::uint32_t begin = row_offsets[row];
        if (begin < row_offsets[row + 1])
          atomicOr(&bits[begin / kWarpSize], 1U << (begin % kWarpSize));
      },
      stream);
}

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
  const std::int64_t first = range * RunHeads::range_products + lane * kProductsPerLane;
  Key own[kProductsPerLane] = {};
  if (first + kProductsPerLane <= products) {
    const auto* const packs = reinterpret_cast<const KeyPack<Key>*>(keys + first);
#pragma unroll
    for (int i = 0; i < kProductsPerLane / keys_per_pack; ++i) {
      const KeyPack<Key> pack = packs[i];
#pragma unroll
      for (int k = 0; k < keys_per_pack; ++k) own[i * keys_per_pack + k] = pack.keys[k];
    }
  } else {
#pragma unroll
    for (int k = 0; k < kProductsPerLane; ++k)
      if (first + k < products) own[k] = keys[first + k];
  }
  Key previous = __shfl_up_sync(full_warp, own[kProductsPerLane - 1], 1);
  if (lane == 0) previous = first == 0 ? own[0] : keys[first - 1];
  unsigned marks = 0;
  if (first < products) {
    marks = heads[first / kProductsPerLane];
    if (first == 0) marks |= 1U;
#pragma unroll
    for (int k = 0; k < kProductsPerLane; ++k) {
      if (first + k < products && own[k] != previous) marks |= 1U << k;
      previous = own[k];
    }
    heads[first / kProductsPerLane] = static_cast<std::uint8_t>(marks);
  }
  const int count = sum_in_warp(__popc(marks));
  if (lane == 0) range_heads[range] = count;
}

}  // namespace

template <class Key>
RunHeads find_run_heads(const Key* keys, std::int64_t products, const std::uint32_t* row_offsets,
                        std::int64_t rows, KeyLayout layout, cudaStream_t stream) {
  RunHeads heads;
  heads.products = products;
  const std::size_t ranges = blocks_for(products, RunHeads::range_products);
  // One extra element 0, which the scan turns into the number of runs.
  heads.before = DeviceBuffer<std::int64_t>(ranges + 1, stream);
  check_cuda(cudaMemsetAsync(heads.before.data() + ranges, 0, sizeof(std::int64_t), stream));
  if (products == 0) return heads;

  heads.bits = DeviceBuffer<std::uint32_t>(blocks_for(products, kWarpSize), stream);
  check_cuda(cudaMemsetAsync(heads.bits.data(), 0, heads.bits.bytes(), stream));
  if (!layout.holds_row()) mark_row_starts(row_offsets, rows, heads.bits.data(), stream);
  mark_heads_kernel<<<blocks_for(static_cast<std::int64_t>(ranges), element_threads / kWarpSize),
                      element_threads, 0, stream>>>(
      keys, products, reinterpret_cast<std::uint8_t*>(heads.bits.data()), heads.before.data());
  check_cuda(cudaGetLastError());
  exclusive_sum(heads.before.data(), static_cast<std::int64_t>(ranges) + 1, stream);
  check_cuda(cudaMemcpyAsync(&heads.runs, heads.before.data() + ranges, sizeof(heads.runs),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return heads;
}

void write_row_ends(const RunHeads& heads, const std::uint32_t* row_offsets, std::int64_t rows,
                    std::int64_t first, std::int64_t* row_ends, cudaStream_t stream) {
  const std::uint32_t* const bits = heads.bits.data();
  const std::int64_t* const before = heads.before.data();
  for_each_item<std::int64_t>(
      rows,
      [=] __device__(std::int64_t row) {
        // Every non-empty row begins a run, so the runs before its end are the heads before its end.
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

template RunHeads find_run_heads(const std::uint32_t*, std::int64_t, const std::uint32_t*,
                                 std::int64_t, KeyLayout, cudaStream_t);
template RunHeads find_run_heads(const std::uint64_t*, std::int64_t, const std::uint32_t*,
                                 std::int64_t, KeyLayout, cudaStream_t);

}  // namespace sortie::spgemm::cuda
