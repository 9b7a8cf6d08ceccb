// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

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
  int number_bits;

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
};

/// The codes of a text that is coded.
inline TextCode code_of(const TextReader& text, const CodedTextBuffer& coded) {
  return {text, coded.letters.data(), coded.entries.data(), coded.alphabet, coded.number_bits};
}

/// Item j counts the bits of block j of symbols, and the ends among these.
struct CountCodeBits {
  TextCode code;
  std::uint64_t* bits;
  std::uint64_t* ends;  ///< null for a text of one record

  __host__ __device__ void operator()(std::uint64_t j) const {
    const std::uint64_t first = j * CodedText::block_symbols;
    std::uint32_t context = code.before(first);
    std::uint64_t sum = 0;
    std::uint64_t ends_found = 0;
    for (std::uint64_t i = first; i < first + CodedText::block_symbols && i <= code.text.size;
         ++i) {
      const std::uint32_t symbol = code.symbol(i);
      sum += static_cast<std::uint64_t>(ContextCode::length(code.entry(context, symbol)));
      ends_found += symbol == 0 ? 1 : 0;
      context = symbol;
    }
    bits[j] = sum + ends_found * static_cast<std::uint64_t>(code.number_bits);
    if (ends != nullptr) ends[j] = ends_found;
  }
};

/// Item j writes the codes of block j of symbols.
struct WriteCodes {
  TextCode code;
  std::uint64_t* words;             ///< zeros
  const std::uint64_t* bits_up_to;  ///< of the blocks up to and with each one
  const std::uint64_t* ends_up_to;  ///< as CountCodeBits::ends
  std::uint64_t* begins;
  std::uint16_t* symbols;  ///< of whole blocks

  __host__ __device__ void operator()(std::uint64_t j) const {
    const std::uint64_t begin = CodedText::first_bit + (j == 0 ? 0 : bits_up_to[j - 1]);
    begins[j] = begin;
    std::uint64_t number = ends_up_to == nullptr || j == 0 ? 0 : ends_up_to[j - 1];
    std::uint64_t* out = words + begin / 64;
    int filled = static_cast<int>(begin % 64);
    std::uint64_t word = 0;
    std::uint32_t distance = 0;
    const auto append = [&](std::uint64_t value, int length) {
      distance += static_cast<std::uint32_t>(length);
      if (filled + length < 64) {
        word |= value << (64 - filled - length);
        filled += length;
        return;
      }
      const int over = filled + length - 64;
      add(out++, word | value >> over);
      word = over == 0 ? 0 : value << (64 - over);
      filled = over;
    };
    const std::uint64_t first = j * CodedText::block_symbols;
    std::uint32_t context = code.before(first);
    std::uint64_t four = 0;
    for (unsigned k = 0; k < CodedText::block_symbols; ++k) {
      const std::uint64_t i = first + k;
      if (i <= code.text.size) {
        const std::uint32_t symbol = code.symbol(i);
        const ContextCode::Entry own = code.entry(0, symbol);
        four |= static_cast<std::uint64_t>(
                    distance | static_cast<std::uint32_t>(ContextCode::length(own)) << 12)
                << (16 * (k % 4));
        const ContextCode::Entry entry = code.entry(context, symbol);
        append(ContextCode::bits(entry), ContextCode::length(entry));
        if (symbol == 0 && code.number_bits != 0) append(number++, code.number_bits);
        context = symbol;
      } else {
        four |= std::uint64_t{distance} << (16 * (k % 4));  // the end of the stream
      }
      if (k % 4 == 3) {
        reinterpret_cast<std::uint64_t*>(symbols)[(first + k) / 4] = four;
        four = 0;
      }
    }
    if (word != 0) add(out, word);
  }

 private:
  /// Sets bits of a word that neighbouring blocks may share.
  __host__ __device__ static void add(std::uint64_t* word, std::uint64_t bits) {
#ifdef __CUDA_ARCH__
    atomicOr(reinterpret_cast<unsigned long long*>(word), bits);
#else
    *word |= bits;
#endif
  }
};

/// The first 64 bits of the code of a suffix.
struct CodeOfSuffix {
  TextCode code;
  CodedText coded;

  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    if (coded.context_free) return coded.bits_from(coded.begin(i));
    const std::uint32_t symbol = code.symbol(i);
    const ContextCode::Entry own = code.entry(0, symbol);
    const int length = ContextCode::length(own);
    const std::uint64_t next = coded.begin(i + 1);
    const std::uint64_t rest =
        coded.bits_from(symbol == 0 ? next - static_cast<std::uint64_t>(code.number_bits) : next);
    return static_cast<std::uint64_t>(ContextCode::bits(own)) << (64 - length) | rest >> length;
  }
  /// The first `bits` - 1 bits above a bit that is 0.
  __host__ __device__ std::uint64_t key(std::uint64_t i, int bits) const {
    return (*this)(i) >> (65 - bits) << 1;
  }
};

}  // namespace sortie::suffix_array::cuda
