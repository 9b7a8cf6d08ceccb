// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "multisort/cuda/bitonic/network_kernels.cuh"
#include "multisort/cuda/bitonic/sort_typed.hpp"

namespace sortie::multisort::bitonic {

/// Sorts keys of one width, with values of any size. \pre request.value_bytes is 0, 4 or 8
template <class Key>
void sort_typed(const Request& request, cudaStream_t stream) {
  const KeyCodec<Key> codec(kind_of(request.key_type), request.order);
  Key* const keys = static_cast<Key*>(request.keys);
  if (request.value_bytes == 0) {
    sort_in_place<Key, NoValue>(keys, nullptr, request.n, codec, stream);
  } else if (request.value_bytes == 4) {
    sort_in_place(keys, static_cast<std::uint32_t*>(request.values), request.n, codec, stream);
  } else {
    sort_in_place(keys, static_cast<std::uint64_t*>(request.values), request.n, codec, stream);
  }
}

}  // namespace sortie::multisort::bitonic
