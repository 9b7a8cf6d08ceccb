// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/key_codec.hpp"
#include "sortie/key_types.hpp"

namespace sortie::multisort {

/// Kind and direction of keys in the type-erased arguments of kernels. The kernel, which is
/// compiled for a key width, makes a KeyCodec of it.
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

}  // namespace sortie::multisort
