// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/policy.cuh"
#include "segsort/cuda/tile.cuh"

/// Division of the key range of a part into buckets, for one pass of a partition.
namespace sortie::segsort {

/// What is known of the keys of a part, or of the part that it is a bucket of: whether a floating
/// cut divides them better than equal ranges, since many are near the least. Each item takes part in
/// one floating cut at most, since only equal ranges bound the number of passes.
/// Or `few`: there are few different keys, in equal ranges.
enum class LowKeys : std::uint32_t { unknown, found, divided, few };

/// Parts of few keys take most_buckets from this length on. Shorter ones, whose tiles have many
/// keys in any case, are not worth the shorter writes.
inline constexpr std::uint64_t shortest_of_few_keys = 1 << 15;

/// A segment, or a bucket of one, that is partitioned further. The compared bits of its keys are in
/// base .. base + span.
struct Part {
  std::uint64_t begin;
  std::uint64_t length;
  std::uint64_t base;
  std::uint64_t span;
  Buffer buffer;
  LowKeys low_keys;
};

/// Number of buckets of the next pass over a part of `length` items. If one pass suffices, enough
/// that a bucket, or at least most buckets, fit a tile; otherwise balanced between two passes.
template <class Tiles>
__device__ inline int wanted_buckets(std::uint64_t length) {
  constexpr std::uint64_t most = most_buckets;
  const std::uint64_t tiles = (length - 1) / bucket_for_group_class(0) + 1;
  std::uint64_t wanted = most / 2;
  if (tiles <= most) {
    wanted = max(tiles, min(4 * tiles, std::uint64_t{cheap_buckets}));
  } else if (Tiles::longest_group == longest_of_group_class(1) &&
             length <= most * longest_of_group_class(1)) {
    wanted = (length - 1) / bucket_for_group_class(1) + 1;
  } else if (tiles <= most * most) {
    wanted = static_cast<std::uint64_t>(sqrtf(static_cast<float>(tiles))) + 1;
  } else if (Tiles::longest_group == longest_of_group_class(1) &&
             length <= most * most * bucket_for_group_class(1)) {
    // Large tiles save a pass.
    const float large_tiles = static_cast<float>(length) / bucket_for_group_class(1);
    wanted = static_cast<std::uint64_t>(sqrtf(large_tiles)) + 1;
  }
  return static_cast<int>(min(max(wanted, std::uint64_t{fewest_buckets}), most));
}
template <class Tiles>
__device__ inline int wanted_buckets(const Part& part) {
  const int wanted = wanted_buckets<Tiles>(part.length);
  // Where a bucket has one key, its items need no further sort.
  if (part.low_keys == LowKeys::few && part.length >= shortest_of_few_keys) return most_buckets;
  return part.low_keys == LowKeys::found ? max(wanted, cheap_buckets) : wanted;
}

/// The bits of a positive number as a floating-point number, which are in the order of the numbers;
/// 0 for 1.
__device__ __forceinline__ std::uint32_t floating_bits(std::uint32_t number) {
  return __float_as_uint(__uint2float_rz(number)) - (127u << 23);
}
__device__ __forceinline__ std::uint32_t floating_bits(std::uint64_t number) {
  return __float_as_uint(__ull2float_rz(number)) - (127u << 23);
}

/// Least number with at least these floating_bits().
template <class Word>
__device__ __forceinline__ Word least_offset(std::uint32_t bits) {
  const float number = __uint_as_float(bits + (127u << 23));
  if constexpr (sizeof(Word) == 4) {
    return __float2uint_ru(number);
  } else {
    return __float2ull_ru(number);
  }
}

/// Division of the key range of a part into equal ranges, one per bucket. The number of buckets is
/// not a power of two, so that buckets can be as large as tiles. The offset of a key in the range
/// is scaled to 32 bits, x, and its bucket is x * scale / 2^53.
///
/// A floating cut divides the range of the floating-point numbers of the offsets instead, for keys
/// of which most are near the least: keys of a density of 1/x are spread evenly. It is made from a
/// sample; keys beyond those of the sample are in the first and last buckets.
struct RangeCut {
  std::uint64_t base;
  std::uint64_t span;  ///< of a floating cut: the greatest floating-point number
  std::uint32_t scale;
  int bits;  ///< of the span; of a floating cut: zeros above it
  int buckets;
  std::uint32_t key_step;  ///< least increment of x per key; 0: the cut is a floating one

  RangeCut() = default;
  /// A floating cut of `least` .. `least` + `span`. Offsets begin with 1, so that each of the
  /// lowest keys has a bucket of its own.
  template <class Word>
  __device__ static RangeCut floating(Word least, Word span, int buckets) {
    RangeCut cut;
    cut.base = static_cast<Word>(least - 1);
    cut.span = floating_bits(static_cast<Word>(min(span, static_cast<Word>(~Word{1})) + 1));
    cut.bits = __clz(static_cast<int>(cut.span));
    cut.buckets = buckets;
    cut.scale = static_cast<std::uint32_t>((static_cast<std::uint64_t>(buckets) << 53) /
                                           ((cut.span + 1) << cut.bits));
    cut.key_step = 0;
    return cut;
  }
  template <class Tiles>
  __device__ RangeCut(const Part& part, Tiles) : base(part.base), span(part.span) {
    bits = max(bits_of(span), 1);
    const auto wanted = static_cast<std::uint64_t>(wanted_buckets<Tiles>(part));
    buckets = static_cast<int>(span < wanted ? span + 1 : wanted);
    key_step = bits < 32 ? 1u << (32 - bits) : 1;
    const std::uint64_t range = std::uint64_t{bits_below(span, bits)} + key_step;
    scale = static_cast<std::uint32_t>((static_cast<std::uint64_t>(buckets) << 53) / range);
    // Rounded up, products of small ranges are exact; for large ranges, that of the last key would
    // be out of range.
    if (span < 1 << 20) ++scale;
  }

  [[nodiscard]] __device__ bool is_floating() const { return key_step == 0; }
  /// True if each bucket holds a single key value.
  [[nodiscard]] __device__ bool exact() const {
    return !is_floating() && static_cast<std::uint64_t>(buckets) == span + 1;
  }

  /// Of a floating cut, the least offset of a bucket but the first.
  template <class Word>
  [[nodiscard]] __device__ Word first_offset_of(int bucket) const {
    const std::uint64_t x = ((static_cast<std::uint64_t>(bucket) << 53) - 1) / scale + 1;
    const auto number = static_cast<std::uint32_t>((x + (std::uint64_t{1} << bits) - 1) >> bits);
    return least_offset<Word>(number);
  }
  /// Of a floating cut, a bucket as a part: its range. \param whole  the part that was cut, whose
  /// range is that of its keys
  template <class Word>
  [[nodiscard]] __device__ Part part_of_floating(int bucket, const Part& whole) const {
    const auto first_of_bucket = [&](int b) {
      return static_cast<Word>(static_cast<Word>(base) + first_offset_of<Word>(b));
    };
    Part part = whole;
    if (bucket != 0) part.base = first_of_bucket(bucket);
    const Word end = bucket == buckets - 1 ? static_cast<Word>(whole.base + whole.span + 1)
                                           : first_of_bucket(bucket + 1);
    part.span = static_cast<Word>(end - static_cast<Word>(part.base) - 1);
    part.low_keys = LowKeys::divided;
    return part;
  }

  /// Least key of a bucket, relative to the base; for the bucket past the last, the end of the
  /// range. \pre !is_floating()
  [[nodiscard]] __device__ std::uint64_t first_of(int bucket) const {
    if (bucket == buckets) return span + 1;
    const std::uint64_t x =
        bucket == 0 ? 0 : ((static_cast<std::uint64_t>(bucket) << 53) - 1) / scale + 1;
    return bits > 32 ? x << (bits - 32) : (x + key_step - 1) >> (32 - bits);
  }
};

/// Maps keys to buckets.
template <class Word>
class Digits {
 public:
  Digits() = default;
  __device__ Digits(const BitRangeCodec<Word>& codec, const RangeCut& cut)
      : codec_(codec),
        base_(static_cast<Word>(cut.base)),
        scale_(cut.scale),
        bits_(cut.bits),
        greatest_(cut.is_floating() ? static_cast<std::uint32_t>(cut.span) : 0) {}

  [[nodiscard]] __device__ bool is_floating() const { return greatest_ != 0; }

  /// True if keys need no encoding.
  [[nodiscard]] __device__ bool plain() const { return codec_.plain; }
  /// True if keys whose compared bits agree are equal.
  [[nodiscard]] __device__ bool compares_whole_keys() const { return codec_.ignored_bits == 0; }
  /// The compared bits of a key as a number.
  /// \tparam Plain  plain() is known to be true
  template <bool Plain = false>
  [[nodiscard]] __device__ Word compared(Word key) const {
    if (Plain || codec_.plain) return key;
    constexpr int key_bits = static_cast<int>(sizeof(Word)) * 8;
    return (codec_.encode(key) & codec_.compare_mask) >> (codec_.ignored_bits & (key_bits - 1));
  }
  /// \tparam Floating  is_floating()
  template <bool Floating>
  [[nodiscard]] __device__ std::uint32_t of_compared(Word word) const {
    if constexpr (Floating) {
      const auto offset = static_cast<Word>(max(word, static_cast<Word>(base_ + 1)) - base_);
      return __umulhi(min(floating_bits(offset), greatest_) << bits_, scale_) >> 21;
    } else {
      return __umulhi(bits_below(static_cast<Word>(word - base_), bits_), scale_) >> 21;
    }
  }
  template <bool Plain, bool Floating>
  [[nodiscard]] __device__ std::uint32_t of(Word key) const {
    return of_compared<Floating>(compared<Plain>(key));
  }

 private:
  BitRangeCodec<Word> codec_;
  Word base_;
  std::uint32_t scale_;
  int bits_;
  std::uint32_t greatest_;  ///< of a floating cut, otherwise 0
};

/// A sample of a part: this many keys per lane of a warp.
inline constexpr int samples_of_lane = 4;
/// Number of 128 samples that must be in the lowest sixteenth of their range for a floating cut,
/// and the least number of bits of this range. Of keys of a density of 1/x, seven of eight are
/// there.
inline constexpr int least_low_samples = 48;
inline constexpr int least_floating_bits = 12;
/// Samples that differ from those in lower lanes of the same row, at most, for few keys. Of 256
/// random keys, 120 do; of 100, 110. In parts that the whole grid partitions, each of 256 keys is
/// worth a bucket, too.
inline constexpr int most_distinct_samples = 116;
/// Values from the base of the part on that a sample of low keys may have missed.
inline constexpr unsigned int most_missed_keys = 4;
inline constexpr int most_distinct_samples_of_grid = 124;

/// Looks for keys near the least, and for few keys. Executed by a warp; `sample` holds compared
/// bits of keys of the part. Sets part.low_keys. \return a floating cut if many keys are near the
/// least; otherwise equal ranges
template <class Tiles, class Word>
__device__ __forceinline__ RangeCut cut_by_sample(Part& part, const Word (&sample)[samples_of_lane],
                                                  Tiles tiles) {
  Word least = sample[0];
  Word greatest = sample[0];
#pragma unroll
  for (int i = 1; i < samples_of_lane; ++i) {
    least = min(least, sample[i]);
    greatest = max(greatest, sample[i]);
  }
  least = min_in_warp(least);
  greatest = max_in_warp(greatest);
  const int bits = bits_of(static_cast<Word>(greatest - least));
  if (bits < least_floating_bits) return RangeCut(part, tiles);
  int low = 0;
#pragma unroll
  for (int i = 0; i < samples_of_lane; ++i)
    low += __popc(__ballot_sync(full_warp, (sample[i] - least) >> (bits - 4) == 0));
  if (low < least_low_samples) {
    if (part.length < shortest_of_few_keys) return RangeCut(part, tiles);
    int distinct = 0;
#pragma unroll
    for (int i = 0; i < samples_of_lane; ++i) {
      const auto hash = static_cast<std::uint32_t>(sample[i] ^ std::uint64_t{sample[i]} >> 32);
      const unsigned int same = __match_any_sync(full_warp, static_cast<int>(hash));
      distinct += __popc(__ballot_sync(full_warp, rank_among(same) == 0));
    }
    const bool is_shared = part.length > longest_single_block_partition;
    if (distinct <= (is_shared ? most_distinct_samples_of_grid : most_distinct_samples))
      part.low_keys = LowKeys::few;
    return RangeCut(part, tiles);
  }
  part.low_keys = LowKeys::found;
  // The least keys of all are likely, but not always in the sample.
  const auto base = static_cast<Word>(part.base);
  if (least - base <= most_missed_keys) {
    greatest = max(greatest, base + Word{1});
    least = base;
  }
  return RangeCut::floating(least, static_cast<Word>(greatest - least),
                            wanted_buckets<Tiles>(part));
}

}  // namespace sortie::segsort
