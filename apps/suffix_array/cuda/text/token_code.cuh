// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/suffix_array/cuda/text/coded_text.hpp"

/// Order-preserving codes of tokens: the functions of token_text.cu for each item, which also run
/// on the host, for tests.
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
  /// The greatest token, which some corpora have between documents.
  static constexpr std::uint32_t separator = ~0U;
  /// The same, at most 2^16 `highs`, if the higher half of each token but separators is less than
  /// `highs`, which is at most 256.
  __host__ __device__ static std::uint32_t compact(std::uint32_t token, std::uint32_t highs) {
    if (token == separator) return highs << 16;
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
  unsigned number_bits = 0;

  /// Symbols i and i + 1 of the stream: the end of the text is at `count`.
  __host__ __device__ TwoSymbolsInStream two(std::uint64_t i) const {
    return {in_stream(i), in_stream(i + 1)};
  }

 private:
  __host__ __device__ SymbolInStream in_stream(std::uint64_t i) const {
    if (i > count) return {};
    const TokenCode::Entry entry = entries[i < count ? std::uint64_t{ranks[i]} + 1 : 0];
    return {TokenCode::bits(entry), TokenCode::length(entry), 0, i == count};
  }
};

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
