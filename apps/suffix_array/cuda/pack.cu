#include "sortie/apps/suffix_array/cuda/pack.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "sortie/apps/suffix_array/cuda/pack_word.cuh"
#include "sortie/apps/suffix_array/cuda/sizes.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// A bit for each of the 256 bytes.
constexpr int letter_words = 8;

/// Positions that a block packs: 8 for each thread, so that the k symbols beyond the tile, which
/// the next block reads again, are few beside it.
constexpr unsigned tile_positions = 8 * block_threads;

/// A word has at most 63 symbols (base 2, 63 being the greatest k with 2^k < 2^64).
constexpr unsigned most_symbols = 64;

/// PackingPlan::code as a kernel argument.
struct CodeTable {
  std::uint16_t code[256];
};

/// Codes as they come from the text: 0 at separators and from the end of the text on.
struct CodeReader {
  const std::uint8_t* symbols;
  const std::uint32_t* separator_bits;
  std::uint64_t size;

  /// True for a letter: within the text and no separator.
  __device__ bool is_letter(std::uint64_t position) const {
    return position < size && (separator_bits[position / 32] >> (position % 32) & 1U) == 0;
  }
};

// Thread i marks separator i. Separators may share a word of bits, hence the atomic.
__global__ void __launch_bounds__(block_threads)
    mark_separators_kernel(const std::uint64_t* separators, std::uint64_t count,
                           std::uint32_t* separator_bits) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (i >= count) return;
  const std::uint64_t position = separators[i];
  atomicOr(&separator_bits[position / 32], 1U << (position % 32));
}

// Every thread walks the text in strides of the grid and keeps the set of letters it met as 256
// bits in registers. The sets of a warp are joined by shuffles; its first lane adds them to the
// result.
__global__ void __launch_bounds__(block_threads)
    find_letters_kernel(CodeReader text, std::uint32_t* letters) {
  std::uint32_t met[letter_words] = {};
  const std::uint64_t stride = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t position = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
       position < text.size; position += stride) {
    if (!text.is_letter(position)) continue;
    const unsigned symbol = text.symbols[position];
    // A loop over constants keeps the array in registers; met[symbol / 32] would not.
#pragma unroll
    for (unsigned word = 0; word < letter_words; ++word) {
      met[word] |= symbol / 32 == word ? 1U << (symbol % 32) : 0U;
    }
  }
  constexpr unsigned all_lanes = 0xffffffffU;
#pragma unroll
  for (int word = 0; word < letter_words; ++word) {
    for (int distance = 16; distance > 0; distance /= 2) {
      met[word] |= __shfl_xor_sync(all_lanes, met[word], distance);
    }
    if (threadIdx.x % 32 == 0 && met[word] != 0) atomicOr(&letters[word], met[word]);
  }
}

// A block packs tile_positions neighbouring suffixes:
//
//   text    ... [ tile_positions symbols of this block | k more ] ...
//   codes       [ 0 ................................... 2047 | .. 2047 + k ]   shared, 16 bits each
//   thread t    packs positions t, t + 256, ..., t + 7 * 256 of the tile, so that a warp reads
//               neighbouring codes (no bank conflicts) and writes neighbouring words.
template <class Index>
__global__ void __launch_bounds__(block_threads)
    pack_prefixes_kernel(CodeReader text, CodeTable table, std::uint64_t base, int symbols,
                         std::uint64_t* words, Index* positions) {
  __shared__ std::uint16_t code_of[256];
  __shared__ std::uint16_t codes[tile_positions + most_symbols];

  static_assert(block_threads == 256, "thread t copies the code of byte t");
  code_of[threadIdx.x] = table.code[threadIdx.x];
  __syncthreads();

  const std::uint64_t tile = std::uint64_t{blockIdx.x} * tile_positions;
  const unsigned codes_needed = tile_positions + static_cast<unsigned>(symbols);
  for (unsigned i = threadIdx.x; i < codes_needed; i += block_threads) {
    const std::uint64_t position = tile + i;
    codes[i] = text.is_letter(position) ? code_of[text.symbols[position]] : std::uint16_t{0};
  }
  __syncthreads();

  for (unsigned i = threadIdx.x; i < tile_positions; i += block_threads) {
    const std::uint64_t position = tile + i;
    if (position >= text.size) return;
    words[position] = pack_word(codes + i, base, symbols);
    positions[position] = static_cast<Index>(position);
  }
}

}  // namespace

DeviceBuffer<std::uint32_t> mark_separators(const DeviceText& text, cudaStream_t stream) {
  DeviceBuffer<std::uint32_t> bits((text.symbols.size() + 31) / 32, stream);
  check_cuda(cudaMemsetAsync(bits.data(), 0, bits.bytes(), stream));
  const std::uint64_t count = text.separators.size();
  if (count != 0) {
    mark_separators_kernel<<<blocks_for(count), block_threads, 0, stream>>>(text.separators.data(),
                                                                            count, bits.data());
    check_cuda(cudaGetLastError());
  }
  return bits;
}

PackingPlan narrowed(PackingPlan plan, int bits) {
  while (plan.symbols > 1 && plan.word_bits > bits) {
    --plan.symbols;
    plan.word_bits = static_cast<int>(std::bit_width(plan.top_weight - 1));
    plan.top_weight /= plan.base;
  }
  return plan;
}

PackingPlan plan_first_sort(const DeviceText& text, const std::uint32_t* separator_bits,
                            cudaStream_t stream) {
  DeviceBuffer<std::uint32_t> letters(letter_words, stream);
  check_cuda(cudaMemsetAsync(letters.data(), 0, letters.bytes(), stream));
  // Some waves of blocks on the largest GPU: enough to read at full speed, few enough that adding
  // the sets of the warps costs nothing.
  constexpr unsigned most_blocks = 2048;
  const unsigned blocks = std::min(blocks_for(text.symbols.size()), most_blocks);
  find_letters_kernel<<<blocks, block_threads, 0, stream>>>(
      {text.symbols.data(), separator_bits, text.symbols.size()}, letters.data());
  check_cuda(cudaGetLastError());

  std::array<std::uint32_t, letter_words> met{};
  letters.copy_to(met);
  check_cuda(cudaStreamSynchronize(stream));
  std::array<bool, 256> occurs{};
  for (unsigned byte = 0; byte < 256; ++byte)
    occurs[byte] = (met[byte / 32] >> (byte % 32) & 1U) != 0;
  return narrowed(plan_packing(occurs), first_sort_bits);
}

template <Position Index>
void pack_prefixes(const DeviceText& text, const std::uint32_t* separator_bits,
                   const PackingPlan& plan, std::uint64_t* words, Index* positions,
                   cudaStream_t stream) {
  CodeTable table{};
  std::copy(plan.code.begin(), plan.code.end(), table.code);
  const std::uint64_t size = text.symbols.size();
  pack_prefixes_kernel<<<blocks_for(size, tile_positions), block_threads, 0, stream>>>(
      {text.symbols.data(), separator_bits, size}, table, plan.base, plan.symbols, words,
      positions);
  check_cuda(cudaGetLastError());
}

template void pack_prefixes<std::uint32_t>(const DeviceText&, const std::uint32_t*,
                                           const PackingPlan&, std::uint64_t*, std::uint32_t*,
                                           cudaStream_t);
template void pack_prefixes<std::uint64_t>(const DeviceText&, const std::uint32_t*,
                                           const PackingPlan&, std::uint64_t*, std::uint64_t*,
                                           cudaStream_t);

}  // namespace sortie::suffix_array::cuda
