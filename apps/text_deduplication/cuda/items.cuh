// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

/// Anchors on a device, and comparisons of their bytes.
///
/// An item is an anchor in two words, a key and a value, which are sorted by the hash in the key:
///
///     key    hash of the k-gram, 40 bits | period - 1, 12 bits | repeats - 1, 12 bits
///     value  position, 40 bits           | least, 12 bits      | most, 12 bits
///
/// Items of equal hashes, in the order of the text, are a group.
namespace sortie::texts::cuda {

/// Bytes before and after a text on a device that kernels may read. Their values do not matter.
inline constexpr std::uint64_t text_padding = 32;

/// Windows of `window` bytes have an anchor among their first `offsets` k-grams of `gram` bytes.
struct WindowShape {
  std::uint32_t window = 0;
  std::uint32_t gram = 0;
  std::uint32_t offsets = 0;

  /// More offsets would need more shared memory, and save little: there are 2 / (offsets + 1)
  /// anchors a byte.
  static constexpr std::uint32_t most_offsets = 1024;

  [[nodiscard]] static WindowShape of(std::uint64_t window) {
    constexpr std::uint64_t usual_gram = 24;
    const std::uint64_t gram = std::min((window + 1) / 2, usual_gram);
    const std::uint64_t offsets = std::min<std::uint64_t>(window - gram + 1, most_offsets);
    return {static_cast<std::uint32_t>(window), static_cast<std::uint32_t>(gram),
            static_cast<std::uint32_t>(offsets)};
  }
};

/// An anchor of the windows that begin from `position` - `most` to `position` - `least`, and of
/// equal windows `period`, 2 `period`, ... bytes later, `repeats` times in all.
struct Anchor {
  std::uint64_t position;
  std::uint32_t least;
  std::uint32_t most;
  std::uint32_t period;
  std::uint32_t repeats;

  [[nodiscard]] __host__ __device__ bool has_windows() const { return least <= most; }
};

inline constexpr int field_bits = 12;
inline constexpr std::uint64_t field_mask = (std::uint64_t{1} << field_bits) - 1;
/// The bits of the hash in a key are from this one on.
inline constexpr int hash_begin_bit = 2 * field_bits;

[[nodiscard]] __host__ __device__ inline std::uint64_t hash_of_key(std::uint64_t key) {
  return key >> hash_begin_bit;
}
[[nodiscard]] __host__ __device__ inline std::uint32_t repeats_of_key(std::uint64_t key) {
  return static_cast<std::uint32_t>(key & field_mask) + 1;
}
/// \param hash  of 64 bits, of which the 40 upper ones are kept
[[nodiscard]] __host__ __device__ inline std::uint64_t key_of(std::uint64_t hash,
                                                              std::uint32_t period,
                                                              std::uint32_t repeats) {
  constexpr std::uint64_t lower = (std::uint64_t{1} << hash_begin_bit) - 1;
  return (hash & ~lower) | std::uint64_t{period - 1} << field_bits | (repeats - 1);
}
[[nodiscard]] __host__ __device__ inline std::uint64_t value_of(std::uint64_t position,
                                                                std::uint32_t least,
                                                                std::uint32_t most) {
  return position << (2 * field_bits) | std::uint64_t{least} << field_bits | most;
}
[[nodiscard]] __host__ __device__ inline Anchor anchor_of(std::uint64_t key, std::uint64_t value) {
  return {value >> (2 * field_bits), static_cast<std::uint32_t>(value >> field_bits & field_mask),
          static_cast<std::uint32_t>(value & field_mask),
          static_cast<std::uint32_t>(key >> field_bits & field_mask) + 1, repeats_of_key(key)};
}

/// A part of all hashes.
struct HashRange {
  std::uint64_t index = 0;
  std::uint64_t count = 1;

  [[nodiscard]] __host__ __device__ bool contains(std::uint64_t hash) const {
    return (hash >> 32) * count >> 32 == index;
  }
};

/// Spreads the bits of a polynomial hash.
[[nodiscard]] __host__ __device__ inline std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ULL;
  hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15ULL;
  return hash ^ hash >> 32;
}

/// The words of 8 bytes from an address on, or before it. Each aligned word is loaded once; up to 15
/// bytes more than asked for are read.
class WordsAfter {
 public:
  __device__ explicit WordsAfter(const std::uint8_t* at)
      : next_(reinterpret_cast<const std::uint64_t*>(at - misalignment(at))),
        shift_(misalignment(at) * 8),
        low_(*next_++) {}
  __device__ std::uint64_t next() {
    const std::uint64_t high = *next_++;
    const std::uint64_t word = shift_ == 0 ? low_ : low_ >> shift_ | high << (64 - shift_);
    low_ = high;
    return word;
  }
  static __device__ std::uint32_t misalignment(const std::uint8_t* at) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % 8);
  }

 private:
  const std::uint64_t* next_;
  std::uint32_t shift_;
  std::uint64_t low_;
};

class WordsBefore {
 public:
  __device__ explicit WordsBefore(const std::uint8_t* at)
      : next_(reinterpret_cast<const std::uint64_t*>(at - WordsAfter::misalignment(at))),
        shift_(WordsAfter::misalignment(at) * 8),
        high_(*next_) {}
  __device__ std::uint64_t next() {
    const std::uint64_t low = *--next_;
    const std::uint64_t word = shift_ == 0 ? low : high_ << (64 - shift_) | low >> shift_;
    high_ = low;
    return word;
  }

 private:
  const std::uint64_t* next_;
  std::uint32_t shift_;
  std::uint64_t high_;
};

/// Number of bytes, at most `limit`, that are equal from `a` and `b` on.
__device__ inline std::uint32_t common_after(const std::uint8_t* a, const std::uint8_t* b,
                                             std::uint32_t limit) {
  WordsAfter words_of_a(a);
  WordsAfter words_of_b(b);
  for (std::uint32_t i = 0; i < limit; i += 8) {
    const std::uint64_t differing = words_of_a.next() ^ words_of_b.next();
    if (differing != 0) {
      const int bit = __ffsll(static_cast<long long>(differing)) - 1;
      return min(limit, i + static_cast<std::uint32_t>(bit) / 8);
    }
  }
  return limit;
}

/// The same for the bytes before `a` and `b`, from the last one.
__device__ inline std::uint32_t common_before(const std::uint8_t* a, const std::uint8_t* b,
                                              std::uint32_t limit) {
  WordsBefore words_of_a(a);
  WordsBefore words_of_b(b);
  for (std::uint32_t i = 0; i < limit; i += 8) {
    const std::uint64_t differing = words_of_a.next() ^ words_of_b.next();
    if (differing != 0) {
      const int bit = __clzll(static_cast<long long>(differing));
      return min(limit, i + static_cast<std::uint32_t>(bit) / 8);
    }
  }
  return limit;
}

}  // namespace sortie::texts::cuda
