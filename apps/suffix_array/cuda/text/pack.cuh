// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "apps/suffix_array/cuda/text/pack.hpp"
#include "apps/suffix_array/cuda/text/prefix_code.hpp"
#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "apps/suffix_array/divisibility.hpp"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

/// The kernels of pack.cu.
namespace sortie::suffix_array::cuda {

/// 16 consecutive symbols from a position that is a multiple of 16, in registers; read as one word
/// if the text's address is aligned.
class TextChunk {
 public:
  static constexpr int symbols = 16;

  __device__ TextChunk(const TextReader& text, std::uint64_t position) {
    const std::uint64_t left = position < text.size ? text.size - position : 0;
    const std::uint8_t* from = text.symbols + position;
    if (left >= symbols && reinterpret_cast<std::uintptr_t>(text.symbols) % symbols == 0) {
      const uint4 read = *reinterpret_cast<const uint4*>(from);
      words_[0] = read.x;
      words_[1] = read.y;
      words_[2] = read.z;
      words_[3] = read.w;
    } else {
#pragma unroll
      for (int i = 0; i < symbols; ++i) {
        const std::uint32_t byte = static_cast<std::uint64_t>(i) < left ? from[i] : 0U;
        words_[i / 4] = (i % 4 == 0 ? 0U : words_[i / 4]) | byte << (8 * (i % 4));
      }
    }
    letters_ = left >= symbols ? 0xffffU : (1U << left) - 1;
    if (text.separator_bits != nullptr && left != 0) {
      letters_ &= ~(text.separator_bits[position / 32] >> (position % 32));
    }
  }

  /// Byte i; 0 beyond the text. \p i must be a constant after unrolling, to stay in registers.
  __device__ unsigned byte(int i) const {
    return words_[i / 4] >> (8 * (i % 4)) & 0xffU;
  }
  __device__ bool is_letter(int i) const {
    return (letters_ >> i & 1U) != 0;
  }

 private:
  std::uint32_t words_[4];
  std::uint32_t letters_;  ///< a bit for each symbol, set for letters
};

/// Positions per thread, and per block, for which write_first_keys_kernel writes keys.
inline constexpr unsigned thread_positions = 16;
inline constexpr unsigned tile_positions = thread_positions * element_threads;

/// Result of find_letters_kernel: a bit for each byte that is a letter, and how often each letter
/// begins a run, in a sample of the text.
struct LettersFound {
  std::uint32_t occurs[8];
  std::uint32_t starts[256];
};

/// PrefixCode as a kernel argument.
///
/// The leaf of a suffix whose symbols are all common letters follows from three sums over its first
/// L symbols: `number`, the common letters below each as the digits of a number in base C (C common
/// letters), `common`, their plain sum, and `rare`, the rare letters below each. With
///   leaves[i + 1] = C^(L-1-i) + R * (C^(L-1-i) - 1) / (C - 1),
/// R being the number of rare letters,
///   leaf = number + R * (number - common) / (C - 1) + rare.
/// All three sums follow from those of the previous suffix by one symbol that leaves and one that
/// enters, in modular arithmetic of the word size. The division is exact, so it is a shift and a
/// multiplication by the inverse of an odd number.
template <class Key>
struct KeyTable {
  std::uint32_t letters[256];
  Key leaves[PrefixCode::most_symbols + 1];
  int symbols;
  bool rolling;       ///< at least two common letters
  Key base;           ///< C
  Key first_weight;   ///< C^(L - 1)
  Key rare;           ///< R
  int divisor_shift;  ///< C - 1 is an odd number shifted left by this
  Key odd_inverse;    ///< of that odd number
};

template <class Key>
[[nodiscard]] KeyTable<Key> key_table(const PrefixCode& code) {
  KeyTable<Key> table{};
  std::copy(code.letters.begin(), code.letters.end(), table.letters);
  for (int i = 0; i <= code.symbols; ++i) table.leaves[i] = static_cast<Key>(code.leaves[i]);
  table.symbols = code.symbols;
  table.rolling = code.common >= 2;
  table.base = static_cast<Key>(code.common);
  table.rare = static_cast<Key>(code.rare);
  if (table.rolling) {
    table.first_weight = 1;
    for (int i = 1; i < code.symbols; ++i) table.first_weight *= table.base;
    const auto divisor = static_cast<unsigned>(code.common - 1);
    table.divisor_shift = std::countr_zero(divisor);
    table.odd_inverse =
        inverse_of_odd(static_cast<Key>(static_cast<Key>(divisor) >> table.divisor_shift));
  }
  return table;
}

// Every thread visits the text in strides of the grid, 16 symbols at a time. The letters that it
// finds are bits of eight words of its own in shared memory, where it can index them; words of
// neighbouring threads are adjacent, so a warp has no bank conflicts. Every sampling_stride-th
// chunk is also searched for the begins of runs.
inline __global__ void __launch_bounds__(element_threads)
    find_letters_kernel(TextReader text, std::uint64_t chunks, std::uint64_t sampling_stride,
                        LettersFound* found) {
  __shared__ std::uint32_t met[8][element_threads];
  __shared__ std::uint32_t starts[256];
  static_assert(element_threads == 256, "thread t serves the starts of byte t");
  for (unsigned word = 0; word < 8; ++word) met[word][threadIdx.x] = 0;
  starts[threadIdx.x] = 0;
  __syncthreads();

  const std::uint64_t stride = std::uint64_t{gridDim.x} * element_threads;
  for (std::uint64_t chunk = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
       chunk < chunks; chunk += stride) {
    const TextChunk read(text, chunk * TextChunk::symbols);
    // Whole warps sample, so that other warps do not diverge.
    const bool sampled = chunk / 32 % sampling_stride == 0;
    unsigned previous = 256;
#pragma unroll
    for (int i = 0; i < TextChunk::symbols; ++i) {
      const unsigned symbol = read.byte(i);
      if (!read.is_letter(i)) continue;
      met[symbol / 32][threadIdx.x] |= 1U << (symbol % 32);
      if (sampled && symbol != previous) atomicAdd(&starts[symbol], 1U);
      previous = symbol;
    }
  }
  __syncthreads();

  // Warp w combines word w of all threads.
  const unsigned word = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t letters = 0;
  for (unsigned thread = lane; thread < element_threads; thread += 32) letters |= met[word][thread];
  letters = or_in_warp(letters);
  if (lane == 0 && letters != 0) atomicOr(&found->occurs[word], letters);
  if (starts[threadIdx.x] != 0) atomicAdd(&found->starts[threadIdx.x], starts[threadIdx.x]);
}

/// One padding word per thread_positions: the threads of a warp, which read that far apart, have no
/// bank conflicts.
__device__ constexpr unsigned padded(unsigned i) {
  return i + i / thread_positions;
}

/// Shared memory of write_first_keys_kernel.
template <class Key>
struct KeyTile {
  static constexpr unsigned most_letters = tile_positions + PrefixCode::most_symbols;

  std::uint32_t letter_of[256];
  std::uint32_t letters[most_letters + most_letters / thread_positions + 1];
  Key keys[tile_positions + tile_positions / thread_positions];
};

// A block writes the keys of tile_positions consecutive suffixes:
//
//   text     ... [ tile_positions symbols of this block | `symbols` more ] ...
//   letters      [ 0 .................................. 4095 | .. ]   shared, entries of the table
//   thread t     keys of positions 16 t .. 16 t + 15 of the tile, each from the previous one; they
//                go through shared memory, so that a warp writes consecutive keys.
template <class Key, class Index>
__global__ void __launch_bounds__(element_threads)
    write_first_keys_kernel(TextReader text, const __grid_constant__ KeyTable<Key> table, Key* keys,
                            Index* positions) {
  KeyTile<Key>& tile = *reinterpret_cast<KeyTile<Key>*>(dynamic_shared_memory());

  static_assert(element_threads == 256, "thread t copies the entry of byte t");
  tile.letter_of[threadIdx.x] = table.letters[threadIdx.x];
  __syncthreads();

  const std::uint64_t first = std::uint64_t{blockIdx.x} * tile_positions;
  const auto symbols = static_cast<unsigned>(table.symbols);
  constexpr unsigned chunk_symbols = TextChunk::symbols;
  const unsigned chunks = (tile_positions + symbols + chunk_symbols - 1) / chunk_symbols;
  for (unsigned chunk = threadIdx.x; chunk < chunks; chunk += element_threads) {
    const TextChunk read(text, first + chunk * chunk_symbols);
#pragma unroll
    for (unsigned i = 0; i < chunk_symbols; ++i) {
      tile.letters[padded(chunk * chunk_symbols + i)] =
          read.is_letter(static_cast<int>(i)) ? tile.letter_of[read.byte(static_cast<int>(i))]
                                              : PrefixCode::end_of_record;
    }
  }
  __syncthreads();

  const unsigned begin = threadIdx.x * thread_positions;
  const auto letter = [&](unsigned i) { return tile.letters[padded(begin + i)]; };
  Key number = 0;
  Key common = 0;
  std::uint32_t rare_and_stops = 0;  // rare letters below in the lower half, stops above
  const auto rare_of = [](std::uint32_t entry) {
    return (entry >> 16 & 0x1ffU) | (entry & PrefixCode::stop) >> 10;
  };
  for (unsigned i = 0; i + 1 < symbols; ++i) {
    const std::uint32_t entry = letter(i);
    number = number * table.base + (entry & 0x1ffU);
    common += entry & 0x1ffU;
    rare_and_stops += rare_of(entry);
  }
#pragma unroll 4
  for (unsigned i = 0; i < thread_positions; ++i) {
    const std::uint32_t comes = letter(i + symbols - 1);
    number = number * table.base + (comes & 0x1ffU);
    common += comes & 0x1ffU;
    rare_and_stops += rare_of(comes);
    Key key = 0;
    if (table.rolling && rare_and_stops >> 16 == 0) {
      const Key quotient = ((number - common) >> table.divisor_shift) * table.odd_inverse;
      key = 2 * (number + table.rare * quotient + rare_and_stops);
    } else {
      // By definition, up to the first rare letter or end.
      Key leaf = 0;
      std::uint32_t entry = 0;
      for (unsigned k = 0; k < symbols && (entry & PrefixCode::stop) == 0; ++k) {
        entry = letter(i + k);
        leaf += static_cast<Key>(entry & 0x1ffU) * table.leaves[k + 1] + (entry >> 16 & 0x1ffU);
      }
      key = static_cast<Key>(2 * leaf) | static_cast<Key>(entry >> 31);
    }
    tile.keys[padded(begin + i)] = key;
    const std::uint32_t leaves = letter(i);
    number -= static_cast<Key>(leaves & 0x1ffU) * table.first_weight;
    common -= leaves & 0x1ffU;
    rare_and_stops -= rare_of(leaves);
  }
  __syncthreads();

  for (unsigned at = threadIdx.x; at < tile_positions; at += element_threads) {
    const std::uint64_t position = first + at;
    if (position >= text.size) return;
    keys[position] = tile.keys[padded(at)];
    positions[position] = static_cast<Index>(position);
  }
}

/// Thread j packs 64 symbols, which fill as many whole words as a symbol has bits.
struct PackSymbols {
  static constexpr std::uint64_t symbols = SymbolStream::rare_block;

  TextReader text;
  const std::uint16_t* codes;  ///< by byte; bit 15 at rare letters
  int bits;
  std::uint64_t* words;
  std::uint32_t* rare;         ///< null when there are no rare letters
  std::uint32_t* rare_blocks;  ///< as in SymbolStream, zeros

  __device__ void mark_block(std::uint64_t block) const {
    atomicOr(&rare_blocks[block / 32], 1U << (block % 32));
  }

  __device__ void operator()(std::uint64_t j) const {
    std::uint64_t* out = words + j * static_cast<std::uint64_t>(bits);
    std::uint64_t word = 0;
    int filled = 0;
    std::uint64_t rare_bits = 0;
    for (unsigned c = 0; c < symbols / TextChunk::symbols; ++c) {
      const TextChunk chunk(text, j * symbols + c * TextChunk::symbols);
#pragma unroll
      for (int i = 0; i < TextChunk::symbols; ++i) {
        const unsigned entry = chunk.is_letter(i) ? codes[chunk.byte(i)] : 0U;
        const std::uint64_t code = entry & 0x7fffU;
        rare_bits = rare_bits >> 1 | std::uint64_t{entry >> 15} << 63;
        if (filled + bits <= 64) {
          word |= code << (64 - filled - bits);
          filled += bits;
        } else {
          const int over = filled + bits - 64;
          *out++ = word | code >> over;
          word = code << (64 - over);
          filled = over;
        }
      }
    }
    *out = word;
    if (rare != nullptr) {
      rare[2 * j] = static_cast<std::uint32_t>(rare_bits);
      rare[2 * j + 1] = static_cast<std::uint32_t>(rare_bits >> 32);
      if (rare_bits != 0) {
        mark_block(j);
        if (j > 0) mark_block(j - 1);
      }
    }
  }
};

}  // namespace sortie::suffix_array::cuda
