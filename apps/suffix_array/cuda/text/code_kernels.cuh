// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/coded_text.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

/// The kernels that write a text as a CodedText. They also run on the host, for tests.
namespace sortie::suffix_array::cuda {

/// Most bits of a block of CodedText: of codes of letters with the numbers of records, or of tokens.
inline constexpr unsigned most_block_bits = CodedText::block_symbols * (14 + 32);
static_assert(most_block_bits < 1U << 12, "CodedText::symbols has 12 bits for them");

/// Blocks of CodedText that a block of threads handles.
inline constexpr unsigned code_blocks_a_group = element_threads / 32;

// Counts the bits of each block, and the ends of records among its symbols. A warp handles a block,
// 64 symbols: lane l symbols 2 l and 2 l + 1. `Text` gives these: text.two(2 l), text.number_bits.
// `ends` is null for a text of one record.
template <class Text>
__global__ void __launch_bounds__(element_threads)
    count_code_bits_kernel(Text text, std::uint64_t blocks, std::uint64_t* bits,
                           std::uint64_t* ends) {
  const std::uint64_t block = std::uint64_t{blockIdx.x} * code_blocks_a_group + threadIdx.x / 32;
  if (block >= blocks) return;
  const TwoSymbolsInStream own = text.two(block * CodedText::block_symbols + 2 * lane());
  const int up_to = inclusive_sum_in_warp(own.first.length + own.second.length);
  const std::uint32_t found = lanes_of(__ballot_sync(full_warp, own.first.is_end)) +
                              lanes_of(__ballot_sync(full_warp, own.second.is_end));
  if (lane() != 31) return;
  bits[block] = static_cast<std::uint64_t>(up_to) + std::uint64_t{found} * text.number_bits;
  if (ends != nullptr) ends[block] = found;
}

// Writes the codes of each block, to words in shared memory, and then these to the stream:
//
//   lane         0           1           2                  31
//   symbols      0   1       2   3       4   5     ...      62  63
//   bits         010 1101    11  0010    00  111   ...      a sum over the lanes gives where each
//   words        ......0101 | 101110010001 11...   ...      begins; the first and the last word may
//                                                           be shared with the neighbouring blocks
//
// `words` are zeros; `bits_up_to` and `ends_up_to` are sums over the blocks up to and with each one.
template <class Text>
__global__ void __launch_bounds__(element_threads)
    write_codes_kernel(Text text, std::uint64_t blocks, const std::uint64_t* bits_up_to,
                       const std::uint64_t* ends_up_to, std::uint64_t* words, std::uint64_t* begins,
                       std::uint16_t* symbols) {
  constexpr unsigned most_words = (most_block_bits + 63) / 64 + 1;
  __shared__ unsigned long long words_of_warps[code_blocks_a_group][most_words];
  const std::uint64_t block = std::uint64_t{blockIdx.x} * code_blocks_a_group + threadIdx.x / 32;
  if (block >= blocks) return;
  unsigned long long* const own_words = words_of_warps[threadIdx.x / 32];
  const std::uint64_t begin = CodedText::first_bit + (block == 0 ? 0 : bits_up_to[block - 1]);
  const std::uint64_t end = CodedText::first_bit + bits_up_to[block];
  const auto used = static_cast<unsigned>(end / 64 - begin / 64 + 1);
  for (unsigned w = lane(); w < used; w += 32) own_words[w] = 0;
  __syncwarp();

  const std::uint64_t first = block * CodedText::block_symbols + 2 * lane();
  TwoSymbolsInStream own = text.two(first);
  if (text.number_bits != 0) {
    const unsigned first_ends = __ballot_sync(full_warp, own.first.is_end);
    const unsigned second_ends = __ballot_sync(full_warp, own.second.is_end);
    std::uint64_t number = ends_up_to == nullptr || block == 0 ? 0 : ends_up_to[block - 1];
    number += rank_among(first_ends) + rank_among(second_ends);
    for (SymbolInStream* const symbol : {&own.first, &own.second}) {
      if (!symbol->is_end) continue;
      symbol->bits = symbol->bits << text.number_bits | number++;
      symbol->length += static_cast<int>(text.number_bits);
    }
  }
  const int length = own.first.length + own.second.length;
  const int distance = inclusive_sum_in_warp(length) - length;
  const auto entry = [](int at, const SymbolInStream& symbol) {
    return static_cast<std::uint32_t>(at) | static_cast<std::uint32_t>(symbol.own_length) << 12;
  };
  reinterpret_cast<std::uint32_t*>(symbols)[first / 2] =
      entry(distance, own.first) | entry(distance + own.first.length, own.second) << 16;
  if (lane() == 0) begins[block] = begin;
  const auto write = [&](int from, const SymbolInStream& symbol) {
    if (symbol.length == 0) return;
    const unsigned at = static_cast<unsigned>(begin % 64) + static_cast<unsigned>(from);
    const int over = static_cast<int>(at % 64) + symbol.length - 64;
    const std::uint64_t highest = over > 0 ? symbol.bits >> over : symbol.bits << -over;
    atomicOr(&own_words[at / 64], static_cast<unsigned long long>(highest));
    if (over > 0)
      atomicOr(&own_words[at / 64 + 1],
               static_cast<unsigned long long>(symbol.bits << (64 - over)));
  };
  write(distance, own.first);
  write(distance + own.first.length, own.second);
  __syncwarp();
  std::uint64_t* const out = words + begin / 64;
  for (unsigned w = lane(); w < used; w += 32) {
    if (w == 0 || w + 1 == used) {
      atomicOr(reinterpret_cast<unsigned long long*>(&out[w]), own_words[w]);
    } else {
      out[w] = own_words[w];
    }
  }
}

}  // namespace sortie::suffix_array::cuda
