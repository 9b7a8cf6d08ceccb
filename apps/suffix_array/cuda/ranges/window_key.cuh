// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/symbol_stream.cuh"

namespace sortie::suffix_array::cuda {

/// The first sort keys of a range: as many symbols of the packed text as 63 bits hold, zeros after
/// an end, and in the lowest bit whether there is an end. So suffixes with equal odd keys are in
/// their final order, as first_groups() requires.
struct WindowKey {
  SymbolStream text;

  /// Symbols that a key covers.
  __host__ __device__ int symbols() const { return 63 / text.bits; }
  /// Bits of the greatest key.
  __host__ __device__ int bits() const { return symbols() * text.bits + 1; }

  __host__ __device__ std::uint64_t operator()(std::uint64_t position) const {
    const std::uint64_t window =
        text.window<std::uint64_t>(position) >> ((text.window_symbols(64) - symbols()) * text.bits);
    return window << 1 | ((window & text.last_symbol_mask()) == 0 ? 1U : 0U);
  }
};

}  // namespace sortie::suffix_array::cuda
