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
      : floating_(type == KeyType::f32 || type == KeyType::f64),
        flipped_((type == KeyType::u32 || type == KeyType::u64) ? 0 : sign_bit) {
    if (order == Order::descending) flipped_ = static_cast<UKey>(~flipped_);
  }

  [[nodiscard]] bool is_identity() const { return !floating_ && flipped_ == 0; }

  void encode(UKey* keys, std::size_t n) const {
    if (is_identity()) return;
    if (floating_) {
      for (std::size_t i = 0; i < n; ++i) keys[i] ^= magnitude_mask(keys[i]) ^ flipped_;
    } else {
      for (std::size_t i = 0; i < n; ++i) keys[i] ^= flipped_;
    }
  }

  void decode(UKey* keys, std::size_t n) const {
    if (is_identity()) return;
    for (std::size_t i = 0; i < n; ++i) keys[i] ^= flipped_;
    if (!floating_) return;
    for (std::size_t i = 0; i < n; ++i) keys[i] ^= magnitude_mask(keys[i]);
  }

 private:
  static constexpr UKey sign_bit = static_cast<UKey>(UKey{1} << (8 * sizeof(UKey) - 1));

  /// All bits but the sign where the sign is set, else none.
  static UKey magnitude_mask(UKey key) {
    const UKey sign = key >> (8 * sizeof(UKey) - 1);
    return static_cast<UKey>(UKey{0} - sign) & static_cast<UKey>(~sign_bit);
  }

  bool floating_ = false;
  UKey flipped_ = 0;
};

}  // namespace sortie::segsort
