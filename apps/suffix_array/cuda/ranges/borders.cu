// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/suffix_ranges.hpp"

#include <algorithm>
#include <cub/device/device_merge_sort.cuh>
#include <utility>

#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/cuda/ranges/range_plan.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "core/random.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/host/parallel.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Windows and counts of as many candidates fit into 48 KiB of shared memory.
constexpr std::uint64_t most_candidates = 4095;
/// Candidates for each range: ranges are then filled to 97 %.
constexpr std::uint64_t candidates_a_range = 32;
constexpr std::uint64_t least_candidates = 256;
/// Most attempts to draw candidates; each one is almost certain to succeed.
constexpr std::uint64_t most_draws = 8;

template <class Index>
struct IsBefore {
  SuffixOrder<Index> order;

  // Not inlined: a merge sort contains dozens of comparisons, and the code of before() is long.
  __device__ __noinline__ bool operator()(const Index& left, const Index& right) const {
    return order.before(left, right);
  }
};

// Every thread visits the text in strides of the grid. For each suffix it finds the number of
// candidates that are not after it: by windows in shared memory, and among candidates with the same
// window by whole suffixes. Counts are accumulated per block and added to the totals at its end.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    count_between_kernel(SuffixOrder<Index> order, std::uint64_t symbols, const Index* candidates,
                         const std::uint64_t* windows, unsigned count, unsigned long long* counts) {
  extern __shared__ std::uint64_t shared_windows[];
  auto* const shared_counts = reinterpret_cast<std::uint32_t*>(shared_windows + count);
  for (unsigned i = threadIdx.x; i < count; i += element_threads) shared_windows[i] = windows[i];
  for (unsigned i = threadIdx.x; i <= count; i += element_threads) shared_counts[i] = 0;
  __syncthreads();

  const std::uint64_t stride = std::uint64_t{gridDim.x} * element_threads;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x; at < symbols;
       at += stride) {
    const auto position = static_cast<Index>(at);
    const auto window = order.text.template window<std::uint64_t>(at);
    unsigned begin = first_true(0U, count, [&](unsigned i) { return shared_windows[i] >= window; });
    if (begin < count && shared_windows[begin] == window) {
      const unsigned behind =
          first_true(begin + 1, count, [&](unsigned i) { return shared_windows[i] != window; });
      begin = first_true(begin, behind,
                         [&](unsigned i) { return order.before(position, candidates[i]); });
    }
    atomicAdd(&shared_counts[begin], 1U);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i <= count; i += element_threads) {
    if (shared_counts[i] != 0) {
      atomicAdd(&counts[i], static_cast<unsigned long long>(shared_counts[i]));
    }
  }
}

/// Draws one position from each of `count` equal ranges of the text.
template <class Index>
std::vector<Index> draw_positions(std::uint64_t symbols, std::uint64_t count, std::uint64_t draw) {
  Random random(draw);
  std::vector<Index> positions(count);
  const EqualShares shares{symbols, count};
  for (std::uint64_t i = 0; i < count; ++i) {
    positions[i] = static_cast<Index>(shares.begin(i) + random.below(shares.size(i)));
  }
  return positions;
}

/// Divides the suffix array at the candidates.
template <class Index>
std::vector<SuffixRange> count_between(const SuffixOrder<Index>& order, std::uint64_t symbols,
                                       std::vector<Index> candidates, cudaStream_t stream) {
  const std::uint64_t count = candidates.size();
  DeviceBuffer<Index> positions(candidates, stream);
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceMergeSort::SortKeys(scratch, bytes, positions.data(), count,
                                          IsBefore<Index>{order}, stream);
  });
  DeviceBuffer<std::uint64_t> windows(count, stream);
  const auto write_window = [text = order.text, positions = positions.data(),
                             windows = windows.data()] __device__(Index i) {
    windows[i] = text.template window<std::uint64_t>(positions[i]);
  };
  for_each_item<Index>(count, write_window, stream);
  DeviceBuffer<unsigned long long> device_counts(count + 1, stream);
  check_cuda(cudaMemsetAsync(device_counts.data(), 0, device_counts.bytes(), stream));
  const std::size_t shared_bytes =
      count * sizeof(std::uint64_t) + (count + 1) * sizeof(std::uint32_t);
  // Enough to fill the largest GPU; no block counts 2^32 suffixes.
  constexpr std::uint64_t least_blocks = 1024;
  const std::uint64_t blocks =
      std::min<std::uint64_t>((symbols + element_threads - 1) / element_threads,
                              std::max<std::uint64_t>(least_blocks, symbols >> 30));
  count_between_kernel<<<static_cast<unsigned>(blocks), element_threads, shared_bytes, stream>>>(
      order, symbols, positions.data(), windows.data(), static_cast<unsigned>(count),
      device_counts.data());
  check_cuda(cudaGetLastError());

  std::vector<unsigned long long> counts(count + 1);
  device_counts.copy_to(counts);
  positions.copy_to(candidates);
  std::vector<std::uint64_t> host_windows(count);
  windows.copy_to(host_windows);
  check_cuda(cudaStreamSynchronize(stream));
  // Piece i holds the suffixes from candidate i - 1 on and before candidate i.
  std::vector<SuffixRange> pieces(count + 1);
  pieces.front().first = true;
  pieces.back().last = true;
  for (std::size_t i = 0; i < count; ++i) {
    pieces[i].end = pieces[i + 1].begin = candidates[i];
    pieces[i].end_window = pieces[i + 1].begin_window = host_windows[i];
  }
  for (std::size_t i = 0; i <= count; ++i) pieces[i].members = counts[i];
  return pieces;
}

}  // namespace

template <Position Index>
std::vector<SuffixRange> find_ranges(const SuffixOrder<Index>& order, std::uint64_t symbols,
                                     std::uint64_t most_members, cudaStream_t stream) {
  if (most_members >= symbols) return {{0, 0, 0, 0, true, true, symbols}};
  const std::uint64_t wanted =
      std::max(candidates_a_range * (symbols / most_members + 1), least_candidates);
  const std::uint64_t count = std::min({wanted, most_candidates, symbols});
  for (std::uint64_t draw = 0; draw < most_draws; ++draw) {
    const std::vector<SuffixRange> pieces =
        count_between(order, symbols, draw_positions<Index>(symbols, count, draw), stream);
    std::vector<std::uint64_t> counts;
    for (const SuffixRange& piece : pieces) counts.push_back(piece.members);
    const std::vector<std::size_t> ends = join_counts(counts, most_members);
    if (ends.empty()) continue;
    std::vector<SuffixRange> ranges;
    std::size_t from = 0;
    for (const std::size_t to : ends) {
      SuffixRange range = pieces[to - 1];
      range.begin = pieces[from].begin;
      range.begin_window = pieces[from].begin_window;
      range.first = pieces[from].first;
      for (std::size_t i = from; i + 1 < to; ++i) range.members += counts[i];
      ranges.push_back(range);
      from = to;
    }
    return ranges;
  }
  throw Error(ErrorKind::device, "suffix array: the suffixes cannot be divided into ranges");
}

SORTIE_INSTANTIATE_FOR_POSITIONS(find_ranges);

}  // namespace sortie::suffix_array::cuda
