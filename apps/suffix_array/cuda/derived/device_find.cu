// SPDX-License-Identifier: Apache-2.0

// Queries on device memory: a binary search for each pattern, then a gather of positions.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#include <limits>

#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

// Thread i searches for pattern i. Its reads are at random addresses, so the number of resident
// threads decides the speed: the search uses few registers.
template <class Index>
struct FindPattern {
  PatternSearch<Index> search;
  const std::uint8_t* letters;
  const std::uint64_t* begins;
  EntryRange* ranges;

  __device__ void operator()(std::uint64_t i) const {
    ranges[i] = search(letters + begins[i], begins[i + 1] - begins[i]);
  }
};

/// Number of positions to return for pattern i; 0 for the item after the last pattern, whose
/// exclusive sum is the total.
struct WantedHits {
  const EntryRange* ranges;
  std::uint64_t patterns;
  std::uint64_t most;

  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    if (i >= patterns) return 0;
    const std::uint64_t count = ranges[i].end - ranges[i].begin;
    return count < most ? count : most;
  }
};

// Thread j gathers position j of all results. The threads of a warp mostly have the same few
// patterns, so their binary searches read neighbouring words, which the caches hold.
template <class Index>
struct GatherPosition {
  const Index* suffixes;
  const EntryRange* ranges;
  const std::uint64_t* begins;  ///< begins[patterns] is greater than every j
  std::uint64_t patterns;
  Index* positions;

  __device__ void operator()(std::uint64_t j) const {
    std::uint64_t low = 0;  // begins[low] <= j < begins[high]
    std::uint64_t high = patterns;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (begins[middle] <= j ? low : high) = middle;
    }
    positions[j] = suffixes[ranges[low].begin + (j - begins[low])];
  }
};

/// The exclusive sums of WantedHits, and after them the total.
DeviceBuffer<std::uint64_t> sum_hits(const WantedHits& wanted, cudaStream_t stream) {
  const std::uint64_t items = wanted.patterns + 1;
  if (items > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) {
    throw Error(ErrorKind::usage, "suffix array query: found " + std::to_string(wanted.patterns) +
                                      " patterns, expected at most 2147483646 at once on a GPU");
  }
  DeviceBuffer<std::uint64_t> begins(items, stream);
  const auto hits =
      thrust::make_transform_iterator(thrust::make_counting_iterator<std::uint64_t>(0), wanted);
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, hits, begins.data(),
                                         static_cast<int>(items), stream);
  });
  return begins;
}

}  // namespace

template <Position Index>
DeviceBuffer<EntryRange> find_on_device(const Context& context, const DeviceText& text,
                                        std::span<const Index> suffixes,
                                        const PatternView& patterns, CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  require(call, "the suffix array query", patterns.size() * sizeof(EntryRange) + size / 8);
  WaitingPhase phase(call, "query", patterns.letters.size());
  const DeviceBuffer<std::uint32_t> separator_bits = mark_separators(text, stream);
  DeviceBuffer<EntryRange> ranges(patterns.size(), stream);
  for_each_item<std::uint64_t>(patterns.size(),
                               FindPattern<Index>{{text.symbols.data(), suffixes.data(),
                                                   RecordEnds{separator_bits.data(), size}},
                                                  patterns.letters.data(),
                                                  patterns.begins.data(),
                                                  ranges.data()},
                               stream);
  phase.stop();
  return ranges;
}

template <Position Index>
DeviceOccurrences<Index> locate_on_device(const Context& context, const DeviceText& text,
                                          std::span<const Index> suffixes,
                                          const PatternView& patterns, std::uint64_t most_hits,
                                          CUstream_st* stream) {
  const DeviceCall call(context, stream);
  DeviceOccurrences<Index> found;
  found.ranges = find_on_device(context, text, suffixes, patterns, stream);
  WaitingPhase phase(call, "locate");
  found.begins = sum_hits({found.ranges.data(), patterns.size(), most_hits}, stream);
  std::uint64_t total = 0;
  check_cuda(cudaMemcpyAsync(&total, found.begins.data() + patterns.size(), sizeof(total),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  require(call, "the positions that a suffix array query found",
          found.ranges.bytes() + found.begins.bytes() + total * sizeof(Index));
  phase.set_bytes(2 * total * sizeof(Index));
  found.positions = {total, stream};
  for_each_item<std::uint64_t>(
      total,
      GatherPosition<Index>{suffixes.data(), found.ranges.data(), found.begins.data(),
                            patterns.size(), found.positions.data()},
      stream);
  phase.stop();
  return found;
}

template decltype(find_on_device<std::uint32_t>) find_on_device<std::uint32_t>;
template decltype(find_on_device<std::uint64_t>) find_on_device<std::uint64_t>;
template decltype(locate_on_device<std::uint32_t>) locate_on_device<std::uint32_t>;
template decltype(locate_on_device<std::uint64_t>) locate_on_device<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
