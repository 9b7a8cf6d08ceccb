// SPDX-License-Identifier: Apache-2.0
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/random.hpp"

/// Anchors of windows: of the k-grams of a window, the one with the least hash, the last one of
/// several. Since only the bytes of the window decide, equal windows have equal anchors at the same
/// offset from their begin.
namespace sortie::texts::host {

/// A hash of bytes, by which anchors are grouped. No decision depends on it alone.
[[nodiscard]] inline std::uint64_t hash_of(const std::uint8_t* bytes, std::uint64_t size) {
  return XXH3_64bits(bytes, size);
}

/// Windows of `window` bytes have `offsets` k-grams of `gram` bytes: window = gram + offsets - 1.
struct AnchorShape {
  std::uint64_t window = 0;
  std::uint64_t gram = 0;
  std::uint64_t offsets = 0;

  /// Bits of an offset in a packed anchor.
  static constexpr int offset_bits = 12;

  /// Longer k-grams are less often equal in windows that differ, but then there are fewer offsets
  /// and more anchors, 2 / (offsets + 1) per byte. At L = 100, k = 16, 24, 32 and 48 took 2.97,
  /// 2.98, 3.10 and 3.35 s on 136 MB of documentation (one thread of a busy machine, the least of 6
  /// runs).
  [[nodiscard]] static AnchorShape of(std::uint64_t window) {
    constexpr std::uint64_t usual_gram = 24;
    constexpr std::uint64_t most_offsets = std::uint64_t{1} << offset_bits;
    std::uint64_t gram = std::min((window + 1) / 2, usual_gram);
    if (window - gram + 1 > most_offsets) gram = window - most_offsets + 1;
    return {window, gram, window - gram + 1};
  }
};

/// An anchor of consecutive windows: those that begin from `position` - `most` to `position` -
/// `least`. In periodic text, the same k-gram is the anchor of the windows that follow, too, one
/// period later, and so on: then this stands for all of them.
struct Anchor {
  std::uint64_t position = 0;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  std::uint32_t period = 0;  ///< most - least + 1, until windows are taken away
  std::uint64_t repeats =
      1;  ///< at position, position + period, ...; all of their windows are equal

  [[nodiscard]] bool has_windows() const { return least <= most; }
};

/// Anchors in one word each. Repeated ones have a second word.
struct PackedAnchor {
  std::uint64_t word = 0;

  static constexpr int bits = AnchorShape::offset_bits;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  /// Offsets that no anchor has, least > most: the word has another number instead of a position.
  static constexpr std::uint64_t repeated = mask << bits;

  /// Of an anchor, whatever its repeats.
  [[nodiscard]] static PackedAnchor of(const Anchor& anchor) {
    return {anchor.position << (2 * bits) | std::uint64_t{anchor.least} << bits | anchor.most};
  }
  /// \param number  the place of the second word, or the repeats
  [[nodiscard]] static PackedAnchor of_repeated(std::uint64_t number) {
    return {number << (2 * bits) | repeated};
  }
  [[nodiscard]] bool is_repeated() const { return (word & (mask << bits | mask)) == repeated; }
  [[nodiscard]] std::uint64_t number() const { return word >> (2 * bits); }
  [[nodiscard]] Anchor anchor(std::uint64_t repeats = 1) const {
    const auto least = static_cast<std::uint32_t>(word >> bits & mask);
    const auto most = static_cast<std::uint32_t>(word & mask);
    return {number(), least, most, most - least + 1, repeats};
  }
};

/// Joins anchors that repeat each other.
class AnchorRuns {
 public:
  explicit AnchorRuns(const AnchorShape& shape) : shape_(shape) {}

  /// Takes the next anchor of a text, and passes the ones before on to use(hash, anchor, at) if it
  /// is no repetition.
  /// \param hash  of the k-gram
  /// \param at    its address
  template <class Use>
  void add(std::uint64_t hash, const Anchor& anchor, const std::uint8_t* at, const Use& use) {
    if (at_ != nullptr && hash == hash_ && anchor.least == last_.least &&
        anchor.most == last_.most &&
        anchor.position == last_.position + last_.repeats * last_.period &&
        std::memcmp(at - anchor.most, at - anchor.most - last_.period,
                    shape_.window + last_.period - 1) == 0) {
      ++last_.repeats;
      return;
    }
    finish(use);
    hash_ = hash;
    last_ = anchor;
    at_ = at;
  }
  /// Passes the last ones on.
  template <class Use>
  void finish(const Use& use) {
    if (at_ != nullptr) use(hash_, last_, at_);
    at_ = nullptr;
  }

 private:
  AnchorShape shape_;
  std::uint64_t hash_ = 0;
  Anchor last_;
  const std::uint8_t* at_ = nullptr;
};

/// Finds the anchors of ranges of windows, in O(1) for each byte, whatever the text: the least hash
/// of sliding windows is the lesser of a suffix minimum of one block of hashes and a prefix minimum
/// of the next (van Herk 1992; Gil and Werman 1993).
class AnchorFinder {
 public:
  explicit AnchorFinder(const AnchorShape& shape)
      : shape_(shape), suffix_(shape.offsets), next_(shape.offsets) {
    std::uint64_t power = 1;
    for (std::uint64_t i = 0; i < shape.gram; ++i) power *= factor;
    for (std::size_t byte = 0; byte < 256; ++byte) leaving_[byte] = codes[byte] * power;
  }

  /// Most windows of one call.
  static constexpr std::uint64_t most_windows = std::uint64_t{1} << 22;

  /// Calls use(hash, anchor, at) for all anchors of the windows that begin in [begin, end), of
  /// which repeated ones are joined. `hash` is that of the k-gram, `at` its address.
  /// \pre as visit()
  template <class Use>
  void visit_runs(const std::uint8_t* text, std::uint64_t begin, std::uint64_t end,
                  const Use& use) {
    AnchorRuns runs(shape_);
    visit(text, begin, end, [&](const Anchor& anchor) {
      const std::uint8_t* const at = text + anchor.position;
      runs.add(hash_of(at, shape_.gram), anchor, at, use);
    });
    runs.finish(use);
  }

  /// Calls use(Anchor) for all anchors of the windows that begin in [begin, end), ascending. The
  /// windows of these anchors are a partition of [begin, end).
  /// \pre begin < end <= begin + most_windows, and end - 1 + window bytes are in the text
  template <class Use>
  void visit(const std::uint8_t* text, std::uint64_t begin, std::uint64_t end, const Use& use) {
    const std::uint64_t offsets = shape_.offsets;
    Hash hash{text + begin, leaving_};
    for (std::uint64_t i = 0; i + 1 < shape_.gram; ++i) hash.enter();
    std::uint64_t place = position_mask;
    for (std::uint64_t j = 0; j < offsets; ++j)
      suffix_[j] = hash.next(shape_.gram, j == 0) | place--;
    std::uint64_t current = no_key;
    std::uint64_t first = begin;
    const auto flush = [&](std::uint64_t last) {
      const std::uint64_t position = begin + (position_mask - (current & position_mask));
      use(Anchor{position, static_cast<std::uint32_t>(position - last),
                 static_cast<std::uint32_t>(position - first),
                 static_cast<std::uint32_t>(last - first + 1)});
    };
    for (std::uint64_t block = begin;; block += offsets) {
      for (std::uint64_t j = offsets - 1; j-- > 0;)
        suffix_[j] = std::min(suffix_[j], suffix_[j + 1]);
      std::uint64_t prefix = no_key;
      const std::uint64_t windows = std::min(offsets, end - block);
      for (std::uint64_t j = 0; j < windows; ++j) {
        const std::uint64_t key = std::min(suffix_[j], prefix);
        if (key != current) {
          if (current != no_key) flush(block + j - 1);
          current = key;
          first = block + j;
        }
        if (block + j + 1 == end) break;
        next_[j] = hash.next(shape_.gram, false) | place--;
        prefix = std::min(prefix, next_[j]);
      }
      if (block + windows == end) break;
      std::swap(suffix_, next_);
    }
    flush(end - 1);
  }

 private:
  /// A key is a hash of 38 bits above the position, counted downwards, so that the least key is
  /// that of the last of several equal hashes.
  static constexpr int position_bits = 25;
  static constexpr std::uint64_t position_mask = (std::uint64_t{1} << position_bits) - 1;
  static constexpr std::uint64_t no_key = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15ULL;
  static constexpr std::array<std::uint64_t, 256> codes = [] {
    std::array<std::uint64_t, 256> all{};
    Random random(1);
    for (std::uint64_t& code : all) code = random.next();
    return all;
  }();

  /// A polynomial in `factor` modulo 2^64 of the codes of the last bytes. The hash of a k-gram of
  /// equal bytes is greater than all others: it would be the anchor of one window each wherever a
  /// run begins. (160,000 runs of 150 zeros between 50 random bytes took 19 bytes for each byte of
  /// text.)
  struct Hash {
    const std::uint8_t* next_byte;
    const std::array<std::uint64_t, 256>& leaving;
    std::uint64_t value = 0;
    std::uint64_t run = 0;  ///< number of last bytes that are equal
    std::uint8_t last = 0;

    void enter() {
      count_run();
      value = value * factor + codes[*next_byte++];
    }
    [[gnu::always_inline]] void count_run() {
      run = *next_byte == last ? run + 1 : 1;
      last = *next_byte;
    }
    /// The hash of the next k-gram above the bits of a position.
    [[gnu::always_inline]] std::uint64_t next(std::uint64_t gram, bool is_first) {
      count_run();
      const std::uint8_t* const byte = next_byte++;
      const std::uint64_t left = is_first ? 0 : leaving[*(byte - gram)];
      value = value * factor + (codes[*byte] - left);
      const std::uint64_t folded = (value ^ value >> 32) * 0xd6e8feb86659fd93ULL;
      constexpr std::uint64_t is_run = std::uint64_t{1} << 62;
      return (folded >> 2 | (run >= gram ? is_run : 0)) & ~position_mask;  // less than no_key
    }
  };

  AnchorShape shape_;
  std::array<std::uint64_t, 256> leaving_{};
  std::vector<std::uint64_t> suffix_;
  std::vector<std::uint64_t> next_;
};

}  // namespace sortie::texts::host
