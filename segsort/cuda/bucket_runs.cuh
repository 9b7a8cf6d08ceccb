// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/hardware.cuh"
#include "segsort/cuda/array_decision.cuh"
#include "segsort/cuda/radix_passes.cuh"
#include "segsort/cuda/work_lists.cuh"

/// Sort of one array of evenly spread keys by buckets: radix passes over the two highest digits
/// leave 2^16 buckets in order, and block_sort_kernel sorts runs of neighbouring buckets, each in a
/// tile. An array of n items is read and written three times, instead of once for each digit. Keys of
/// a density of 1/x have even buckets by their magnitudes (radix_digits.cuh).
///
/// The array is cut every `stride` items; a run begins at the first bucket that begins at a cut or
/// after it. If a run exceeds the tile, the array is sorted by all digits instead, and the runs that
/// are listed are forgotten (in short arrays they are in order before block_sort_kernel sorts them).
namespace sortie::segsort::buckets {

inline constexpr int run_warps = 8;
inline constexpr std::uint64_t buckets_of_array = std::uint64_t{1}
                                                  << (radix::bucket_passes * radix::digit_bits);

/// Largest array with runs for the smaller tiles of groups: its buckets are short, and
/// larger tiles would be too few for all multiprocessors.
inline constexpr std::uint64_t most_in_small_tiles = 1 << 22;

/// Distance of the cuts of an array of n items: a run exceeds it by one bucket at most. Buckets may
/// have a little more than twice the items of the average one.
constexpr std::uint64_t stride(std::uint64_t n) {
  const std::uint64_t average = n / buckets_of_array + 1;
  std::uint64_t root = 1;
  while (root * root < average) ++root;
  const std::uint64_t longest =
      n <= most_in_small_tiles ? longest_of_group_class(0) : LargeTiles::longest_group;
  const auto spare = [&](std::uint64_t quarters) { return quarters * average / 4 + 8 * root; };
  if (longest > 2 * spare(9)) return longest - spare(9);
  // Large buckets: even ones would leave too much of the tiles empty.
  return longest > spare(6) + longest / 8 ? longest - spare(6) : longest / 8;
}
constexpr std::uint64_t runs(std::uint64_t n) {
  return (n - 1) / stride(n) + 1;
}

/// First item from `cut` on that is not in the bucket of the item before it; `length` if there is
/// none. Called by a warp, which probes 32 places at once.
template <class Word, class BucketOf>
__device__ __forceinline__ std::uint64_t begin_of_run(const Word* keys, std::uint64_t cut,
                                                      std::uint64_t length,
                                                      const BucketOf& bucket_of) {
  if (cut == 0 || cut >= length) return min(cut, length);
  const Word bucket = bucket_of(keys[cut - 1]);
  std::uint64_t last = cut - 1;  // known to be in the bucket
  std::uint64_t end = length;    // known to be beyond it
  // The lanes' places are a distance apart that grows until one is beyond, and then shrinks.
  std::uint64_t distance = 256;
  for (bool is_found = false; end - last > 1;) {
    if (is_found) distance = (end - last - 2) / 32 + 1;
    const std::uint64_t place = last + (lane() + 1) * distance;
    const unsigned int beyond =
        __ballot_sync(full_warp, place >= end || bucket_of(keys[min(place, end - 1)]) != bucket);
    const auto lanes_before = static_cast<std::uint64_t>(beyond == 0 ? 32 : first_lane(beyond));
    end = min(end, last + (lanes_before + 1) * distance);
    last += lanes_before * distance;
    if (beyond != 0) {
      is_found = true;
    } else if (!is_found) {
      end = length;
      distance *= 32;
    }
  }
  return end;
}

/// Lists the runs as groups for block_sort_kernel. If one exceeds a tile, changes the decision.
///
///   warp   takes runs a grid apart
///
/// \param in_small_tiles  runs take the smaller tiles of groups, or else those for runs and the larger ones
template <class Word>
__global__ void __launch_bounds__(32 * run_warps)
    list_runs_kernel(Arguments<Word> arguments, WorkLists lists, ArrayDecision* decision,
                     std::uint64_t length, std::uint64_t stride, bool in_small_tiles) {
  wait_for_preceding_kernels();
  if (!decision->takes_kernels_of(ArrayMethod::buckets)) return;
  const bool by_magnitudes = decision->is_due(ArrayMethod::magnitudes);
  const BitRangeCodec<Word> codec = arguments.codec;
  constexpr int bits = static_cast<int>(sizeof(Word)) * 8;
  const auto bucket_of = [&](Word key) -> Word {
    const Word word = radix::word_of(codec, key);
    return by_magnitudes ? static_cast<Word>(radix::magnitude(word))
                         : word >> (bits - radix::bucket_passes * radix::digit_bits);
  };
  for (std::uint64_t cut = (std::uint64_t{blockIdx.x} * run_warps + threadIdx.x / 32) * stride;
       cut < length; cut += std::uint64_t{gridDim.x} * run_warps * stride) {
    const std::uint64_t begin = begin_of_run(arguments.keys_out, cut, length, bucket_of);
    const std::uint64_t end = begin_of_run(arguments.keys_out, cut + stride, length, bucket_of);
    if (lane() != 0 || begin == end) continue;
    // The keys of a bucket are equal, and so are all before it: the items are in order.
    if (by_magnitudes && bucket_of(arguments.keys_out[end - 1]) < radix::exact_magnitudes<Word>)
      continue;
    if (end - begin <= (in_small_tiles ? longest_of_group_class(0) : LargeTiles::longest_group)) {
      const Group run(begin, static_cast<std::uint32_t>(end - begin), Buffer::output);
      if (in_small_tiles) {
        lists.add_group(run);
      } else {
        lists.add_run(run);
      }
    } else {
      *const_cast<volatile ArrayMethod*>(&decision->method) = ArrayMethod::digits;
    }
  }
}

}  // namespace sortie::segsort::buckets
