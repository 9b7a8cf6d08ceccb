// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/text/code_kernels.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {

/// Writes the stream of a text of `size` symbols. Waits for the stream.
/// \param text         gives the symbols: code_kernels.cuh
/// \param has_records  the text has separators, which are counted
/// \param coded        gets `words`, `begins` and `symbols`
template <class Text>
void write_stream(const Text& text, std::uint64_t size, bool has_records, CodedTextBuffer& coded,
                  cudaStream_t stream) {
  // One block of ends of the stream, for CodedText::whole_symbols.
  const std::uint64_t blocks = size / CodedText::block_symbols + 2;
  coded.begins = {blocks, stream};
  coded.symbols = {blocks * CodedText::block_symbols, stream};
  DeviceBuffer<std::uint64_t> bits(blocks, stream);
  DeviceBuffer<std::uint64_t> ends(has_records ? blocks : 0, stream);
  const unsigned groups = blocks_for(blocks, code_blocks_a_group);
  count_code_bits_kernel<<<groups, element_threads, 0, stream>>>(text, blocks, bits.data(),
                                                                 ends.data());
  check_cuda(cudaGetLastError());
  inclusive_sum(bits.data(), blocks, stream);
  if (has_records) inclusive_sum(ends.data(), blocks, stream);
  std::uint64_t all = 0;
  check_cuda(
      cudaMemcpyAsync(&all, bits.data() + blocks - 1, sizeof(all), cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  // Windows of suffixes that are alone may begin behind the end.
  constexpr std::uint64_t extra_words = 4;
  coded.words = {(CodedText::first_bit + all) / 64 + extra_words, stream};
  check_cuda(cudaMemsetAsync(coded.words.data(), 0, coded.words.bytes(), stream));
  write_codes_kernel<<<groups, element_threads, 0, stream>>>(
      text, blocks, bits.data(), ends.data(), coded.words.data(), coded.begins.data(),
      coded.symbols.data());
  check_cuda(cudaGetLastError());
}

}  // namespace sortie::suffix_array::cuda
