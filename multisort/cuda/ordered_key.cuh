#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

#include "sortie/multisort/key_types.hpp"

namespace sortie::multisort {

/// Keys of any type and direction as unsigned integers that ascend in the order asked for, so that
/// one kernel for each key width serves all of them.
///
/// \tparam Word  the unsigned integer as wide as the key
///
/// Signed keys have their sign bit flipped; floating-point ones all bits where the sign is set (IEEE
/// 754 totalOrder); descending order complements the result. As the flip of negative numbers leaves
/// the sign alone, decode() sees which keys had one.
template <class Word>
struct OrderedKey {
  static_assert(std::is_unsigned_v<Word>);

  Word flip_always = 0;    ///< XORed to every key
  Word flip_negative = 0;  ///< XORed to keys with a sign bit, which it leaves alone

  [[nodiscard]] static OrderedKey make(KeyType type, Order order) {
    constexpr Word ones = static_cast<Word>(~Word{0});
    constexpr Word sign = static_cast<Word>(ones ^ (ones >> 1));
    OrderedKey result;
    if (kind_of(type) != sortie::KeyType::u64) result.flip_always = sign;
    if (kind_of(type) == sortie::KeyType::f64) result.flip_negative = static_cast<Word>(ones >> 1);
    if (order == Order::descending)
      result.flip_always = static_cast<Word>(result.flip_always ^ ones);
    return result;
  }

  [[nodiscard]] __host__ __device__ Word encode(Word key) const {
    return static_cast<Word>(key ^ flip_always ^ (is_negative(key) ? flip_negative : Word{0}));
  }

  [[nodiscard]] __host__ __device__ Word decode(Word word) const {
    const Word key = static_cast<Word>(word ^ flip_always);
    return static_cast<Word>(key ^ (is_negative(key) ? flip_negative : Word{0}));
  }

 private:
  [[nodiscard]] __host__ __device__ static bool is_negative(Word key) {
    return (key >> (8 * sizeof(Word) - 1)) != 0;
  }
};

}  // namespace sortie::multisort
