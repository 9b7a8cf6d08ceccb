// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/text/coded_text.cuh"

#include <algorithm>
#include <bit>
#include <vector>

#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/code_stream.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
ContextCode plan_context_code(const TextReader& text, const PrefixCode& letters,
                              cudaStream_t stream) {
  // A million pairs: the codes of a longer sample are hardly shorter.
  constexpr std::uint64_t most_pairs = 1 << 20;
  constexpr std::uint64_t range = 512;  // pairs that are read one after the other
  DeviceBuffer<std::uint32_t> pairs(std::size_t{256} * 256, stream);
  check_cuda(cudaMemsetAsync(pairs.data(), 0, pairs.bytes(), stream));
  const std::uint64_t count = text.size - 1;
  const std::uint64_t stride = std::max<std::uint64_t>(count / most_pairs, 1);
  const auto count_pair = [text, stride, count, pairs = pairs.data()] __device__(std::uint64_t j) {
    const std::uint64_t i = j / range * range * stride + j % range;
    if (i >= count || !text.is_letter(i) || !text.is_letter(i + 1)) return;
    atomicAdd(&pairs[256 * text.symbols[i] + text.symbols[i + 1]], 1U);
  };
  for_each_item<std::uint64_t>(count / stride, count_pair, stream);
  std::vector<std::uint32_t> counted(pairs.size());
  pairs.copy_to(counted);
  check_cuda(cudaStreamSynchronize(stream));
  return plan_context_code(letters.codes, counted);
}

CodedTextBuffer code_text(const TextReader& text, std::uint64_t separators,
                          const PrefixCode& letters, const ContextCode& code, cudaStream_t stream) {
  CodedTextBuffer coded;
  coded.alphabet = code.symbols;
  coded.number_bits = std::bit_width(separators);
  coded.letters = {letters.codes, stream};
  coded.entries = {code.entries, stream};
  write_stream(code_of(text, coded), text.size, separators != 0, coded, stream);
  return coded;
}

template <class Key, Position Index>
void write_coded_keys(const TextReader& text, const CodedTextBuffer& coded, int bits, Key* keys,
                      Index* positions, cudaStream_t stream) {
  const auto write_key = [code = CodeOfSuffix{code_of(text, coded), coded.view()}, bits, keys,
                          positions] __device__(Index i) {
    keys[i] = static_cast<Key>(code.key(i, bits));
    positions[i] = i;
  };
  for_each_item<Index>(text.size, write_key, stream);
}

SORTIE_FOR_KEYS_AND_POSITIONS(write_coded_keys);

}  // namespace sortie::suffix_array::cuda
