#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sortie/segsort/key_types.hpp"

namespace sortie::segsort {

/// Turns keys of any type and direction into unsigned integers of the same order, and back.
///
/// Signed integers: the sign bit is flipped. Floating point, to IEEE 754 totalOrder: all bits of
/// negative numbers are flipped, of others the sign bit only. Descending: all bits are flipped.
template <std::unsigned_integral UKey>
class KeyForm {
 public:
  /// Unsigned keys, ascending: nothing to be done.
  KeyForm() = default;

  KeyForm(KeyType type, Order order)
      : floating_(type == KeyType::f32 || type == KeyType::f64 ? magnitude : 0),
        flipped_((type == KeyType::u32 || type == KeyType::u64) ? 0 : sign_bit) {
    if (order == Order::descending) flipped_ = static_cast<UKey>(~flipped_);
  }

  [[nodiscard]] bool is_identity() const { return floating_ == 0 && flipped_ == 0; }

  [[nodiscard]] [[gnu::always_inline]] UKey encoded(UKey key) const {
    return key ^ (negative_mask(key) & floating_) ^ flipped_;
  }
  [[nodiscard]] [[gnu::always_inline]] UKey decoded(UKey key) const {
    key ^= flipped_;
    return key ^ (negative_mask(key) & floating_);
  }

  /// encoded() of a 32-bit key in a word of 64 bits whose upper half is zero.
  [[nodiscard]] [[gnu::always_inline]] std::uint64_t encoded_word(std::uint64_t key) const
      requires(sizeof(UKey) == 4) {
    return key ^ ((0 - (key >> 31)) & floating_) ^ flipped_;
  }

  /// Bits that encoding flips where the sign bit is set, and those that it flips in any case.
  [[nodiscard]] UKey floating_bits() const { return floating_; }
  [[nodiscard]] UKey flipped_bits() const { return flipped_; }

  void encode(UKey* keys, std::size_t n) const {
    if (is_identity()) return;
    for (std::size_t i = 0; i < n; ++i) keys[i] = encoded(keys[i]);
  }

  void decode(UKey* keys, std::size_t n) const {
    if (is_identity()) return;
    for (std::size_t i = 0; i < n; ++i) keys[i] = decoded(keys[i]);
  }

 private:
  static constexpr UKey sign_bit = static_cast<UKey>(UKey{1} << (8 * sizeof(UKey) - 1));

  static constexpr UKey magnitude = static_cast<UKey>(~sign_bit);

  /// All bits where the sign is set, else none.
  [[gnu::always_inline]] static UKey negative_mask(UKey key) {
    return static_cast<UKey>(UKey{0} - (key >> (8 * sizeof(UKey) - 1)));
  }

  UKey floating_ = 0;  ///< bits that are flipped where the key is negative
  UKey flipped_ = 0;   ///< bits that are flipped in any case
};

}  // namespace sortie::segsort
