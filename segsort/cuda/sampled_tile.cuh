// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/tile.cuh"

/// Tiles of several warps, of one segment, whose keys are not evenly spread: a sample that tells
/// so, and a sort by counting for few distinct keys, which share bins of hundreds of words.
namespace sortie::segsort {

/// Bits of a word that count, at most: two digits.
inline constexpr int counted_digit_bits = 10;
inline constexpr int counted_bits = 2 * counted_digit_bits;

/// Whether sort_by_counting() sorts tiles T: the counts of its warps take the place of the words.
/// In tiles of one warp all bins are small.
template <class T>
inline constexpr bool counts_few_keys = (T::warps > 1) &&
                                        (T::warps << counted_digit_bits) * sizeof(std::uint16_t) <=
                                            sizeof(T::words);

/// What a sample of the keys of a tile shows.
enum class SampledKeys {
  spread,  ///< neither of the following
  low,     ///< many are in the lowest sixteenth of their range
  few,     ///< many neighbours are equal; only if counts_few_keys<T>
};

/// Lanes of 32 that must have two keys in the lowest sixteenth of the range of the keys, for windows
/// to be floating-point numbers at once. Of keys of a density of 1/x, 24 have; of those of sorted
/// segments of two items, 16.
inline constexpr int least_low_lanes = 18;
/// Whether at least least_low_lanes lanes of a warp have two such keys. Called by a warp.
/// \param both  the highest bits of the lane's keys in that range, of one or the other
__device__ __forceinline__ bool has_low_keys(std::uint32_t both) {
  return __popc(__ballot_sync(full_warp, both >> 28 == 0)) >= least_low_lanes;
}
/// Lanes of 32 whose two samples must be equal for a sort by counting; the samples of a lane are
/// length / 64 items apart. Where partitions have left three keys in a bucket, 11 lanes have equal
/// ones; of 100 keys in random order, none has, and a warp has 32 different digits to match.
inline constexpr int least_equal_lanes = 7;

/// Looks at two keys per lane of a tile of one segment. Each warp reads the same keys, so that all
/// agree without a barrier. \pre tile.keys is set, then a barrier; 1 <= span
template <class T>
__device__ __forceinline__ SampledKeys sampled_keys(const T& tile, int length,
                                                    typename T::Word base, int span,
                                                    typename T::Word compare_mask) {
  using Word = typename T::Word;
  const int first = static_cast<int>(threadIdx.x % 32) * length / 32;
  const Word a = static_cast<Word>((tile.keys[first] & compare_mask) - base);
  const Word b = static_cast<Word>((tile.keys[first + length / 64] & compare_mask) - base);
  if constexpr (counts_few_keys<T>) {
    if (__popc(__ballot_sync(full_warp, a == b)) >= least_equal_lanes) return SampledKeys::few;
  }
  return has_low_keys(bits_below(a, span) | bits_below(b, span)) ? SampledKeys::low
                                                                 : SampledKeys::spread;
}

/// Sorts a tile of one segment by the highest counted_bits bits of the windows, which differ in
/// `differing_bits` at most: stable passes, least significant digit first. Equal keys cost no more
/// than others, and nothing if the tile is in order already. On return tile.words is in order but
/// for lower bits, which are zero above the index. Ends with a barrier.
///
///   registers of lane l   of warp w: items 32 items w + 32 r + l
///   tile.words            per warp, the number of its items with each digit; then the position of
///                         the first of them; in the end, the words
template <class T>
__device__ __forceinline__ void sort_by_counting(T& tile, int length, typename T::Word base,
                                                 int span, typename T::Word compare_mask,
                                                 int differing_bits) {
  using Word = typename T::Word;
  constexpr int digits = 1 << counted_digit_bits;
  constexpr int pairs = digits / 2;
  static_assert(counts_few_keys<T>);
  static_assert(T::capacity < 1 << 16, "two counts share a word");
  constexpr std::uint32_t index_mask = T::index_mask;
  const int thread = T::thread();
  const int warp = thread / 32;
  const int first = warp * 32 * T::items + thread % 32;
  std::uint32_t* const counts = tile.words;
  auto* const own = reinterpret_cast<std::uint16_t*>(counts + warp * pairs);

  std::uint32_t words[T::items];
  bool inverted = false;
#pragma unroll
  for (int r = 0; r < T::items; ++r) {
    const int e = first + 32 * r;
    words[r] = 0xffffffffu;
    if (e >= length) continue;
    const Word key = tile.keys[e] & compare_mask;
    const Word next = tile.keys[min(e + 1, length - 1)] & compare_mask;
    inverted |= next < key;
    words[r] = (bits_below(static_cast<Word>(key - base), span) &
                ~(0xffffffffu >> counted_bits | index_mask)) |
               static_cast<std::uint32_t>(e);
  }
  if (!T::any(inverted)) {
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.words[banked(first + 32 * r)] = words[r];
    T::synchronise();
    return;
  }

#pragma unroll 1
  for (int shift = differing_bits > counted_digit_bits ? 32 - counted_bits
                                                       : 32 - counted_digit_bits;
       ; shift += counted_digit_bits) {
    const auto digit_of = [&](int r) { return words[r] >> shift & (digits - 1); };
    for (int i = thread; i < T::warps * pairs; i += T::threads) counts[i] = 0;
    T::synchronise();
    ShortNumbers<T::items, 16> ranks;  // among the warp's items with the digit
#pragma unroll
    for (int r = 0; r < T::items; ++r) {
      const std::uint32_t digit = digit_of(r);
      const unsigned int same = __match_any_sync(full_warp, static_cast<int>(digit));
      const std::uint32_t before = own[digit];
      const std::uint32_t lower = rank_among(same);
      __syncwarp();
      if (lower == 0) own[digit] = static_cast<std::uint16_t>(before + lanes_of(same));
      __syncwarp();
      ranks.set(r, before + lower);
    }
    T::synchronise();

    // Each thread sums up the counts of a range of pairs of digits over the warps.
    constexpr int pairs_of_thread = (pairs - 1) / T::threads + 1;
    std::uint32_t sums[pairs_of_thread];
    std::uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < pairs_of_thread; ++i) {
      const int pair = thread * pairs_of_thread + i;
      sums[i] = 0;
      if (pair < pairs) {
#pragma unroll
        for (int w = 0; w < T::warps; ++w) sums[i] += counts[w * pairs + pair];
      }
      sum += (sums[i] & 0xffff) + (sums[i] >> 16);
    }
    const std::uint32_t up_to = inclusive_sum_in_warp(sum);
    if (thread % 32 == 31) tile.splits[warp] = static_cast<std::uint16_t>(up_to);
    T::synchronise();
    std::uint32_t before = up_to - sum;
#pragma unroll
    for (int w = 0; w < T::warps; ++w)
      if (w < warp) before += tile.splits[w];
#pragma unroll
    for (int i = 0; i < pairs_of_thread; ++i) {
      const int pair = thread * pairs_of_thread + i;
      if (pair >= pairs) continue;
      std::uint32_t start = before | (before + (sums[i] & 0xffff)) << 16;
      before += (sums[i] & 0xffff) + (sums[i] >> 16);
#pragma unroll
      for (int w = 0; w < T::warps; ++w) {
        const std::uint32_t count = counts[w * pairs + pair];
        counts[w * pairs + pair] = start;
        start += count;
      }
    }
    T::synchronise();

    ShortNumbers<T::items, 16> places;
#pragma unroll
    for (int r = 0; r < T::items; ++r) places.set(r, own[digit_of(r)] + ranks[r]);
    T::synchronise();
#pragma unroll
    for (int r = 0; r < T::items; ++r) tile.words[banked(static_cast<int>(places[r]))] = words[r];
    T::synchronise();
    if (shift == 32 - counted_digit_bits) return;
#pragma unroll
    for (int r = 0; r < T::items; ++r) words[r] = tile.words[banked(first + 32 * r)];
    T::synchronise();
  }
}

}  // namespace sortie::segsort
