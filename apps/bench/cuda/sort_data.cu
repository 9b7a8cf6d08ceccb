// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "apps/bench/cuda/number_draw.cuh"
#include "apps/bench/cuda/sort_data.hpp"
#include "core/cuda/check.hpp"
#include "core/random.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::bench {
namespace {

constexpr int block_threads = 256;
constexpr std::uint64_t most_blocks = 1 << 14;

unsigned blocks_for(std::uint64_t items) {
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>((items + block_threads - 1) / block_threads, 1, most_blocks));
}

template <class Word>
__global__ void __launch_bounds__(block_threads)
    fill_kernel(SortRange range, NumberDraw draw, std::uint64_t items, KeyCodec<Word> codec,
                bool is_floating, int value_bytes) {
  constexpr auto minus_zero = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  const std::uint64_t stride = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x; i < range.size;
       i += stride) {
    const std::uint64_t item = range.begin + i;
    const Word key = codec.decoded(static_cast<Word>(draw(item, item, items)));
    // -0.0 becomes +0.0, since peers take both for equal.
    static_cast<Word*>(range.keys)[i] = is_floating && key == minus_zero ? Word{0} : key;
    if (value_bytes == 1)
      static_cast<std::uint8_t*>(range.values)[i] = static_cast<std::uint8_t>(item);
    if (value_bytes == 2)
      static_cast<std::uint16_t*>(range.values)[i] = static_cast<std::uint16_t>(item);
    if (value_bytes == 4)
      static_cast<std::uint32_t*>(range.values)[i] = static_cast<std::uint32_t>(item);
    if (value_bytes == 8) static_cast<std::uint64_t*>(range.values)[i] = item;
    if (value_bytes == 16) static_cast<ulonglong2*>(range.values)[i] = ulonglong2{item, ~item};
  }
}

/// The number of an item as its value tells it, by its low bits only if the value has less than 4 bytes.
__device__ std::uint64_t value_of(const SortRange& range, int value_bytes, std::uint64_t i) {
  if (value_bytes == 1) return static_cast<const std::uint8_t*>(range.values)[i];
  if (value_bytes == 2) return static_cast<const std::uint16_t*>(range.values)[i];
  if (value_bytes == 4) return static_cast<const std::uint32_t*>(range.values)[i];
  if (value_bytes == 8) return static_cast<const std::uint64_t*>(range.values)[i];
  if (value_bytes == 16) {
    const ulonglong2 value = static_cast<const ulonglong2*>(range.values)[i];
    return value.x == ~value.y ? value.x : ~std::uint64_t{0};
  }
  return 0;
}

/// counts: checksum, keys out of order, unstable pairs, first key, last key.
template <class Word>
__global__ void __launch_bounds__(block_threads)
    check_kernel(SortRange range, KeyCodec<Word> codec, int value_bytes,
                 unsigned long long* counts) {
  const auto* const keys = static_cast<const Word*>(range.keys);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * block_threads;
  unsigned long long sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x; i < range.size;
       i += stride) {
    const Word key = codec.encoded(keys[i]);
    const std::uint64_t value = value_of(range, value_bytes, i);
    sum += Random(Random(key).next() + value).next();
    if (i + 1 == range.size) continue;
    const Word next = codec.encoded(keys[i + 1]);
    if (next < key) atomicAdd(&counts[1], 1ULL);
    // Values of less bytes do not tell the order of their items.
    if (value_bytes >= 4 && next == key && value_of(range, value_bytes, i + 1) < value)
      atomicAdd(&counts[2], 1ULL);
  }
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  if (threadIdx.x % 32 == 0) atomicAdd(&counts[0], sum);
  if (blockIdx.x == 0 && threadIdx.x == 0 && range.size > 0) {
    counts[3] = codec.encoded(keys[0]);
    counts[4] = codec.encoded(keys[range.size - 1]);
  }
}

template <class Word>
__global__ void __launch_bounds__(block_threads)
    take_positions_kernel(SortRange range, const Word* keys, int position_bytes) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x; i < range.size;
       i += stride)
    static_cast<Word*>(range.keys)[i] = keys[value_of(range, position_bytes, i)];
}

template <bool Pack>
__global__ void __launch_bounds__(block_threads)
    pack_kernel(SortRange range,
                std::conditional_t<Pack, std::uint64_t, const std::uint64_t>* pairs) {
  auto* const keys = static_cast<std::uint32_t*>(range.keys);
  auto* const values = static_cast<std::uint32_t*>(range.values);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x; i < range.size;
       i += stride) {
    if constexpr (Pack) {
      pairs[i] = std::uint64_t{keys[i]} << 32 | values[i];
    } else {
      keys[i] = static_cast<std::uint32_t>(pairs[i] >> 32);
      values[i] = static_cast<std::uint32_t>(pairs[i]);
    }
  }
}

}  // namespace

void pack_pairs(const SortRange& range, std::uint64_t* pairs, cudaStream_t stream) {
  pack_kernel<true><<<blocks_for(range.size), block_threads, 0, stream>>>(range, pairs);
  check_cuda(cudaGetLastError());
}

void unpack_pairs(const std::uint64_t* pairs, const SortRange& range, cudaStream_t stream) {
  pack_kernel<false><<<blocks_for(range.size), block_threads, 0, stream>>>(range, pairs);
  check_cuda(cudaGetLastError());
}

void take_positions(const SortRange& range, const void* keys, const KeyFormat& key,
                    int position_bytes, cudaStream_t stream) {
  with_key_word(key.bytes, [&](auto word) {
    using Word = decltype(word);
    take_positions_kernel<Word><<<blocks_for(range.size), block_threads, 0, stream>>>(
        range, static_cast<const Word*>(keys), position_bytes);
  });
  check_cuda(cudaGetLastError());
}

void fill_range(const SortRange& range, const SortCase& sort_case, std::uint64_t items,
                const KeyFormat& key, int value_bytes, std::uint64_t seed, cudaStream_t stream) {
  if (range.size == 0) return;
  with_key_word(key.bytes, [&](auto word) {
    using Word = decltype(word);
    fill_kernel<Word><<<blocks_for(range.size), block_threads, 0, stream>>>(
        range, NumberDraw(sort_case, static_cast<int>(8 * sizeof(Word)), seed), items,
        KeyCodec<Word>(key.kind, Order::ascending), key.kind == KeyKind::floating_point,
        value_bytes);
  });
  check_cuda(cudaGetLastError());
}

RangeCheck check_range(const SortRange& range, const KeyFormat& key, int value_bytes,
                       cudaStream_t stream) {
  constexpr std::size_t numbers = 5;
  DeviceBuffer<unsigned long long> counts(numbers, stream);
  check_cuda(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream));
  with_key_word(key.bytes, [&](auto word) {
    using Word = decltype(word);
    check_kernel<Word><<<blocks_for(range.size), block_threads, 0, stream>>>(
        range, KeyCodec<Word>(key.kind, Order::ascending), value_bytes, counts.data());
  });
  check_cuda(cudaGetLastError());
  std::array<unsigned long long, numbers> found{};
  counts.copy_to(found);
  check_cuda(cudaStreamSynchronize(stream));
  return {found[0], found[1], found[2], found[3], found[4]};
}

}  // namespace sortie::bench
