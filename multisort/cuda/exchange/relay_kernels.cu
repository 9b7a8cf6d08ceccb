// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/exchange/relay.hpp"
#include "primitives/cuda/warp.cuh"

namespace sortie::multisort {

namespace {

constexpr int copy_threads = 512;
/// Copies of 16 bytes in flight per thread.
constexpr int copy_unroll = 4;
constexpr std::uint64_t copy_block_bytes = std::uint64_t{copy_threads} * copy_unroll * 16;
/// Copying blocks: just enough to saturate the link, because they displace blocks that move items.
constexpr unsigned int copying_blocks = 48;

/// One block; thread g places group g. A group's address in the buffer is congruent to its
/// destination modulo 16, so most of it is copied in words of 16 bytes.
__global__ void __launch_bounds__(most_groups) place_kernel(RelaySlice slice) {
  __shared__ std::uint64_t warp_sums[most_groups / 32];
  __shared__ std::uint32_t all;
  const std::uint32_t group = threadIdx.x;
  const std::uint64_t before = slice.rows_before[group];
  const std::uint64_t count = slice.rows_behind[group] - before;
  std::uint32_t first_block = 0;
  const auto place = [&](const RelayArray& array, std::uint32_t first_run, bool counts_on) {
    RelayRun run;
    const std::uint64_t destination = array.destinations[group];
    const auto item_bytes = static_cast<std::uint64_t>(array.item_bytes);
    if (destination != 0 && count != 0) {
      run.to = destination + before * item_bytes;
      run.bytes = count * item_bytes;
    }
    const std::uint64_t lead = run.to % 16;
    const std::uint64_t padded_bytes = (lead + run.bytes + 15) / 16 * 16;
    const std::uint64_t begin =
        prefix_sum_in_block<most_groups / 32>(padded_bytes, warp_sums).before;
    run.from = array.buffer + begin + lead;
    // Keys alone reserve places from here on; with values, places count from the first batch on.
    if (destination != 0)
      array.places[group] = counts_on ? run.from : run.from - before * item_bytes;
    slice.list.runs[first_run + group] = run;
    const auto blocks = static_cast<std::uint32_t>(
        run.bytes == 0 ? 0 : (lead + run.bytes - 1) / copy_block_bytes + 1);
    const std::uint32_t block =
        first_block + prefix_sum_in_block<most_groups / 32>(blocks, warp_sums).before;
    slice.list.blocks[first_run + group] = block;
    if (group == most_groups - 1) slice.list.blocks[first_run + most_groups] = block + blocks;
    if (group == most_groups - 1) all = block + blocks;
    __syncthreads();
    first_block = all;
    __syncthreads();
  };
  place(slice.keys, 0, slice.values.item_bytes == 0);
  if (slice.values.item_bytes != 0) place(slice.values, most_groups, false);
}

/// Each block copies ranges of copy_block_bytes bytes, each within one run: the bytes up to a
/// multiple of 16, then words of 16 bytes, then the remaining bytes. Consecutive ranges are taken
/// round-robin from `ways` parts of the list.
__global__ void __launch_bounds__(copy_threads)
    copy_kernel(RelayList list, std::uint32_t runs, std::uint32_t ways) {
  extern __shared__ std::uint32_t blocks_before[];
  for (std::uint32_t i = threadIdx.x; i <= runs; i += copy_threads)
    blocks_before[i] = list.blocks[i];
  __syncthreads();
  const std::uint32_t all = blocks_before[runs];
  const std::uint32_t part = (all + ways - 1) / ways;
  for (std::uint32_t i_block = blockIdx.x; i_block < part * ways; i_block += gridDim.x) {
    const std::uint32_t block = i_block % ways * part + i_block / ways;
    if (block >= all) continue;
    std::uint32_t low = 0;  // the last run that does not begin after the block
    std::uint32_t high = runs - 1;
    while (low < high) {
      const std::uint32_t middle = (low + high + 1) / 2;
      if (blocks_before[middle] <= block) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const RelayRun run = list.runs[low];
    const std::uint64_t shift = run.to - run.from;
    const std::uint64_t end_of_run = run.from + run.bytes;
    const std::uint64_t first =
        run.from / 16 * 16 + std::uint64_t{block - blocks_before[low]} * copy_block_bytes;
    const std::uint64_t begin = max(first, run.from);
    const std::uint64_t end = min(first + copy_block_bytes, end_of_run);
    const auto copy_bytes = [&](std::uint64_t from, std::uint64_t to) {
      if (from + threadIdx.x < to)
        *reinterpret_cast<char*>(from + threadIdx.x + shift) =
            *reinterpret_cast<const char*>(from + threadIdx.x);
    };
    const std::uint64_t words_begin = min((begin + 15) / 16 * 16, end);
    const std::uint64_t words_end = max(words_begin, end / 16 * 16);
    copy_bytes(begin, words_begin);
    uint4 words[copy_unroll];
#pragma unroll
    for (int r = 0; r < copy_unroll; ++r) {
      const std::uint64_t at = words_begin + (r * copy_threads + threadIdx.x) * 16;
      if (at < words_end) words[r] = *reinterpret_cast<const uint4*>(at);
    }
#pragma unroll
    for (int r = 0; r < copy_unroll; ++r) {
      const std::uint64_t at = words_begin + (r * copy_threads + threadIdx.x) * 16;
      if (at < words_end) *reinterpret_cast<uint4*>(at + shift) = words[r];
    }
    copy_bytes(words_end, end);
  }
}

}  // namespace

cudaError_t place_slice(const RelaySlice& slice, cudaStream_t stream) {
  place_kernel<<<1, most_groups, 0, stream>>>(slice);
  return cudaGetLastError();
}

cudaError_t copy_slice(const RelayList& list, std::uint32_t runs, std::uint32_t ways,
                       cudaStream_t stream) {
  copy_kernel<<<copying_blocks, copy_threads, (runs + 1) * sizeof(std::uint32_t), stream>>>(
      list, runs, ways);
  return cudaGetLastError();
}

}  // namespace sortie::multisort
