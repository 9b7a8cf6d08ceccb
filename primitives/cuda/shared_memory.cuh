// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sortie {

/// Position of word i in shared memory with a padding word after every 32 words, which spreads
/// accesses with a stride over the banks.
__device__ __forceinline__ constexpr int banked(int i) {
  return i + (i >> 5);
}

}  // namespace sortie
