// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/ranges.hpp"

#include <algorithm>
#include <bit>
#include <cub/device/device_merge_sort.cuh>
#include <string>
#include <utility>

#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/cuda/build/counting.cuh"
#include "apps/suffix_array/cuda/samples/group_slots.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "core/random.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/host/parallel.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// A member of a large group. Groups are numbered in order.
template <class Index>
struct Member {
  Index group;
  Index position;
};

/// The order of merge sorts. Not inlined: a merge sort contains dozens of comparisons, and the code
/// of before() is long.
template <class Index>
struct IsBefore {
  SuffixOrder<Index> order;
  std::uint64_t depth;  ///< letters in which all suffixes, or the members of each group, agree

  __device__ __noinline__ bool operator()(const Index& left, const Index& right) const {
    return order.before(left, right, depth);
  }
  __device__ __noinline__ bool operator()(const Member<Index>& left,
                                          const Member<Index>& right) const {
    if (left.group != right.group) return left.group < right.group;
    return order.before(left.position, right.position, depth);
  }
};

/// Windows and counts of as many candidates fit into 48 KiB of shared memory.
constexpr std::uint64_t most_candidates = 4095;
/// Candidates for each range: ranges are then filled to 97 %.
constexpr std::uint64_t candidates_a_range = 32;
constexpr std::uint64_t least_candidates = 256;

// Every thread visits positions [first, end) in strides of the grid. For each suffix it finds the number of
// candidates that are not after it: by windows in shared memory, and among candidates with the same
// window by whole suffixes. Counts are accumulated per block and added to the totals at its end.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    count_between_kernel(SuffixOrder<Index> order, std::uint64_t first, std::uint64_t end,
                         const Index* candidates, const std::uint64_t* windows, unsigned count,
                         unsigned long long* counts) {
  extern __shared__ std::uint64_t shared_windows[];
  auto* const shared_counts = reinterpret_cast<std::uint32_t*>(shared_windows + count);
  for (unsigned i = threadIdx.x; i < count; i += element_threads) shared_windows[i] = windows[i];
  for (unsigned i = threadIdx.x; i <= count; i += element_threads) shared_counts[i] = 0;
  __syncthreads();

  const std::uint64_t stride = std::uint64_t{gridDim.x} * element_threads;
  for (std::uint64_t at = first + std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
       at < end; at += stride) {
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

template <class Index>
void write_windows(const SymbolStream& text, const DeviceBuffer<Index>& positions,
                   DeviceBuffer<std::uint64_t>& windows, cudaStream_t stream) {
  const auto write_window = [text, positions = positions.data(),
                             windows = windows.data()] __device__(Index i) {
    windows[i] = text.template window<std::uint64_t>(positions[i]);
  };
  for_each_item<Index>(windows.size(), write_window, stream);
}

/// Tests whether a suffix lies in a range; mostly by one read of the text.
template <class Index>
struct InRange {
  SuffixOrder<Index> order;
  SuffixRange range;

  /// \param window  of 64 bits, at the position
  __device__ bool operator()(std::uint64_t position, std::uint64_t window) const {
    const auto suffix = static_cast<Index>(position);
    if (!range.first &&
        (window < range.begin_window ||
         (window == range.begin_window && order.before(suffix, static_cast<Index>(range.begin))))) {
      return false;
    }
    return range.last || window < range.end_window ||
           (window == range.end_window && order.before(suffix, static_cast<Index>(range.end)));
  }
};

// Thread t tests the positions of word t of the set, which are `first` + 32 t and the next 31. It
// reads the text as a stream: a window is the one before it, shifted by a symbol.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    find_members_kernel(InRange<Index> in_range, std::uint64_t first, std::uint64_t count,
                        NumberedSet<Index> members) {
  const std::uint64_t t = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (32 * t >= count) return;
  const SymbolStream& text = in_range.order.text;
  const std::uint64_t begin = first + 32 * t;
  const std::uint64_t bit = begin * static_cast<std::uint64_t>(text.bits);
  const std::uint64_t* next = text.words + bit / 64;
  auto shift = static_cast<unsigned>(bit % 64);
  std::uint64_t high = *next++;
  std::uint64_t low = *next++;
  const unsigned symbols = count - 32 * t < 32 ? static_cast<unsigned>(count - 32 * t) : 32U;
  std::uint32_t found = 0;
  for (unsigned i = 0; i < symbols; ++i) {
    // A shift by 64 is not defined.
    const std::uint64_t ahead = high << shift | low >> 1 >> (63 - shift);
    if (in_range(begin + i, text.window_of<std::uint64_t>(ahead))) found |= 1U << i;
    shift += static_cast<unsigned>(text.bits);
    if (shift >= 64 && i + 1 < symbols) {
      shift -= 64;
      high = low;
      low = *next++;
    }
  }
  members.words[t].bits = found;
}

// Thread t lists the members of word t.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    list_members_kernel(NumberedSet<Index> members, std::uint64_t first, std::uint64_t count,
                        Index* positions) {
  const std::uint64_t t = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (32 * t >= count) return;
  const NumberedWord<Index> word = members.words[t];
  Index* to = positions + word.before;
  for (std::uint32_t left = word.bits; left != 0; left &= left - 1)
    *to++ = static_cast<Index>(first + 32 * t +
                               static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1);
}

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
    const unsigned blocks = blocks_for(count, 32 * element_threads);
    find_members_kernel<<<blocks, element_threads, 0, stream>>>(in_range, first, count,
                                                                members.set());
    check_cuda(cudaGetLastError());
    const std::uint64_t here = members.number_and_count(stream);
    if (here > wanted - found) break;
    list_members_kernel<<<blocks, element_threads, 0, stream>>>(members.set(), first, count,
                                                                positions.data() + found);
    check_cuda(cudaGetLastError());
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

// Thread j handles member j of the list. In a small group it counts the members that precede its
// own, which gives its slot. The members of larger groups, and the first of each, are recorded in
// `large`, by their index in the list.
template <class Index>
__global__ void __launch_bounds__(element_threads)
    place_in_small_groups_kernel(SuffixOrder<Index> order, std::uint64_t depth, const Index* items,
                                 const Index* slots, const std::uint8_t* heads,
                                 std::uint64_t members, Index* suffixes,
                                 GroupSlotsView<Index> large) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  if (thread - lane >= members) return;  // the whole warp
  const auto group = group_bounds<Index>(heads, members, thread);
  const bool is_member = thread < members;
  const unsigned in_large = __ballot_sync(full_warp, is_member && !group.small);
  const unsigned begins = __ballot_sync(full_warp, is_member && !group.small && heads[thread] != 0);
  if (lane == 0 && in_large != 0) {
    large.members.words[thread / 32].bits = in_large;
    large.heads.words[thread / 32].bits = begins;
  }
  if (!is_member || !group.small) return;
  const auto j = static_cast<Index>(thread);
  const Index own = items[j];
  Index place = group.begin;
  for (Index i = group.begin; i < group.end; ++i) {
    if (i != j && order.before(items[i], own, depth)) ++place;
  }
  suffixes[slots[place]] = own;
}

/// Sorts the remaining groups by comparisons of two suffixes at a time: in groups of up to
/// most_counted members, most of which have two, every member compares itself with all others;
/// larger groups are sorted by merge sort. Releases the groups. Waits for the stream once if there
/// are large groups.
template <Position Index>
void sort_by_comparisons(const SuffixOrder<Index>& order, TextSorted<Index>& sorted,
                         cudaStream_t stream) {
  SuffixGroups<Index> list = std::move(sorted.groups);
  sorted.groups = {};
  if (list.members == 0) return;
  list.offsets.reset();
  NumberedSetBuffer<Index> large_members(list.members, stream);
  NumberedSetBuffer<Index> large_heads(list.members, stream);
  const GroupSlotsView<Index> large{large_members.set(), large_heads.set()};
  place_in_small_groups_kernel<<<blocks_for(list.members), element_threads, 0, stream>>>(
      order, sorted.depth, list.items.data(), list.slots.data(), list.heads.data(), list.members,
      sorted.suffixes.data(), large);
  check_cuda(cudaGetLastError());
  if (list.large_groups == 0) return;

  large_heads.number(stream);
  const std::uint64_t count = large_members.number_and_count(stream);
  DeviceBuffer<Member<Index>> members(count, stream);
  DeviceBuffer<Index> slots(count, stream);
  const auto list_large_member = [large, list = list.view(), members = members.data(),
                                  slots = slots.data()] __device__(Index j, Index at) {
    members[at] = {large.groups_up_to(j), list.items[j]};
    slots[at] = list.slots[j];
  };
  for_each_element(large.members, list.members, list_large_member, stream);
  const IsBefore<Index> is_before{order, sorted.depth};
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceMergeSort::SortKeys(scratch, bytes, members.data(), count, is_before, stream);
  });
  const auto place_member = [members = members.data(), slots = slots.data(),
                             suffixes = sorted.suffixes.data()] __device__(Index j) {
    suffixes[slots[j]] = members[j].position;
  };
  for_each_item<Index>(count, place_member, stream);
}

}  // namespace

template <Position Index>
TextSorted<Index> sort_by_text(const SymbolStream& text, DeviceBuffer<Index> positions,
                               int key_bits, std::uint64_t depth, bool when_slow,
                               cudaStream_t stream) {
  TextSorted<Index> sorted;
  const WindowKey key{text};
  {
    const std::uint64_t members = positions.size();
    DeviceBuffer<std::uint64_t> keys(members, stream);
    const auto write_key = [key, positions = positions.data(), keys = keys.data()] __device__(
                               Index j) { keys[j] = key(positions[j]); };
    for_each_item<Index>(members, write_key, stream);
    sorted.suffixes = std::move(positions);
    sort_by_key(keys, sorted.suffixes, key_bits, stream);
    sorted.groups = first_groups(keys, sorted.suffixes, members, stream);
  }
  sorted.depth = static_cast<std::uint64_t>(key.symbols());
  sorted.unresolved = sorted.groups.members;

  while (sorted.groups.members != 0 && sorted.depth < depth) {
    const std::uint64_t before = sorted.groups.members;
    compare_windows<std::uint64_t>(text, sorted.depth, sorted.groups, sorted.suffixes, 0, stream);
    if (when_slow && sorted.groups.members > before / 2) break;
  }
  return sorted;
}

std::vector<SuffixRange> join_ranges(const std::vector<SuffixRange>& parts, std::uint64_t most) {
  std::vector<SuffixRange> ranges;
  for (const SuffixRange& part : parts) {
    if (part.members > most) return {};
    if (ranges.empty() || ranges.back().members + part.members > most) {
      ranges.push_back(part);
      continue;
    }
    SuffixRange& range = ranges.back();
    range.end = part.end;
    range.end_window = part.end_window;
    range.last = part.last;
    range.members += part.members;
  }
  return ranges;
}

template <Position Index>
RangeCandidates<Index>::RangeCandidates(const SuffixOrder<Index>& order, std::uint64_t symbols,
                                        const CandidateDraw& draw, cudaStream_t stream)
    : order_(order),
      stream_(stream),
      candidates_(draw_positions<Index>(symbols, std::min({draw.count, most_candidates, symbols}),
                                        draw.number)),
      positions_(candidates_, stream),
      windows_(candidates_.size(), stream) {
  const std::uint64_t count = candidates_.size();
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceMergeSort::SortKeys(scratch, bytes, positions_.data(), count,
                                          IsBefore<Index>{order, 0}, stream);
  });
  write_windows(order.text, positions_, windows_, stream);
}

template <Position Index>
std::vector<std::uint64_t> RangeCandidates<Index>::count(std::uint64_t first,
                                                         std::uint64_t end) const {
  const std::uint64_t count = candidates_.size();
  std::vector<unsigned long long> counts(count + 1);
  if (first < end) {
    DeviceBuffer<unsigned long long> device_counts(count + 1, stream_);
    check_cuda(cudaMemsetAsync(device_counts.data(), 0, device_counts.bytes(), stream_));
    const std::size_t shared_bytes =
        count * sizeof(std::uint64_t) + (count + 1) * sizeof(std::uint32_t);
    // Enough to fill the largest GPU; no block counts 2^32 suffixes.
    constexpr std::uint64_t least_blocks = 1024;
    const std::uint64_t blocks =
        std::min<std::uint64_t>((end - first + element_threads - 1) / element_threads,
                                std::max<std::uint64_t>(least_blocks, (end - first) >> 30));
    count_between_kernel<<<static_cast<unsigned>(blocks), element_threads, shared_bytes, stream_>>>(
        order_, first, end, positions_.data(), windows_.data(), static_cast<unsigned>(count),
        device_counts.data());
    check_cuda(cudaGetLastError());
    device_counts.copy_to(counts);
    check_cuda(cudaStreamSynchronize(stream_));
  }
  return {counts.begin(), counts.end()};
}

template <Position Index>
std::vector<SuffixRange> RangeCandidates<Index>::pieces(
    std::span<const std::uint64_t> counts) const {
  const std::uint64_t count = candidates_.size();
  std::vector<Index> sorted(count);
  std::vector<std::uint64_t> windows(count);
  positions_.copy_to(sorted);
  windows_.copy_to(windows);
  check_cuda(cudaStreamSynchronize(stream_));
  // Piece i holds the suffixes from candidate i - 1 on and before candidate i.
  std::vector<SuffixRange> pieces(count + 1);
  pieces.front().first = true;
  pieces.back().last = true;
  for (std::size_t i = 0; i < count; ++i) {
    pieces[i].end = pieces[i + 1].begin = sorted[i];
    pieces[i].end_window = pieces[i + 1].begin_window = windows[i];
  }
  for (std::size_t i = 0; i <= count; ++i) pieces[i].members = counts[i];
  return pieces;
}

template <Position Index>
std::vector<SuffixRange> find_ranges(const SuffixOrder<Index>& order, std::uint64_t symbols,
                                     std::uint64_t most_members, cudaStream_t stream) {
  if (most_members >= symbols) return {{0, 0, 0, 0, true, true, symbols}};
  const std::uint64_t wanted =
      std::max(candidates_a_range * (symbols / most_members + 1), least_candidates);
  for (std::uint64_t draw = 0; draw < most_draws; ++draw) {
    const RangeCandidates<Index> candidates(order, symbols, {wanted, draw}, stream);
    const std::vector<SuffixRange> ranges =
        join_ranges(candidates.pieces(candidates.count(0, symbols)), most_members);
    if (!ranges.empty()) return ranges;
  }
  throw cannot_be_divided();
}

template <Position Index>
DeviceBuffer<Index> sort_range(const SuffixOrder<Index>& order, std::uint64_t symbols,
                               const SuffixRange& range, RangeFigures& figures,
                               cudaStream_t stream) {
  if (range.members == 0) return {};
  TextSorted<Index> sorted =
      sort_by_text(order.text, gather(InRange<Index>{order, range}, symbols, stream),
                   key_bits_of(order.text, range), order.cover.period, true, stream);
  figures.unresolved_after_first_sort += sorted.unresolved;
  figures.compared += sorted.groups.members;
  sort_by_comparisons(order, sorted, stream);
  return std::move(sorted.suffixes);
}

template class RangeCandidates<std::uint32_t>;
template class RangeCandidates<std::uint64_t>;
SORTIE_FOR_BOTH_POSITIONS(sort_by_text);
SORTIE_FOR_BOTH_POSITIONS(find_ranges);
SORTIE_FOR_BOTH_POSITIONS(sort_range);

}  // namespace sortie::suffix_array::cuda
