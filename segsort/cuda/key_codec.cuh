#pragma once

#include <cstdint>
#include <type_traits>

#include "sortie/segsort/key_types.hpp"

namespace sortie::segsort {

/// Maps keys of every supported type and direction to unsigned integers that ascend in the order
/// asked for, so that one kernel per key width serves all of them.
///
/// Three steps, each undone by decode(): the order-preserving flip of signed and floating-point
/// keys (IEEE 754 totalOrder), a complement for descending order, and a rotation that brings the
/// compared bits to the top. An unstable sort then compares whole words, since the order among keys
/// that agree in the compared bits is free; a stable one compares `word & compare_mask`.
template <class Word>
struct KeyCodec {
  static_assert(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>);
  static constexpr int bits = static_cast<int>(sizeof(Word)) * 8;
  using Signed = std::make_signed_t<Word>;

  Word float_mask = 0;      ///< all ones for floating-point keys
  Word base_flip = 0;       ///< sign bit for signed and floating-point keys
  Word direction_flip = 0;  ///< all ones for descending order
  Word compare_mask = ~Word{0};
  int ignored_bits = 0;  ///< low bits that compare_mask clears
  int rotation = 0;
  bool plain = true;  ///< keys are compared as they are: unsigned, ascending, all bits

  __host__ __device__ static KeyCodec make(KeyType type, Order order, int begin_bit, int end_bit) {
    KeyCodec codec;
    const bool floating = type == KeyType::f32 || type == KeyType::f64;
    const bool has_sign = floating || type == KeyType::i32 || type == KeyType::i64;
    if (floating) codec.float_mask = ~Word{0};
    if (has_sign) codec.base_flip = Word{1} << (bits - 1);
    if (order == Order::descending) codec.direction_flip = ~Word{0};
    codec.rotation = bits - end_bit;
    codec.ignored_bits = bits - (end_bit - begin_bit);
    codec.plain = !has_sign && order == Order::ascending && end_bit - begin_bit == bits;
    if (end_bit == begin_bit) {
      codec.compare_mask = 0;
    } else {
      codec.compare_mask = ~Word{0} << (bits - (end_bit - begin_bit));
    }
    return codec;
  }

  __device__ Word encode(Word key) const {
    const Word sign = static_cast<Word>(static_cast<Signed>(key) >> (bits - 1));
    return rotate_left(key ^ ((sign & float_mask) | base_flip) ^ direction_flip, rotation);
  }

  __device__ Word decode(Word word) const {
    const Word flipped = rotate_left(word, bits - rotation) ^ direction_flip;
    // The flip turned a clear sign bit into a set one, so a negative number has it clear here.
    const Word sign = static_cast<Word>(static_cast<Signed>(~flipped) >> (bits - 1));
    return flipped ^ ((sign & float_mask) | base_flip);
  }

 private:
  __device__ static Word rotate_left(Word word, int count) {
    count &= bits - 1;
    return (word << count) | (word >> ((bits - count) & (bits - 1)));
  }
};

}  // namespace sortie::segsort
