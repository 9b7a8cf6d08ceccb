#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sortie::suffix_array::cuda {

/// The word of one suffix (see PackingPlan) from the codes that follow its position: `symbols`
/// digits in the given base, all 0 from the first end (code 0) on.
///
/// Horner's rule for every position anew takes k multiply-adds; the rule that PackingPlan names,
/// from the right neighbour's word, would take a 64-bit division and a chain through all positions.
__host__ __device__ inline std::uint64_t pack_word(const std::uint16_t* codes, std::uint64_t base,
                                                   int symbols) {
  std::uint64_t word = 0;
  bool ended = false;
  for (int i = 0; i < symbols; ++i) {
    ended = ended || codes[i] == 0;
    word = word * base + (ended ? 0U : codes[i]);
  }
  return word;
}

}  // namespace sortie::suffix_array::cuda
