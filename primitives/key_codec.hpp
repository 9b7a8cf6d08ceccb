// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sortie/key_types.hpp"

/// Marks functions that both host and device code call.
#ifdef __CUDACC__
#define SORTIE_HOST_DEVICE __host__ __device__
#else
#define SORTIE_HOST_DEVICE
#endif

namespace sortie {

/// Maps keys of one width, of any kind and direction, to unsigned integers that ascend in the
/// requested order, and back. One algorithm per width thus serves all key types.
///
/// Signed integers: the sign bit is flipped. Floating point, for IEEE 754 totalOrder: all bits of
/// negative numbers are flipped, and the sign bit of all others. Descending: all bits are flipped.
template <std::unsigned_integral Word>
class KeyCodec {
 public:
  static constexpr int bits = 8 * static_cast<int>(sizeof(Word));

  /// Codec of ascending unsigned keys: the identity.
  KeyCodec() = default;

  SORTIE_HOST_DEVICE constexpr KeyCodec(KeyKind kind, Order order)
      : negative_flip_(kind == KeyKind::floating_point ? magnitude : Word{0}),
        flip_(kind == KeyKind::unsigned_integer ? Word{0} : sign_bit) {
    if (order == Order::descending) flip_ = static_cast<Word>(~flip_);
  }

  [[nodiscard]] SORTIE_HOST_DEVICE constexpr bool is_identity() const {
    return negative_flip_ == 0 && flip_ == 0;
  }

  [[nodiscard]] [[gnu::always_inline]] SORTIE_HOST_DEVICE constexpr Word encoded(Word key) const {
    return static_cast<Word>(key ^ (negative_mask(key) & negative_flip_) ^ flip_);
  }
  [[nodiscard]] [[gnu::always_inline]] SORTIE_HOST_DEVICE constexpr Word decoded(Word word) const {
    const auto key = static_cast<Word>(word ^ flip_);
    return static_cast<Word>(key ^ (negative_mask(key) & negative_flip_));
  }

  /// encoded() of a 32-bit key held in a 64-bit word whose upper half is zero.
  [[nodiscard]] [[gnu::always_inline]] std::uint64_t encoded_word(std::uint64_t key) const
      requires(sizeof(Word) == 4) {
    return key ^ ((0 - (key >> 31)) & negative_flip_) ^ flip_;
  }

  /// Bits that encoding flips in keys whose sign bit is set.
  [[nodiscard]] Word negative_flip() const { return negative_flip_; }
  /// Bits that encoding flips in every key.
  [[nodiscard]] Word flip() const { return flip_; }

  void encode(Word* keys, std::size_t n) const {
    if (is_identity()) return;
    for (std::size_t i = 0; i < n; ++i) keys[i] = encoded(keys[i]);
  }
  void decode(Word* words, std::size_t n) const {
    if (is_identity()) return;
    for (std::size_t i = 0; i < n; ++i) words[i] = decoded(words[i]);
  }

 private:
  static constexpr Word sign_bit = static_cast<Word>(Word{1} << (bits - 1));
  static constexpr Word magnitude = static_cast<Word>(~sign_bit);

  /// All ones if the sign bit is set, else 0.
  [[gnu::always_inline]] SORTIE_HOST_DEVICE static constexpr Word negative_mask(Word key) {
    return static_cast<Word>(Word{0} - (key >> (bits - 1)));
  }

  Word negative_flip_ = 0;
  Word flip_ = 0;
};

/// Kind and direction of keys in the type-erased arguments of kernels, which make a KeyCodec of it.
struct KeyOrder {
  KeyKind kind = KeyKind::unsigned_integer;
  Order direction = Order::ascending;

  [[nodiscard]] static KeyOrder of(KeyType type, Order direction) {
    return {kind_of(type), direction};
  }
  /// Whether keys are compared without encoding.
  [[nodiscard]] bool plain() const {
    return kind == KeyKind::unsigned_integer && direction == Order::ascending;
  }
  template <class Word>
  [[nodiscard]] SORTIE_HOST_DEVICE KeyCodec<Word> codec() const {
    return {kind, direction};
  }
};

}  // namespace sortie
