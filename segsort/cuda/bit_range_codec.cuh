// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "primitives/key_codec.hpp"

namespace sortie::segsort {

/// A KeyCodec for sorts that compare only some bits of the keys.
///
/// Words are rotated so that the compared bits are the highest. An unstable sort compares whole
/// words, since keys that agree in the compared bits may be in any order. A stable sort compares
/// `word & compare_mask`.
template <class Word>
struct BitRangeCodec {
  static_assert(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>);
  static constexpr int bits = KeyCodec<Word>::bits;

  KeyCodec<Word> codec;
  Word compare_mask = ~Word{0};
  int ignored_bits = 0;  ///< low bits that compare_mask clears
  int rotation = 0;
  bool plain = true;  ///< keys need no encoding: unsigned, ascending, all bits

  __host__ __device__ static BitRangeCodec make(KeyType type, Order order, int begin_bit,
                                                int end_bit) {
    BitRangeCodec made;
    made.codec = KeyCodec<Word>(kind_of(type), order);
    made.rotation = bits - end_bit;
    made.ignored_bits = bits - (end_bit - begin_bit);
    made.plain = made.codec.is_identity() && end_bit - begin_bit == bits;
    made.compare_mask = end_bit == begin_bit ? Word{0} : ~Word{0} << made.ignored_bits;
    return made;
  }

  __device__ Word encode(Word key) const { return rotate_left(codec.encoded(key), rotation); }
  __device__ Word decode(Word word) const {
    return codec.decoded(rotate_left(word, bits - rotation));
  }

 private:
  __device__ static Word rotate_left(Word word, int count) {
    count &= bits - 1;
    return (word << count) | (word >> ((bits - count) & (bits - 1)));
  }
};

}  // namespace sortie::segsort
