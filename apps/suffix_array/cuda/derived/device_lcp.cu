// SPDX-License-Identifier: Apache-2.0

// The LCP array from device memory to device memory: lcp_on_device.
//
// Let lcp(p) be the entry of the suffix at position p. The method rests on two facts:
//   - lcp(p) + p never decreases as p grows: without its first letter, a suffix still has all but
//     one of its letters in common with some smaller suffix.
//   - If equal letters precede the two suffixes of an entry ("extended" here, reducible in the
//     paper), the suffixes that begin with these letters are neighbours too, so lcp(p) + p is the
//     same for p and p - 1. The sum of all other entries is at most 2 n log2 n.
//
// Steps:
//   1. Pack the text (SymbolStream), 3 bits a base, so that up to 100 million bases stay in the L2
//      cache.
//   2. Read one window of every suffix, from the letter before it on: 20 bases and whether the
//      entry is extended. This determines most entries of a genome, with one random read each.
//      Entries that are not extended compare a few windows more.
//   3. Warps compare the entries that agree in more, and blocks those that agree in more than 20000
//      bases. Each of these entries stores lcp(p) + p at its position in an array.
//   4. The prefix maximum of that array is lcp(p) + p at all positions whose entries are long.
//   5. Extended entries are filled from it.
// So a run of one letter, or a copy of a whole chromosome, is compared once, by a block.
//
// Memory for n symbols of b bits:
//
//   | name                  | elements      | type     | lifetime        |
//   |-----------------------|---------------|----------|-----------------|
//   | LCP array             | n             | Index    | result          |
//   | lcp(p) + p            | n             | Index    | steps 2 to 5    |
//   | packed text, rare     | b n, n        | bits     | steps 1 to 3    |
//   | entries for blocks    | n / 1024      | Index    | step 3          |
//
// In total 8.4 bytes a base with 32-bit positions.
//
// Source: Karkkainen, Manzini, Puglisi: Permuted Longest-Common-Prefix Array (CPM 2009), lemmas 1
// and 2, theorem 1.
#include <algorithm>

#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"
#include "sortie/device_suffix_array.hpp"

namespace sortie::suffix_array::cuda {
namespace {

constexpr int warp_threads = 32;

/// Windows that a thread compares after the first one. The other lanes of its warp wait meanwhile,
/// so it is few: 84 bases, more than most repeats of a genome agree in. On an H200, 2 or 8 change
/// the time by less than 1 % (chrX, four S. aureus genomes, yeast).
constexpr int windows_a_thread = 4;
/// Windows that each lane of a warp compares: 32 * 32 of them, 21504 bases. On an H200 the LCP
/// array of chrX takes 2.05 ms with 32, 2.01 with 8 and 2.20 with 128; four S. aureus genomes and
/// yeast show no difference.
constexpr int windows_a_lane = 32;

/// The block that compares the longest entries: the maximum number of threads, and the windows that
/// each has in flight at a time. For a copy of a chromosome of 70 million bases one block runs 800
/// iterations of two barriers.
constexpr unsigned long_block_threads = 1024;
constexpr int windows_at_a_time = 4;
/// Twice the multiprocessors of an H200. Blocks without an entry exit at once.
constexpr unsigned long_blocks = 264;

/// The data shared by all steps.
template <class Index>
struct Entries {
  CommonSymbols text;
  const Index* suffixes;
  std::uint64_t size;
  Index* lcp;
  Index* reach;  ///< by position p: lcp(p) + p, or 0 if not stored
  // The list of entries that agree in more symbols than a warp compares:
  Index* listed;
  unsigned capacity;
  unsigned* count;  ///< may exceed the capacity: warps compare the entries that do not fit

  /// Stores the result of an entry that had to be compared.
  __device__ void settle(std::uint64_t i, std::uint64_t position, std::uint64_t common) const {
    lcp[i] = static_cast<Index>(common);
    reach[position] = static_cast<Index>(position + common);
  }
};

// Thread i owns entry i. The window of the previous entry comes from the previous lane; lane 0
// reads it. So the text is read once for each suffix. All lanes reach the shuffles, those beyond
// the last entry with position 0.
template <class Index>
__global__ void __launch_bounds__(element_threads) look_kernel(Entries<Index> entries) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const bool in_array = i < entries.size;
  const std::uint64_t right = in_array ? entries.suffixes[i] : 0;
  const std::uint64_t right_window = entries.text.window_before(right);
  std::uint64_t left = __shfl_up_sync(full_warp, static_cast<unsigned long long>(right), 1);
  std::uint64_t left_window =
      __shfl_up_sync(full_warp, static_cast<unsigned long long>(right_window), 1);
  if (!in_array) return;
  if (i == 0) {
    entries.lcp[0] = 0;
    return;
  }
  if (threadIdx.x % warp_threads == 0) {
    left = entries.suffixes[i - 1];
    left_window = entries.text.window_before(left);
  }

  const Index entry = entries.text.template first_look<Index>(left_window, right_window);
  if (entry != longer_mark<Index>) {
    entries.lcp[i] = entry;
    return;
  }
  const int window = entries.text.window();
  std::uint64_t common = static_cast<std::uint64_t>(window) - 1;
  for (int turn = 0; turn < windows_a_thread; ++turn) {
    const int more = entries.text.common(left + common, right + common);
    common += static_cast<std::uint64_t>(more);
    if (more < window) {
      entries.settle(i, right, common);
      return;
    }
  }
  entries.lcp[i] = entry;
}

/// Compares two suffixes by a whole warp: lane l compares the windows l, l + 32, .. after the first
/// `common` symbols, which are known to agree. All lanes must call it with the same values.
/// \return true when the first difference was found, within so many iterations; `common` counts the
///         symbols compared
__device__ bool extend_by_warp(const CommonSymbols& text, std::uint64_t left, std::uint64_t right,
                               std::uint64_t iterations, std::uint64_t& common) {
  const auto window = static_cast<unsigned>(text.window());
  const unsigned lane = threadIdx.x % warp_threads;
  for (std::uint64_t turn = 0; turn < iterations; ++turn) {
    const std::uint64_t offset = common + lane * window;
    const auto more = static_cast<unsigned>(text.common(left + offset, right + offset));
    const unsigned stopped = __ballot_sync(full_warp, more < window);
    if (stopped != 0) {
      const int first = first_lane(stopped);
      common += static_cast<unsigned>(first) * window + from_lane(more, first);
      return true;
    }
    common += warp_threads * window;
  }
  return false;
}

// A warp owns 32 consecutive entries; lane l tests whether entry l is marked as longer. The marked
// entries are compared one after another by all lanes.
template <class Index>
__global__ void __launch_bounds__(element_threads) extend_kernel(Entries<Index> entries) {
  const std::uint64_t own = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const unsigned lane = threadIdx.x % warp_threads;
  const bool marked = own < entries.size && entries.lcp[own] == longer_mark<Index>;
  // The ballot separates the reads of all entries from the first write.
  unsigned left_over = __ballot_sync(full_warp, marked);
  const auto window = static_cast<std::uint64_t>(entries.text.window());
  while (left_over != 0) {
    const auto chosen = static_cast<unsigned>(first_lane(left_over));
    left_over &= left_over - 1;
    const std::uint64_t i = own - lane + chosen;
    const std::uint64_t left = entries.suffixes[i - 1];
    const std::uint64_t right = entries.suffixes[i];
    std::uint64_t common = window - 1 + windows_a_thread * window;
    bool found = extend_by_warp(entries.text, left, right, windows_a_lane, common);
    if (!found) {
      unsigned place = 0;
      if (lane == 0) place = atomicAdd(entries.count, 1U);
      place = from_lane(place, 0);
      if (place < entries.capacity) {
        if (lane == 0) entries.listed[place] = static_cast<Index>(i);
        continue;
      }
      found = extend_by_warp(entries.text, left, right, ~std::uint64_t{0}, common);
    }
    if (lane == 0) entries.settle(i, right, common);
  }
}

// A block owns the listed entries blockIdx.x, blockIdx.x + gridDim.x, ..., one at a time. In an
// iteration, thread t compares the windows t, t + 1024, ... of a range; the least position where
// any of them stops is the end.
template <class Index>
__global__ void __launch_bounds__(long_block_threads) extend_long_kernel(Entries<Index> entries) {
  constexpr unsigned long long nowhere = ~0ULL;
  __shared__ unsigned long long end;
  const unsigned listed = *entries.count;
  const unsigned count = listed < entries.capacity ? listed : entries.capacity;
  const auto window = static_cast<std::uint64_t>(entries.text.window());
  for (unsigned item = blockIdx.x; item < count; item += gridDim.x) {
    const std::uint64_t i = entries.listed[item];
    const std::uint64_t left = entries.suffixes[i - 1];
    const std::uint64_t right = entries.suffixes[i];
    std::uint64_t common = window - 1 + (windows_a_thread + windows_a_lane * warp_threads) * window;
    unsigned long long found = nowhere;
    while (found == nowhere) {
      if (threadIdx.x == 0) end = nowhere;
      __syncthreads();
      unsigned long long own_end = nowhere;
#pragma unroll
      for (int k = 0; k < windows_at_a_time; ++k) {
        const std::uint64_t offset =
            common + (static_cast<std::uint64_t>(k) * long_block_threads + threadIdx.x) * window;
        const auto more =
            static_cast<std::uint64_t>(entries.text.common(left + offset, right + offset));
        if (more < window && own_end == nowhere) own_end = offset + more;
      }
      if (own_end != nowhere) atomicMin(&end, own_end);
      __syncthreads();
      found = end;
      __syncthreads();  // all threads have read before thread 0 clears
      common += windows_at_a_time * std::uint64_t{long_block_threads} * window;
    }
    if (threadIdx.x == 0) entries.settle(i, right, found);
  }
}

/// Capacity of the list of entries for blocks: more than any text needs that was not constructed to
/// exceed it. Entries beyond the capacity are compared by their warps.
std::uint64_t long_capacity(std::uint64_t size) {
  return std::min<std::uint64_t>(size / 1024 + 1024, 0x7fffffffU);
}

}  // namespace

template <Position Index>
DeviceBuffer<Index> lcp_on_device(const Context& context, const DeviceText& text,
                                  std::span<const Index> suffixes, CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  if (size == 0) return {};
  // Packed text at 9 bits, rare letters and separators at 1 bit each, scratch of the scan.
  constexpr std::uint64_t constant_scratch = 1 << 20;
  require(call, "the LCP array",
          2 * size * sizeof(Index) + size / 8 * 11 + long_capacity(size) * sizeof(Index) +
              size / 64 + constant_scratch);
  WaitingPhase phase(call, "lcp", size * (2 + 4 * sizeof(Index)));

  const MarkedText marked = mark_separators(text, stream);
  // Only the alphabet of the code matters here.
  const PackedText packed = pack_text(marked, plan_first_sort(marked, 32, stream), stream);

  DeviceBuffer<Index> lcp(size, stream);
  DeviceBuffer<Index> reach(size, stream);
  check_cuda(cudaMemsetAsync(reach.data(), 0, reach.bytes(), stream));
  DeviceBuffer<Index> list(long_capacity(size), stream);
  DeviceBuffer<unsigned> count(1, stream);
  check_cuda(cudaMemsetAsync(count.data(), 0, count.bytes(), stream));
  const Entries<Index> entries{{packed.stream, size},
                               suffixes.data(),
                               size,
                               lcp.data(),
                               reach.data(),
                               list.data(),
                               static_cast<unsigned>(list.size()),
                               count.data()};
  const unsigned blocks = blocks_for(size);
  look_kernel<Index><<<blocks, element_threads, 0, stream>>>(entries);
  check_cuda(cudaGetLastError());
  extend_kernel<Index><<<blocks, element_threads, 0, stream>>>(entries);
  check_cuda(cudaGetLastError());
  extend_long_kernel<Index><<<long_blocks, long_block_threads, 0, stream>>>(entries);
  check_cuda(cudaGetLastError());

  inclusive_maximum(reach.data(), size, stream);
  const auto take_from_reach = [entries] __device__(Index i) {
    if (entries.lcp[i] != extended_mark<Index>) return;
    const Index position = entries.suffixes[i];
    entries.lcp[i] = entries.reach[position] - position;
  };
  for_each_item<Index>(size, take_from_reach, stream);
  phase.stop();
  return lcp;
}

SORTIE_FOR_BOTH_POSITIONS(lcp_on_device);

}  // namespace sortie::suffix_array::cuda
