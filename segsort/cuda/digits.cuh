// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/policy.cuh"
#include "segsort/cuda/tile.cuh"

/// Division of the key range of a part into buckets, for one pass of a partition.
namespace sortie::segsort {

/// A segment, or a bucket of one, that is partitioned further. The compared bits of its keys are in
/// base .. base + span.
struct Part {
  std::uint64_t begin;
  std::uint64_t length;
  std::uint64_t base;
  std::uint64_t span;
  Buffer buffer;
  std::uint32_t filler;  ///< explicit padding: a part has unique object representations
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

/// Division of the key range of a part into equal ranges, one per bucket. The number of buckets is
/// not a power of two, so that buckets can be as large as tiles. The offset of a key in the range
/// is scaled to 32 bits, x, and its bucket is x * scale / 2^53.
struct RangeCut {
  std::uint64_t base;
  std::uint64_t span;
  std::uint32_t scale;
  int bits;  ///< of the span
  int buckets;
  std::uint32_t key_step;  ///< least increment of x per key

  RangeCut() = default;
  template <class Tiles>
  __device__ RangeCut(const Part& part, Tiles) : base(part.base), span(part.span) {
    bits = max(bits_of(span), 1);
    const auto wanted = static_cast<std::uint64_t>(wanted_buckets<Tiles>(part.length));
    buckets = static_cast<int>(span < wanted ? span + 1 : wanted);
    key_step = bits < 32 ? 1u << (32 - bits) : 1;
    const std::uint64_t range = std::uint64_t{bits_below(span, bits)} + key_step;
    scale = static_cast<std::uint32_t>((static_cast<std::uint64_t>(buckets) << 53) / range);
    // Rounded up, products of small ranges are exact; for large ranges, that of the last key would
    // be out of range.
    if (span < 1 << 20) ++scale;
  }

  /// True if each bucket holds a single key value.
  [[nodiscard]] __device__ bool exact() const {
    return static_cast<std::uint64_t>(buckets) == span + 1;
  }

  /// Least key of a bucket, relative to the base; for the bucket past the last, the end of the
  /// range.
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
      : codec_(codec), base_(static_cast<Word>(cut.base)), scale_(cut.scale), bits_(cut.bits) {}

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
  [[nodiscard]] __device__ std::uint32_t of_compared(Word word) const {
    return __umulhi(bits_below(static_cast<Word>(word - base_), bits_), scale_) >> 21;
  }
  template <bool Plain = false>
  [[nodiscard]] __device__ std::uint32_t of(Word key) const {
    return of_compared(compared<Plain>(key));
  }

 private:
  BitRangeCodec<Word> codec_;
  Word base_;
  std::uint32_t scale_;
  int bits_;
};

}  // namespace sortie::segsort
