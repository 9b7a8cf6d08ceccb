#include "sortie/apps/suffix_array/cuda/pack.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "sortie/apps/suffix_array/cuda/for_each_item.cuh"
#include "sortie/apps/suffix_array/cuda/sizes.hpp"
#include "sortie/apps/suffix_array/cuda/text_chunk.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// Positions that a block writes keys of: 8 for each thread, so that the symbols beyond the tile,
/// which the next block reads again, are few beside it.
constexpr unsigned tile_positions = 8 * block_threads;

/// What find_letters_kernel finds: a bit for each byte that is a letter, and how often each begins
/// a run, in a sample of the text.
struct LettersFound {
  std::uint32_t occurs[8];
  std::uint32_t starts[256];
};

/// PrefixCode as a kernel argument.
template <class Key>
struct KeyTable {
  std::uint32_t letters[256];
  Key leaves[PrefixCode::most_symbols + 1];
  int symbols;
};

struct MarkSeparator {
  const std::uint64_t* separators;
  std::uint32_t* separator_bits;

  // Separators may share a word of bits, hence the atomic.
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t position = separators[i];
    atomicOr(&separator_bits[position / 32], 1U << (position % 32));
  }
};

// Every thread walks the text in strides of the grid, 16 symbols at a time. The letters that a
// block meets are flags in its shared memory, which all threads set without care, since all write
// the same. Every sampling_stride-th chunk is also searched for the beginnings of runs.
__global__ void __launch_bounds__(block_threads)
    find_letters_kernel(TextReader text, std::uint64_t chunks, std::uint64_t sampling_stride,
                        LettersFound* found) {
  __shared__ std::uint8_t met[256];
  __shared__ std::uint32_t starts[256];
  static_assert(block_threads == 256, "thread t serves byte t");
  met[threadIdx.x] = 0;
  starts[threadIdx.x] = 0;
  __syncthreads();

  const std::uint64_t stride = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t chunk = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
       chunk < chunks; chunk += stride) {
    const TextChunk read(text, chunk * TextChunk::symbols);
    // Whole warps sample, so that the others have no branch to wait for.
    const bool sampled = chunk / 32 % sampling_stride == 0;
    unsigned previous = 256;
#pragma unroll
    for (int i = 0; i < TextChunk::symbols; ++i) {
      const unsigned symbol = read.byte(i);
      if (!read.is_letter(i)) continue;
      met[symbol] = 1;
      if (sampled && symbol != previous) atomicAdd(&starts[symbol], 1U);
      previous = symbol;
    }
  }
  __syncthreads();
  if (met[threadIdx.x] != 0) {
    atomicOr(&found->occurs[threadIdx.x / 32], 1U << (threadIdx.x % 32));
    if (starts[threadIdx.x] != 0) atomicAdd(&found->starts[threadIdx.x], starts[threadIdx.x]);
  }
}

// A block writes the keys of tile_positions neighbouring suffixes:
//
//   text     ... [ tile_positions symbols of this block | `symbols` more ] ...
//   letters      [ 0 .................................. 2047 | .. ]   shared, entries of the table
//   thread t     positions t, t + 256, ..., t + 7 * 256 of the tile, so that a warp reads
//                neighbouring entries (no bank conflicts) and writes neighbouring keys.
template <class Key, class Index>
__global__ void __launch_bounds__(block_threads)
    write_first_keys_kernel(TextReader text, const __grid_constant__ KeyTable<Key> table, Key* keys,
                            Index* positions) {
  __shared__ std::uint32_t letter_of[256];
  __shared__ std::uint32_t letters[tile_positions + PrefixCode::most_symbols];

  static_assert(block_threads == 256, "thread t copies the entry of byte t");
  letter_of[threadIdx.x] = table.letters[threadIdx.x];
  __syncthreads();

  const std::uint64_t tile = std::uint64_t{blockIdx.x} * tile_positions;
  const unsigned needed = tile_positions + static_cast<unsigned>(table.symbols);
  for (unsigned i = threadIdx.x; i < needed; i += block_threads) {
    const std::uint64_t position = tile + i;
    letters[i] =
        text.is_letter(position) ? letter_of[text.symbols[position]] : PrefixCode::end_of_record;
  }
  __syncthreads();

  for (unsigned at = threadIdx.x; at < tile_positions; at += block_threads) {
    const std::uint64_t position = tile + at;
    if (position >= text.size) return;
    Key leaf = 0;
    std::uint32_t letter = 0;
    for (int i = 0; i < table.symbols && (letter & PrefixCode::stop) == 0; ++i) {
      letter = letters[at + static_cast<unsigned>(i)];
      leaf += static_cast<Key>(letter & 0x1ffU) * table.leaves[i + 1] + (letter >> 16 & 0x1ffU);
    }
    keys[position] = static_cast<Key>(2 * leaf) | static_cast<Key>(letter >> 31);
    positions[position] = static_cast<Index>(position);
  }
}

/// Thread j packs 64 symbols, which make as many whole words as a symbol has bits.
struct PackSymbols {
  static constexpr std::uint64_t symbols = 64;

  TextReader text;
  const std::uint16_t* codes;  ///< by byte; bit 15 at rare letters
  int bits;
  std::uint64_t* words;
  std::uint32_t* rare;  ///< null when there are no rare letters

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
    }
  }
};

TextReader reader(const DeviceText& text, const std::uint32_t* separator_bits) {
  return {text.symbols.data(), separator_bits, text.symbols.size()};
}

}  // namespace

DeviceBuffer<std::uint32_t> mark_separators(const DeviceText& text, cudaStream_t stream) {
  if (text.separators.empty()) return {};
  DeviceBuffer<std::uint32_t> bits((text.symbols.size() + 31) / 32, stream);
  check_cuda(cudaMemsetAsync(bits.data(), 0, bits.bytes(), stream));
  for_each_item<std::uint64_t>(text.separators.size(),
                               MarkSeparator{text.separators.data(), bits.data()}, stream);
  return bits;
}

PrefixCode plan_first_sort(const DeviceText& text, const std::uint32_t* separator_bits, int bits,
                           cudaStream_t stream) {
  DeviceBuffer<LettersFound> found(1, stream);
  check_cuda(cudaMemsetAsync(found.data(), 0, found.bytes(), stream));
  const std::uint64_t chunks = (text.symbols.size() + TextChunk::symbols - 1) / TextChunk::symbols;
  // A sample of 4 million symbols tells shares of letters well enough, and costs nothing beside
  // reading the text.
  constexpr std::uint64_t sampled_chunks = 1 << 18;
  const std::uint64_t sampling_stride = std::max<std::uint64_t>(chunks / sampled_chunks, 1);
  // Some waves of blocks on the largest GPU: enough to read at full speed, few enough that joining
  // what the blocks found costs nothing.
  constexpr unsigned most_blocks = 2048;
  find_letters_kernel<<<std::min(blocks_for(chunks), most_blocks), block_threads, 0, stream>>>(
      reader(text, separator_bits), chunks, sampling_stride, found.data());
  check_cuda(cudaGetLastError());

  LettersFound letters{};
  found.copy_to({&letters, 1});
  check_cuda(cudaStreamSynchronize(stream));
  std::array<bool, 256> occurs{};
  std::array<std::uint64_t, 256> starts{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    occurs[byte] = (letters.occurs[byte / 32] >> (byte % 32) & 1U) != 0;
    starts[byte] = letters.starts[byte];
  }
  return plan_prefix_code(occurs, starts, bits);
}

template <class Key, Position Index>
void write_first_keys(const DeviceText& text, const std::uint32_t* separator_bits,
                      const PrefixCode& code, Key* keys, Index* positions, cudaStream_t stream) {
  KeyTable<Key> table{};
  std::copy(code.letters.begin(), code.letters.end(), table.letters);
  for (int i = 0; i <= code.symbols; ++i) table.leaves[i] = static_cast<Key>(code.leaves[i]);
  table.symbols = code.symbols;
  write_first_keys_kernel<<<blocks_for(text.symbols.size(), tile_positions), block_threads, 0,
                            stream>>>(reader(text, separator_bits), table, keys, positions);
  check_cuda(cudaGetLastError());
}

PackedText pack_text(const DeviceText& text, const std::uint32_t* separator_bits,
                     const PrefixCode& code, cudaStream_t stream) {
  const int bits = std::max(static_cast<int>(std::bit_width(static_cast<unsigned>(code.sigma))), 1);
  const std::uint64_t threads = text.symbols.size() / PackSymbols::symbols + 1;
  constexpr std::uint64_t words_behind = 2;  // a window may begin at the end of the text
  PackedText packed;
  packed.words = {threads * static_cast<std::uint64_t>(bits) + words_behind, stream};
  check_cuda(cudaMemsetAsync(packed.words.data() + packed.words.size() - words_behind, 0,
                             words_behind * sizeof(std::uint64_t), stream));
  if (code.rare > 1) {
    packed.rare = {2 * threads + words_behind, stream};
    check_cuda(cudaMemsetAsync(packed.rare.data() + 2 * threads, 0,
                               words_behind * sizeof(std::uint32_t), stream));
  }

  std::array<std::uint16_t, 256> entries{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const bool is_rare = (code.letters[byte] & PrefixCode::stop) != 0;
    entries[byte] = static_cast<std::uint16_t>(code.codes[byte] | (is_rare ? 0x8000U : 0U));
  }
  const DeviceBuffer<std::uint16_t> codes(entries, stream);
  for_each_item<std::uint64_t>(threads,
                               PackSymbols{reader(text, separator_bits), codes.data(), bits,
                                           packed.words.data(), packed.rare.data()},
                               stream);

  packed.stream = {packed.words.data(), packed.rare.data(), bits, code.symbols, 0};
  for (int i = 0; i < packed.stream.window_symbols(64); ++i) {
    packed.stream.lowest_bits |= std::uint64_t{1} << (i * bits);
  }
  return packed;
}

template void write_first_keys(const DeviceText&, const std::uint32_t*, const PrefixCode&,
                               std::uint32_t*, std::uint32_t*, cudaStream_t);
template void write_first_keys(const DeviceText&, const std::uint32_t*, const PrefixCode&,
                               std::uint64_t*, std::uint32_t*, cudaStream_t);
template void write_first_keys(const DeviceText&, const std::uint32_t*, const PrefixCode&,
                               std::uint32_t*, std::uint64_t*, cudaStream_t);
template void write_first_keys(const DeviceText&, const std::uint32_t*, const PrefixCode&,
                               std::uint64_t*, std::uint64_t*, cudaStream_t);

}  // namespace sortie::suffix_array::cuda
