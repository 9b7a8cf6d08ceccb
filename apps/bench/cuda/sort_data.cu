// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

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

/// Draws the number of item `i`, below 2^width. Each item uses two numbers of the random stream.
class NumberDraw {
 public:
  NumberDraw(const SortCase& sort_case, std::uint64_t items, int width, std::uint64_t seed)
      : kind_(sort_case.kind),
        parameter_(sort_case.parameter),
        items_(items),
        width_(width),
        seed_(seed) {}

  __device__ std::uint64_t operator()(std::uint64_t i) const {
    Random random(seed_);
    random.discard(2 * i);
    switch (kind_) {
      case SortCase::Kind::normal:
        return at_fraction(0.5 + parameter_ * normal(random));
      case SortCase::Kind::zipf:
        return zipf(random);
      case SortCase::Kind::sorted:
        return in_place(static_cast<double>(i));
      case SortCase::Kind::reverse:
        return in_place(static_cast<double>(items_ - 1 - i));
      case SortCase::Kind::nearly:
        return in_place(static_cast<double>(i) + round(parameter_ * normal(random)));
      case SortCase::Kind::entropy: {
        const int bits = min(width_, static_cast<int>(parameter_));
        return bits == 0 ? 0 : random.next() >> (64 - bits);
      }
      case SortCase::Kind::high_bits: {
        const int bits = min(width_, static_cast<int>(parameter_));
        return bits == 0 ? 0 : random.next() >> (64 - bits) << (width_ - bits);
      }
      case SortCase::Kind::few: {
        const auto keys = max(std::uint64_t{1}, static_cast<std::uint64_t>(parameter_));
        return Random(seed_ + 1 + random.next() % keys).next() >> (64 - width_);
      }
      case SortCase::Kind::equal:
        return 0x1234567890abcdefULL >> (64 - width_);
      case SortCase::Kind::shared_digit: {
        const std::uint64_t number = random.next();
        return ((number & 1) << 8 | 0xaa) << max(0, width_ - 16) |
               (width_ > 16 ? number >> (80 - width_) : 0);
      }
      default:
        return random.next() >> (64 - width_);
    }
  }

 private:
  __device__ static double normal(Random& random) {
    const double radius = sqrt(-2 * log(1 - random.uniform()));
    return radius * cospi(2 * random.uniform());
  }
  __device__ std::uint64_t at_fraction(double fraction) const {
    if (fraction <= 0) return 0;
    if (fraction >= 1) return ~std::uint64_t{0} >> (64 - width_);
    return static_cast<std::uint64_t>(ldexp(fraction, width_));
  }
  __device__ std::uint64_t in_place(double place) const {
    return at_fraction((place + 0.5) / static_cast<double>(items_));
  }
  /// By inversion of the continuous law on [1, 2^width).
  __device__ std::uint64_t zipf(Random& random) const {
    const double u = random.uniform();
    const double logarithm_of_most = width_ * 0.69314718055994530942;
    const double rest = 1 - parameter_;
    const double logarithm = fabs(rest) < 1e-9 ? u * logarithm_of_most
                                               : log1p(u * expm1(rest * logarithm_of_most)) / rest;
    return at_fraction(exp(logarithm - logarithm_of_most));
  }

  SortCase::Kind kind_;
  double parameter_;
  std::uint64_t items_;
  int width_;
  std::uint64_t seed_;
};

template <class Word>
__global__ void __launch_bounds__(block_threads)
    fill_kernel(SortRange range, NumberDraw draw, KeyCodec<Word> codec, int value_bytes) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x; i < range.size;
       i += stride) {
    const std::uint64_t item = range.begin + i;
    static_cast<Word*>(range.keys)[i] = codec.decoded(static_cast<Word>(draw(item)));
    if (value_bytes == 4)
      static_cast<std::uint32_t*>(range.values)[i] = static_cast<std::uint32_t>(item);
    if (value_bytes == 8) static_cast<std::uint64_t*>(range.values)[i] = item;
  }
}

__device__ std::uint64_t value_of(const SortRange& range, int value_bytes, std::uint64_t i) {
  if (value_bytes == 4) return static_cast<const std::uint32_t*>(range.values)[i];
  if (value_bytes == 8) return static_cast<const std::uint64_t*>(range.values)[i];
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
    if (next == key && value_of(range, value_bytes, i + 1) < value) atomicAdd(&counts[2], 1ULL);
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

}  // namespace

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
        range, NumberDraw(sort_case, items, static_cast<int>(8 * sizeof(Word)), seed),
        KeyCodec<Word>(key.kind, Order::ascending), value_bytes);
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
