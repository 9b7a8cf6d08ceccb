// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/range_sort.hpp"
#include "primitives/cuda/warp.cuh"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "apps/suffix_array/cuda/numbered_set.cuh"
#include "apps/suffix_array/cuda/ranges/comparison_sort.hpp"
#include "apps/suffix_array/cuda/ranges/range_plan.hpp"
#include "apps/suffix_array/cuda/ranges/text_sort.hpp"
#include "apps/suffix_array/cuda/ranges/window_key.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Tests whether a suffix lies in a range; mostly by one read of the text.
template <class Index>
struct InRange {
  SuffixOrder<Index> order;
  SuffixRange range;

  __device__ bool operator()(std::uint64_t position) const {
    const auto window = order.text.template window<std::uint64_t>(position);
    const auto suffix = static_cast<Index>(position);
    if (!range.first) {
      if (window < range.begin_window) return false;
      if (window == range.begin_window && order.before(suffix, static_cast<Index>(range.begin))) {
        return false;
      }
    }
    if (!range.last) {
      if (window > range.end_window) return false;
      if (window == range.end_window && !order.before(suffix, static_cast<Index>(range.end))) {
        return false;
      }
    }
    return true;
  }
};

// Thread j tests the suffix at first + j; a warp writes one word of the set by a vote.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    mark_members_kernel(InRange<Index> in_range, std::uint64_t first, std::uint64_t count,
                        NumberedSet<Index> members) {
  const std::uint64_t j = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const unsigned votes = __ballot_sync(full_warp, j < count && in_range(first + j));
  if (threadIdx.x % 32 == 0 && j < count) members.words[j / 32].bits = votes;
}

template <class Index>
struct ListMembers {
  NumberedSet<Index> members;
  std::uint64_t first;
  Index* positions;

  __device__ void operator()(Index j) const {
    const NumberedWord<Index> word = members.word(j);
    if (word.contains(j)) positions[word.rank(j)] = static_cast<Index>(first + j);
  }
};

/// Positions of the suffixes of a range, ascending. Waits for the stream up to four times.
template <class Index>
DeviceBuffer<Index> gather(const InRange<Index>& in_range, std::uint64_t symbols,
                           cudaStream_t stream) {
  const std::uint64_t wanted = in_range.range.members;
  DeviceBuffer<Index> positions(wanted, stream);
  const std::uint64_t chunk =
      std::max(least_searched_chunk, (symbols + searched_chunks - 1) / searched_chunks);
  std::uint64_t found = 0;
  for (std::uint64_t first = 0; first < symbols; first += chunk) {
    const std::uint64_t count = std::min(chunk, symbols - first);
    NumberedSetBuffer<Index> members(count, stream);
    mark_members_kernel<<<blocks_for(count), element_threads, 0, stream>>>(in_range, first, count,
                                                                           members.set());
    check_cuda(cudaGetLastError());
    const std::uint64_t here = members.number_and_count(stream);
    if (here > wanted - found) break;
    for_each_item<Index>(count, ListMembers<Index>{members.set(), first, positions.data() + found},
                         stream);
    found += here;
    if (found == wanted && first + count == symbols) return positions;
  }
  throw Error(
      ErrorKind::device,
      "suffix array: found other suffixes in a range than were counted, " + std::to_string(wanted));
}

/// The number of low bits of the first keys in which suffixes of a range may differ.
int key_bits_of(const SymbolStream& text, const SuffixRange& range) {
  const WindowKey key{text};
  if (range.first || range.last) return key.bits();
  const int shift = (text.window_symbols(64) - key.symbols()) * text.bits;
  return static_cast<int>(std::bit_width((range.begin_window ^ range.end_window) >> shift)) + 1;
}

}  // namespace

template <Position Index>
DeviceBuffer<Index> sort_range(const SuffixOrder<Index>& order, std::uint64_t symbols,
                               const SuffixRange& range, RangeFigures& figures,
                               cudaStream_t stream) {
  if (range.members == 0) return {};
  TextSorted<Index> sorted =
      sort_by_text(order.text, gather(InRange<Index>{order, range}, symbols, stream),
                   key_bits_of(order.text, range), TextSortEnd{order.cover.period, true}, stream);
  figures.unresolved_after_first_sort += sorted.unresolved;
  figures.compared += sorted.groups.members;
  sort_by_comparisons(order, sorted, stream);
  return std::move(sorted.suffixes);
}

template DeviceBuffer<std::uint32_t> sort_range(const SuffixOrder<std::uint32_t>&, std::uint64_t,
                                                const SuffixRange&, RangeFigures&, cudaStream_t);
template DeviceBuffer<std::uint64_t> sort_range(const SuffixOrder<std::uint64_t>&, std::uint64_t,
                                                const SuffixRange&, RangeFigures&, cudaStream_t);

}  // namespace sortie::suffix_array::cuda
