// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/coded_text.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

/// Order-preserving codes of tokens: the functions of token_text.cu for each item, and the kernels,
/// which also run on the host, for tests.
namespace sortie::suffix_array::cuda {

/// Tokens of 2 or 4 bytes, little-endian. They compare as their bytes do.
struct TokenReader {
  const void* tokens;
  std::uint64_t count;
  int token_bytes;

  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return token_bytes == 2 ? static_cast<const std::uint16_t*>(tokens)[i]
                            : static_cast<const std::uint32_t*>(tokens)[i];
  }
  __host__ __device__ static std::uint32_t swapped_half(std::uint32_t half) {
    return (half & 0xffU) << 8 | half >> 8;
  }
  /// A number that ascends as the bytes of the token do.
  __host__ __device__ static std::uint32_t in_order(std::uint32_t token) {
    return swapped_half(token & 0xffffU) << 16 | swapped_half(token >> 16);
  }
  /// The same, below 2^16 `highs`, if the higher half of all tokens is less than `highs`, which is
  /// at most 256.
  __host__ __device__ static std::uint32_t compact(std::uint32_t token, std::uint32_t highs) {
    return swapped_half(token & 0xffffU) * highs + (token >> 16);
  }
};

/// An order-preserving code of the symbols 0 .. symbols - 1, free of prefixes.
///
///   weights   2      5          3      2       of the symbols, in their order
///   range     |--.--|-----.-----|---.--|--.--|   0 .. 2^bits
///   code      the first bits of a middle (.) that no other middle begins with
///
/// A middle that differs from its neighbours' differs from all others, since middles ascend. So each
/// code depends on three weights and their sums, and all are found at once. Of ranges of w of 2^bits,
/// a code has at most bits - log2(w) + 2 bits.
///
/// Source: Gilbert, Moore: Variable-length binary encodings (Bell System Technical Journal 1959).
struct TokenCode {
  /// Most bits of a code: 2^32 tokens and the end of the text, with weights of at least 2 each.
  static constexpr int most_bits = 36;

  /// A code, right-aligned, above its length in the lowest six bits.
  using Entry = std::uint64_t;
  __host__ __device__ static int length(Entry entry) { return static_cast<int>(entry & 63U); }
  __host__ __device__ static std::uint64_t bits(Entry entry) { return entry >> 6; }

  /// Bits of the sum of all weights: at most a quarter of it goes to symbols that were not counted.
  __host__ __device__ static int sum_bits(std::uint64_t symbols) {
    int bits = 3;
    while (symbols >> (bits - 3) != 0) ++bits;
    return bits;
  }
  /// The weight of a symbol that occurs `count` times among `counted`, which is at most 2^26.
  __host__ __device__ static std::uint64_t weight(std::uint64_t symbols, std::uint64_t count,
                                                  std::uint64_t counted) {
    return 2 + count * ((std::uint64_t{1} << sum_bits(symbols)) - 2 * symbols) / counted;
  }
  /// The code of one of at least two symbols.
  /// \param sums  sums[s]: of the weights of the symbols up to and with s
  __host__ __device__ static Entry entry(const std::uint64_t* sums, std::uint64_t symbols,
                                         std::uint64_t s) {
    const std::uint64_t middle = middle_of(sums, s);
    int shared = 0;  // leading bits that a neighbour's middle shares
    if (s != 0) shared = leading_zeros(middle ^ middle_of(sums, s - 1));
    if (s + 1 != symbols) {
      const int above = leading_zeros(middle ^ middle_of(sums, s + 1));
      shared = above > shared ? above : shared;
    }
    const int all = sum_bits(symbols);
    const int length = shared - (64 - all) + 1;
    return middle >> (all - length) << 6 | static_cast<std::uint64_t>(length);
  }

 private:
  __host__ __device__ static std::uint64_t middle_of(const std::uint64_t* sums, std::uint64_t s) {
    const std::uint64_t begin = s == 0 ? 0 : sums[s - 1];
    return (begin + sums[s]) / 2;
  }
  __host__ __device__ static int leading_zeros(std::uint64_t word) {
    return SymbolStream::count_leading_zeros(word);
  }
};

/// A text of tokens by their ranks, with the code of each.
struct CodedTokens {
  const std::uint32_t* ranks;  ///< 0 is the first token
  std::uint64_t count;
  const TokenCode::Entry* entries;  ///< of the end of the text, then of each rank

  /// The code of token i, of the end of the text at `count`, and no bits behind it.
  __device__ TokenCode::Entry operator()(std::uint64_t i) const {
    if (i < count) return entries[std::uint64_t{ranks[i]} + 1];
    return i == count ? entries[0] : 0;
  }
};

// A warp handles a block of CodedText, 64 tokens: lane l tokens 2 l and 2 l + 1.
inline constexpr unsigned token_blocks_a_group = element_threads / 32;

// Counts the bits of each block.
__global__ void __launch_bounds__(element_threads)
    count_token_bits_kernel(CodedTokens tokens, std::uint64_t blocks, std::uint64_t* bits) {
  const std::uint64_t block = std::uint64_t{blockIdx.x} * token_blocks_a_group + threadIdx.x / 32;
  if (block >= blocks) return;
  const std::uint64_t first = block * CodedText::block_symbols + 2 * lane();
  const int own = TokenCode::length(tokens(first)) + TokenCode::length(tokens(first + 1));
  const int up_to = inclusive_sum_in_warp(own);
  if (lane() == 31) bits[block] = static_cast<std::uint64_t>(up_to);
}

// Writes the codes of each block, to words in shared memory, and then these to the stream. The first
// and the last word of a block may be shared with its neighbours.
__global__ void __launch_bounds__(element_threads)
    write_token_codes_kernel(CodedTokens tokens, std::uint64_t blocks,
                             const std::uint64_t* bits_up_to, std::uint64_t* words,
                             std::uint64_t* begins, std::uint16_t* symbols) {
  constexpr unsigned most_words = (CodedText::block_symbols * TokenCode::most_bits + 63) / 64 + 1;
  __shared__ unsigned long long all_words[token_blocks_a_group][most_words];
  const std::uint64_t block = std::uint64_t{blockIdx.x} * token_blocks_a_group + threadIdx.x / 32;
  if (block >= blocks) return;
  unsigned long long* const own_words = all_words[threadIdx.x / 32];
  const std::uint64_t begin = CodedText::first_bit + (block == 0 ? 0 : bits_up_to[block - 1]);
  const std::uint64_t end = CodedText::first_bit + bits_up_to[block];
  const auto used = static_cast<unsigned>(end / 64 - begin / 64 + 1);
  for (unsigned w = lane(); w < used; w += 32) own_words[w] = 0;
  __syncwarp();

  const std::uint64_t first = block * CodedText::block_symbols + 2 * lane();
  const TokenCode::Entry entries[2] = {tokens(first), tokens(first + 1)};
  const int lengths[2] = {TokenCode::length(entries[0]), TokenCode::length(entries[1])};
  int distance = inclusive_sum_in_warp(lengths[0] + lengths[1]) - lengths[0] - lengths[1];
  const std::uint32_t both = static_cast<std::uint32_t>(distance) |
                             static_cast<std::uint32_t>(distance + lengths[0]) << 16;
  reinterpret_cast<std::uint32_t*>(symbols)[first / 2] = both;
  if (lane() == 0) begins[block] = begin;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const unsigned at = static_cast<unsigned>(begin % 64) + static_cast<unsigned>(distance);
    const int over = static_cast<int>(at % 64) + lengths[k] - 64;
    const std::uint64_t code = TokenCode::bits(entries[k]);
    if (lengths[k] != 0) {
      atomicOr(&own_words[at / 64],
               static_cast<unsigned long long>(over > 0 ? code >> over : code << -over));
      if (over > 0)
        atomicOr(&own_words[at / 64 + 1], static_cast<unsigned long long>(code << (64 - over)));
    }
    distance += lengths[k];
  }
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

/// Item j writes word j of a text in which each token is a number of 8 bits, other than 0: a hash of
/// its rank. Minimizers and samples are chosen from these.
struct HashTokens {
  static constexpr int bits = 8;
  static constexpr std::uint64_t tokens_a_word = 64 / bits;

  const std::uint32_t* ranks;
  std::uint64_t count;
  std::uint64_t* words;

  __host__ __device__ static std::uint64_t hash(std::uint32_t rank) {
    return (rank * 0x9e3779b9U >> 16) % 255U + 1U;
  }
  __host__ __device__ void operator()(std::uint64_t j) const {
    std::uint64_t word = 0;
    for (std::uint64_t i = j * tokens_a_word; i < (j + 1) * tokens_a_word; ++i)
      word = word << bits | (i < count ? hash(ranks[i]) : 0U);
    words[j] = word;
  }
};

}  // namespace sortie::suffix_array::cuda
