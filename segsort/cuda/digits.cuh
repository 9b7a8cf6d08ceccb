#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/arguments.cuh"
#include "sortie/segsort/cuda/policy.cuh"
#include "sortie/segsort/cuda/tile.cuh"

/// How a pass of a partition cuts the keys of a part into buckets.
namespace sortie::segsort {

/// A segment, or a bucket of one, that is partitioned further. The compared bits of its keys lie
/// from `base` to base + span.
struct Part {
  std::uint64_t begin;
  std::uint64_t length;
  std::uint64_t base;
  std::uint64_t span;
  Buffer buffer;
  std::uint32_t filler;  ///< so that a part has no bytes without a name
};

/// Buckets of the next pass over a part of so many items: enough that a bucket fits a tile, where
/// one pass can do that, at least for most of them; else two passes share the work alike.
__device__ inline int wanted_buckets(std::uint64_t length) {
  constexpr std::uint64_t most = most_buckets;
  const std::uint64_t tiles = (length - 1) / bucket_for_group_class(0) + 1;
  std::uint64_t wanted = most / 2;
  if (tiles <= most) {
    wanted = max(tiles, min(4 * tiles, std::uint64_t{cheap_buckets}));
  } else if (length <= most * longest_of_group_class(1)) {
    wanted = (length - 1) / bucket_for_group_class(1) + 1;
  } else if (tiles <= most * most) {
    wanted = static_cast<std::uint64_t>(sqrtf(static_cast<float>(tiles))) + 1;
  }
  return static_cast<int>(min(max(wanted, std::uint64_t{fewest_buckets}), most));
}

/// True where the buckets of a part are meant to fill the smaller tiles.
__device__ inline bool fills_small_tiles(std::uint64_t length) {
  return length <= std::uint64_t{most_buckets} * bucket_for_group_class(0);
}

/// The range of a part's keys cut into equal stretches, one a bucket. Their number is not a power
/// of two, so that buckets can be as large as tiles. A key's place in the range is brought to 32
/// bits, x, and its bucket is x * scale / 2^53.
struct RangeCut {
  std::uint64_t base;
  std::uint64_t span;
  std::uint32_t scale;
  int bits;  ///< of the span
  int buckets;
  std::uint32_t unit;  ///< what one key more adds to x, at least

  RangeCut() = default;
  __device__ explicit RangeCut(const Part& part) : base(part.base), span(part.span) {
    bits = max(bits_of(span), 1);
    const auto wanted = static_cast<std::uint64_t>(wanted_buckets(part.length));
    buckets = static_cast<int>(span < wanted ? span + 1 : wanted);
    unit = bits < 32 ? 1u << (32 - bits) : 1;
    const std::uint64_t range = std::uint64_t{bits_below(span, bits)} + unit;
    scale = static_cast<std::uint32_t>((static_cast<std::uint64_t>(buckets) << 53) / range);
    // Rounded up, the products of few keys are exact; of many keys, the last one's would be beyond.
    if (span < 1 << 20) ++scale;
  }

  /// True where a bucket is one key.
  [[nodiscard]] __device__ bool exact() const {
    return static_cast<std::uint64_t>(buckets) == span + 1;
  }

  /// Least key of a bucket, counted from the base; of the bucket behind the last, the end.
  [[nodiscard]] __device__ std::uint64_t first_of(int bucket) const {
    if (bucket == buckets) return span + 1;
    const std::uint64_t x =
        bucket == 0 ? 0 : ((static_cast<std::uint64_t>(bucket) << 53) - 1) / scale + 1;
    return bits > 32 ? x << (bits - 32) : (x + unit - 1) >> (32 - bits);
  }
};

/// The bucket of each key.
template <class Word>
class Digits {
 public:
  Digits() = default;
  __device__ Digits(const KeyCodec<Word>& codec, const RangeCut& cut)
      : codec_(codec), base_(static_cast<Word>(cut.base)), scale_(cut.scale), bits_(cut.bits) {}

  /// True where keys are compared as they are.
  [[nodiscard]] __device__ bool plain() const { return codec_.plain; }
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
  KeyCodec<Word> codec_;
  Word base_;
  std::uint32_t scale_;
  int bits_;
};

}  // namespace sortie::segsort
