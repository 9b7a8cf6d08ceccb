// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/samples/minimizers.cuh"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/text/coded_text.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::cuda {

/// The minimizers of a text that is compared by codes, a fifth of the suffixes of source and HTML.
/// Once they are sorted, all suffixes are listed in the order of their minimizers, and sorted by
/// the first bits of their codes: that is the suffix array.
template <Position Index>
struct Minimizers {
  MinimizerChoice choice{};
  NumberedSetBuffer<Index> set;            ///< their positions
  DeviceBuffer<std::uint8_t> distances{};  ///< by position: to the minimizer of the suffix
  std::uint64_t count = 0;                 ///< 0: minimizers are not used

  [[nodiscard]] std::uint64_t bytes() const { return set.bytes() + distances.bytes(); }
};

/// Chooses them; none if they are too many to gain by them, or if sort_by_minimizers() would exceed
/// `budget`. Waits for the stream.
/// \param held  bytes held
template <Position Index>
[[nodiscard]] Minimizers<Index> choose_minimizers(const TextReader& text,
                                                  const SymbolStream& packed,
                                                  const CodedTextBuffer& coded,
                                                  std::uint64_t budget, std::uint64_t held,
                                                  cudaStream_t stream);

/// Writes key and position of each minimizer, in text order; keys as write_coded_keys().
template <Position Index>
void write_minimizer_keys(const TextReader& text, const CodedTextBuffer& coded,
                          Minimizers<Index>& minimizers, int bits, std::uint64_t* keys,
                          Index* positions, cudaStream_t stream);

/// The suffix array of the text.
/// \param sorted  positions of the minimizers in the order of their suffixes; freed
/// \param symbol_bytes  unit of the positions of the result
///
/// Memory for n symbols, beside what is held: keys and positions twice, 24 n bytes with 32-bit
/// positions.
template <Position Index>
[[nodiscard]] DeviceBuffer<Index> sort_by_minimizers(const TextReader& text,
                                                     const CodedTextBuffer& coded,
                                                     Minimizers<Index>& minimizers,
                                                     DeviceBuffer<Index> sorted,
                                                     unsigned symbol_bytes, cudaStream_t stream);

}  // namespace sortie::suffix_array::cuda
