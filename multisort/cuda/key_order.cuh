#pragma once

#include <cstdint>
#include <type_traits>

#include "sortie/multisort/cuda/partition_kernels.hpp"

namespace sortie::multisort {

/// Maps keys of a width to unsigned integers that ascend in the order asked for, as KeyOrder says.
template <class Word>
class OrderedKeys {
 public:
  static constexpr int bits = static_cast<int>(sizeof(Word)) * 8;

  __host__ __device__ explicit OrderedKeys(const KeyOrder& order)
      : float_mask_(order.is_float ? static_cast<Word>(~Word{0}) : Word{0}),
        sign_flip_(order.has_sign ? static_cast<Word>(Word{1} << (bits - 1)) : Word{0}),
        direction_flip_(order.descending ? static_cast<Word>(~Word{0}) : Word{0}) {}

  [[nodiscard]] __device__ Word encode(Word key) const {
    return static_cast<Word>(key ^ ((sign_of(key) & float_mask_) | sign_flip_) ^ direction_flip_);
  }
  [[nodiscard]] __device__ Word decode(Word word) const {
    const auto flipped = static_cast<Word>(word ^ direction_flip_);
    // The flip turned a clear sign bit into a set one, so a negative number has it clear here.
    const Word sign = sign_of(static_cast<Word>(~flipped));
    return static_cast<Word>(flipped ^ ((sign & float_mask_) | sign_flip_));
  }

 private:
  /// All ones where the highest bit is set.
  [[nodiscard]] __device__ static Word sign_of(Word key) {
    return static_cast<Word>(static_cast<std::make_signed_t<Word>>(key) >> (bits - 1));
  }

  Word float_mask_;
  Word sign_flip_;
  Word direction_flip_;
};

}  // namespace sortie::multisort
