// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cstdint>

#include "apps/suffix_array/cuda/text/coded_text.hpp"

/// The functions of coded_text.cu for each item, which also run on the host, for tests.
namespace sortie::suffix_array::cuda {

/// The codes of a text, for kernels.
struct TextCode {
  TextReader text;
  const std::uint16_t* letters;  ///< symbol of each byte
  const ContextCode::Entry* entries;
  std::uint32_t alphabet;
  unsigned number_bits;
  int own_length;  ///< of all codes in context 0, which are the symbols' numbers

  /// Symbol at a position: a letter, or the end of a record.
  __host__ __device__ std::uint32_t symbol(std::uint64_t position) const {
    return text.is_letter(position) ? letters[text.symbols[position]] : 0U;
  }
  __host__ __device__ ContextCode::Entry entry(std::uint32_t before, std::uint32_t symbol) const {
    return entries[before * alphabet + symbol];
  }
  /// The symbol before a position, which is the context of its code.
  __host__ __device__ std::uint32_t before(std::uint64_t position) const {
    return position == 0 ? 0U : symbol(position - 1);
  }
  /// Symbols i and i + 1 of the stream.
  __host__ __device__ TwoSymbolsInStream two(std::uint64_t i) const {
    if (i > text.size) return {};
    const std::uint32_t first = symbol(i);
    return {in_stream(before(i), first),
            i + 1 > text.size ? SymbolInStream{} : in_stream(first, symbol(i + 1))};
  }

 private:
  __host__ __device__ SymbolInStream in_stream(std::uint32_t before, std::uint32_t symbol) const {
    const ContextCode::Entry code = entry(before, symbol);
    return {ContextCode::bits(code), ContextCode::length(code), own_length, symbol == 0};
  }
};

/// The codes of a text that is coded.
inline TextCode code_of(const TextReader& text, const CodedTextBuffer& coded) {
  return {text,
          coded.letters.data(),
          coded.entries.data(),
          coded.alphabet,
          static_cast<unsigned>(coded.number_bits),
          static_cast<int>(std::bit_width(coded.alphabet - 1))};
}

/// The first 64 bits of the code of a suffix.
struct CodeOfSuffix {
  TextCode code;
  CodedText coded;

  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    if (coded.context_free) return coded.bits_from(coded.begin(i));
    const std::uint32_t symbol = code.symbol(i);
    const std::uint64_t next = coded.begin(i + 1);
    const std::uint64_t rest =
        coded.bits_from(symbol == 0 ? next - static_cast<std::uint64_t>(code.number_bits) : next);
    return std::uint64_t{symbol} << (64 - code.own_length) | rest >> code.own_length;
  }
  /// The first `bits` - 1 bits above a bit that is 0.
  __host__ __device__ std::uint64_t key(std::uint64_t i, int bits) const {
    return (*this)(i) >> (65 - bits) << 1;
  }
};

}  // namespace sortie::suffix_array::cuda
