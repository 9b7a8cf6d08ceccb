// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/std/bit>
#include <type_traits>
#include <vector>

#include "apps/bench/cuda/number_draw.cuh"
#include "apps/bench/cuda/segsort_data.hpp"
#include "core/cuda/check.hpp"
#include "core/random.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using Count = unsigned long long;  // type of atomics and hashes

constexpr int block_threads = 256;
// Enough to fill any GPU several times; the kernels use grid-stride loops.
constexpr std::uint64_t most_blocks = 1 << 14;

unsigned blocks_for(std::uint64_t items) {
  const std::uint64_t blocks = (items + block_threads - 1) / block_threads;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, most_blocks));
}

__device__ std::uint64_t first_item() {
  return std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
}

__device__ std::uint64_t item_stride() {
  return std::uint64_t{gridDim.x} * block_threads;
}

/// Item `index` of random_keys().
template <class Key>
__device__ Key random_key(std::uint64_t seed, std::uint64_t index) {
  Random random(seed);
  random.discard(index);
  if constexpr (kind_of(key_type_of<Key>()) == KeyKind::floating_point) {
    return static_cast<Key>(2 * random.uniform() - 1);
  } else {
    return static_cast<Key>(random.next());
  }
}

/// Whether `a` may precede `b`; false for a NaN.
template <class Key>
__device__ bool is_ordered(Key a, Key b) {
  if constexpr (Float16Like<Key>) {
    return static_cast<float>(a) <= static_cast<float>(b);
  } else {
    return a <= b;
  }
}

/// Draws the keys of fill_random_keys().
template <class Key>
class KeyDraw {
 public:
  KeyDraw(const KeyDistribution& distribution, std::uint64_t seed)
      : is_uniform_(distribution.keys.kind == SortCase::Kind::uniform),
        seed_(seed),
        ids_(distribution.ids),
        offsets_(distribution.offsets),
        has_wide_offsets_(distribution.offset_bytes == 8),
        draw_(distribution.keys, static_cast<int>(8 * sizeof(Key)), seed) {}

  __device__ Key operator()(std::uint64_t i) const {
    if (is_uniform_) return random_key<Key>(seed_, i);
    const std::uint64_t begin = offset(ids_[i]);
    return static_cast<Key>(draw_(i, i - begin, offset(ids_[i] + 1) - begin));
  }

 private:
  __device__ std::uint64_t offset(std::uint64_t segment) const {
    return has_wide_offsets_ ? static_cast<const std::uint64_t*>(offsets_)[segment]
                             : static_cast<const std::uint32_t*>(offsets_)[segment];
  }

  bool is_uniform_;
  std::uint64_t seed_;
  const std::uint32_t* ids_;
  const void* offsets_;
  bool has_wide_offsets_;
  NumberDraw draw_;
};

/// The bits of a key, for bitwise comparison of NaNs and zeros.
template <class Key>
__device__ std::uint64_t bits_of(Key key) {
  if constexpr (std::is_integral_v<Key>)
    return static_cast<std::make_unsigned_t<Key>>(key);
  else
    return cuda::std::bit_cast<
        std::conditional_t<sizeof(Key) == 2, std::uint16_t,
                           std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>>>(
        key);
}

template <class Key>
__global__ void __launch_bounds__(block_threads)
    fill_keys_kernel(Key* keys, std::uint64_t items, KeyDraw<Key> draw) {
  for (std::uint64_t i = first_item(); i < items; i += item_stride()) {
    keys[i] = draw(i);
  }
}

template <class Value>
__global__ void __launch_bounds__(block_threads)
    fill_values_kernel(Value* values, std::uint64_t items) {
  for (std::uint64_t i = first_item(); i < items; i += item_stride()) {
    values[i] = static_cast<Value>(i);
  }
}

template <class Offset>
__global__ void __launch_bounds__(block_threads)
    equal_offsets_kernel(Offset* offsets, std::uint64_t segments, std::uint64_t length,
                         std::uint64_t items) {
  for (std::uint64_t i = first_item(); i <= segments; i += item_stride()) {
    offsets[i] = static_cast<Offset>(i == segments ? items : i * length);
  }
}

/// Draws length i from number i of the random stream, like make_segment_case(). The table of at
/// most a few thousand sums stays in the L1 cache.
__global__ void __launch_bounds__(block_threads)
    draw_lengths_kernel(const double* __restrict__ cumulative, std::uint64_t longest,
                        std::uint64_t seed, std::uint64_t count, std::uint64_t* lengths) {
  const double sum = cumulative[longest - 1];
  for (std::uint64_t i = first_item(); i < count; i += item_stride()) {
    Random random(seed);
    random.discard(i);
    const double wanted = random.uniform() * sum;
    std::uint64_t low = 0;  // upper bound: the first sum that is greater
    std::uint64_t high = longest;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (cumulative[middle] > wanted) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    lengths[i] = min(low + 1, longest);
  }
}

/// Truncates the segments at the number of items and stores their number: the last segment is the
/// first one whose end reaches the number of items.
template <class Offset>
__global__ void __launch_bounds__(block_threads)
    trim_offsets_kernel(const std::uint64_t* ends, std::uint64_t count, std::uint64_t items,
                        Offset* offsets, std::uint64_t* segments) {
  for (std::uint64_t i = first_item(); i < count; i += item_stride()) {
    const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
    if (begin >= items) continue;
    if (i == 0) offsets[0] = 0;
    offsets[i + 1] = static_cast<Offset>(min(ends[i], items));
    if (ends[i] >= items) *segments = i + 1;
  }
}

__device__ void report(Count* counter, ResultFaults* faults, std::uint64_t place) {
  atomicAdd(counter, Count{1});
  atomicMin(&faults->first, Count{place});
}

/// A bijective hash of 64 bits in which every output bit depends on every input bit (the finaliser
/// of MurmurHash3).
__device__ Count mix(Count x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

/// What the kernels need of a ResultToCheck.
struct CheckedArrays {
  std::uint64_t items;
  const void* keys_in;
  const void* keys_out;
  const void* values_out;
  const std::uint32_t* ids;
};

/// One thread per item; item i is position i of input and output.
template <class Key>
__global__ void __launch_bounds__(block_threads)
    check_keys_kernel(CheckedArrays result, KeyDraw<Key> draw, ResultFaults* faults) {
  const auto* keys_in = static_cast<const Key*>(result.keys_in);
  const auto* keys_out = static_cast<const Key*>(result.keys_out);
  for (std::uint64_t i = first_item(); i < result.items; i += item_stride()) {
    if (i > 0 && result.ids[i] == result.ids[i - 1] && !is_ordered(keys_out[i - 1], keys_out[i])) {
      report(&faults->unsorted, faults, i);
    }
    if (bits_of(keys_in[i]) != bits_of(draw(i))) {
      report(&faults->overwritten, faults, i);
    }
  }
}

/// One thread per item; `seen` has one bit for every value.
template <class Key, class Value>
__global__ void __launch_bounds__(block_threads)
    check_values_kernel(CheckedArrays result, KeyDraw<Key> draw, std::uint32_t* seen,
                        ResultFaults* faults) {
  const auto* keys_out = static_cast<const Key*>(result.keys_out);
  const auto* values_out = static_cast<const Value*>(result.values_out);
  for (std::uint64_t i = first_item(); i < result.items; i += item_stride()) {
    const auto from = static_cast<std::uint64_t>(values_out[i]);
    if (from >= result.items || result.ids[from] != result.ids[i]) {
      report(&faults->foreign, faults, i);
      continue;
    }
    if (bits_of(keys_out[i]) != bits_of(draw(from))) {
      report(&faults->mismatched, faults, i);
    }
    const std::uint32_t bit = std::uint32_t{1} << (from % 32);
    if ((atomicOr(seen + from / 32, bit) & bit) != 0) report(&faults->repeated, faults, i);
  }
}

/// Sums the hashes of (segment, key) over the input, recomputed from the seed, and over the output.
/// All threads of a block participate in the reduction, also those without an item.
template <class Key>
__global__ void __launch_bounds__(block_threads)
    hash_keys_kernel(CheckedArrays result, KeyDraw<Key> draw, ResultFaults* faults) {
  using Reduce = cub::BlockReduce<Count, block_threads>;
  __shared__ typename Reduce::TempStorage storage;
  const auto* keys_out = static_cast<const Key*>(result.keys_out);
  Count sums[2][2] = {};
  for (std::uint64_t i = first_item(); i < result.items; i += item_stride()) {
    const Count segment = mix(result.ids[i] + 0x9e3779b97f4a7c15ULL);
    const Count keys[2] = {bits_of(draw(i)), bits_of(keys_out[i])};
    for (int side = 0; side < 2; ++side) {
      const Count hash = mix(keys[side] ^ segment);
      sums[side][0] += hash;
      sums[side][1] += mix(mix(keys[side] + segment) ^ 0xd6e8feb86659fd93ULL);
    }
  }
  for (int side = 0; side < 2; ++side) {
    for (int which = 0; which < 2; ++which) {
      const Count sum = Reduce(storage).Sum(sums[side][which]);
      if (threadIdx.x == 0) atomicAdd(&faults->hashes[side][which], sum);
      __syncthreads();  // before the next sum reuses the storage
    }
  }
}

/// Calls `function` with a value of the unsigned type of 4 or 8 bytes.
template <class Function>
void with_width(int bytes, Function function) {
  if (bytes == 4) return function(std::uint32_t{});
  if (bytes == 8) return function(std::uint64_t{});
  throw Error(ErrorKind::usage, "found a width that is neither 4 nor 8 bytes");
}

int offset_width(std::uint64_t items) {
  return items <= static_cast<std::uint64_t>(INT32_MAX) ? 4 : 8;
}

DeviceSegments equal_segments(std::uint64_t length, std::uint64_t items, cudaStream_t stream) {
  DeviceSegments segments;
  segments.offset_bytes = offset_width(items);
  const std::uint64_t count = (items - 1) / length + 1;
  segments.count = static_cast<std::int64_t>(count);
  segments.offsets = DeviceBuffer<std::byte>(
      (count + 1) * static_cast<std::size_t>(segments.offset_bytes), stream);
  with_width(segments.offset_bytes, [&]<class Offset>(Offset) {
    equal_offsets_kernel<<<blocks_for(count + 1), block_threads, 0, stream>>>(
        reinterpret_cast<Offset*>(segments.offsets.data()), count, length, items);
  });
  check_cuda(cudaGetLastError());
  return segments;
}

/// Number of lengths to draw such that their sum reaches `items` except with probability 10^-15.
/// Every length is at least 1, so `items` lengths always suffice.
std::uint64_t lengths_to_draw(const std::vector<double>& cumulative, std::uint64_t items) {
  double first_moment = 0;
  double second_moment = 0;
  for (std::size_t i = 0; i < cumulative.size(); ++i) {
    const double weight = (cumulative[i] - (i == 0 ? 0 : cumulative[i - 1])) / cumulative.back();
    const double length = static_cast<double>(i + 1);
    first_moment += weight * length;
    second_moment += weight * length * length;
  }
  const double variance = std::max(0.0, second_moment - first_moment * first_moment);
  const double expected = static_cast<double>(items) / first_moment;
  const double deviation = std::sqrt(expected * variance) / first_moment;
  return std::min(items, static_cast<std::uint64_t>(expected + 8 * deviation) + 64);
}

/// Prefix sums of the first 1, 2, ... `count` lengths.
DeviceBuffer<std::uint64_t> segment_ends(const DeviceBuffer<double>& cumulative,
                                         std::uint64_t count, std::uint64_t seed,
                                         cudaStream_t stream) {
  DeviceBuffer<std::uint64_t> ends(count, stream);
  draw_lengths_kernel<<<blocks_for(count), block_threads, 0, stream>>>(
      cumulative.data(), cumulative.size(), seed, count, ends.data());
  check_cuda(cudaGetLastError());
  const auto items = static_cast<std::int64_t>(count);
  std::size_t bytes = 0;
  check_cuda(
      cub::DeviceScan::InclusiveSum(nullptr, bytes, ends.data(), ends.data(), items, stream));
  DeviceBuffer<std::byte> temporary(bytes, stream);
  check_cuda(cub::DeviceScan::InclusiveSum(temporary.data(), bytes, ends.data(), ends.data(), items,
                                           stream));
  return ends;
}

DeviceSegments power_law_segments(const SegmentShape& shape, std::uint64_t items,
                                  std::uint64_t seed, cudaStream_t stream) {
  const std::vector<double> sums = cumulative_power_law(shape);
  const DeviceBuffer<double> cumulative(std::span<const double>(sums), stream);
  DeviceSegments segments;
  segments.offset_bytes = offset_width(items);
  std::uint64_t found = 0;
  for (std::uint64_t count = lengths_to_draw(sums, items); found == 0;
       count = std::min(items, 2 * count)) {
    const DeviceBuffer<std::uint64_t> ends = segment_ends(cumulative, count, seed, stream);
    DeviceBuffer<std::uint64_t> last(1, stream);
    check_cuda(cudaMemsetAsync(last.data(), 0, last.bytes(), stream));
    segments.offsets = DeviceBuffer<std::byte>(
        (count + 1) * static_cast<std::size_t>(segments.offset_bytes), stream);
    with_width(segments.offset_bytes, [&]<class Offset>(Offset) {
      trim_offsets_kernel<<<blocks_for(count), block_threads, 0, stream>>>(
          ends.data(), count, items, reinterpret_cast<Offset*>(segments.offsets.data()),
          last.data());
    });
    check_cuda(cudaGetLastError());
    last.copy_to({&found, 1});
    check_cuda(cudaStreamSynchronize(stream));
  }
  segments.count = static_cast<std::int64_t>(found);
  return segments;
}

/// Segments of a shape, generated on the host and copied. Used for the skews, which have few
/// segments or only short ones and take the host milliseconds.
DeviceSegments segments_of_host(const SegmentShape& shape, std::uint64_t items, std::uint64_t seed,
                                cudaStream_t stream) {
  const SegmentCase host = make_segment_case("", shape, items, seed);
  DeviceSegments segments;
  segments.offset_bytes = offset_width(items);
  segments.count = static_cast<std::int64_t>(host.segments());
  segments.offsets = DeviceBuffer<std::byte>(
      host.offsets.size() * static_cast<std::size_t>(segments.offset_bytes), stream);
  with_width(segments.offset_bytes, [&]<class Offset>(Offset) {
    const std::vector<Offset> narrow(host.offsets.begin(), host.offsets.end());
    check_cuda(cudaMemcpyAsync(segments.offsets.data(), narrow.data(),
                               narrow.size() * sizeof(Offset), cudaMemcpyHostToDevice, stream));
    check_cuda(cudaStreamSynchronize(stream));
  });
  return segments;
}

}  // namespace

void fill_random_keys(KeyType type, void* keys, std::uint64_t items, std::uint64_t seed,
                      cudaStream_t stream, const KeyDistribution& distribution) {
  with_key_type(type, [&]<class Key>(Key) {
    fill_keys_kernel<<<blocks_for(items), block_threads, 0, stream>>>(
        static_cast<Key*>(keys), items, KeyDraw<Key>(distribution, seed));
  });
  check_cuda(cudaGetLastError());
}

void fill_index_values(int value_bytes, void* values, std::uint64_t items, cudaStream_t stream) {
  if (value_bytes == 0) return;
  with_width(value_bytes, [&]<class Value>(Value) {
    fill_values_kernel<<<blocks_for(items), block_threads, 0, stream>>>(static_cast<Value*>(values),
                                                                        items);
  });
  check_cuda(cudaGetLastError());
}

DeviceSegments make_device_segments(const SegmentShape& shape, std::uint64_t items,
                                    std::uint64_t seed, cudaStream_t stream) {
  switch (shape.kind) {
    case SegmentShape::Kind::equal:
      return equal_segments(std::min(shape.length, items), items, stream);
    case SegmentShape::Kind::power_law:
      return power_law_segments(shape, items, seed, stream);
    case SegmentShape::Kind::skew:
      return segments_of_host(shape, items, seed, stream);
  }
  throw Error(ErrorKind::usage, "unknown shape of segments");
}

ResultFaults check_result(const ResultToCheck& result, cudaStream_t stream) {
  ResultFaults faults;
  DeviceBuffer<ResultFaults> found(std::span<const ResultFaults>(&faults, 1), stream);
  const unsigned blocks = blocks_for(result.items);
  with_key_type(result.key_type, [&]<class Key>(Key) {
    const CheckedArrays arrays{result.items, result.keys_in, result.keys_out, result.values_out,
                               result.ids};
    const KeyDraw<Key> draw(result.distribution, result.seed);
    check_keys_kernel<Key><<<blocks, block_threads, 0, stream>>>(arrays, draw, found.data());
    if (result.value_bytes == 0) {
      hash_keys_kernel<Key><<<blocks, block_threads, 0, stream>>>(arrays, draw, found.data());
      return;
    }
    DeviceBuffer<std::uint32_t> seen((result.items + 31) / 32, stream);
    check_cuda(cudaMemsetAsync(seen.data(), 0, seen.bytes(), stream));
    with_width(result.value_bytes, [&]<class Value>(Value) {
      check_values_kernel<Key, Value>
          <<<blocks, block_threads, 0, stream>>>(arrays, draw, seen.data(), found.data());
    });
  });
  check_cuda(cudaGetLastError());
  found.copy_to({&faults, 1});
  check_cuda(cudaStreamSynchronize(stream));
  return faults;
}

}  // namespace sortie::bench
