// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/text/pack.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {

namespace {

constexpr std::uint64_t extra_words = 2;  // a window may begin at the end of the text

/// \param sampling_stride  one of so many groups of chunks is searched for the begins of runs
LettersFound letters_of(const TextReader& text, std::uint64_t sampling_stride,
                        cudaStream_t stream) {
  DeviceBuffer<LettersFound> found(1, stream);
  check_cuda(cudaMemsetAsync(found.data(), 0, found.bytes(), stream));
  const std::uint64_t chunks = (text.size + TextChunk::symbols - 1) / TextChunk::symbols;
  // A few times the blocks that are resident on the largest GPU: enough to read at full speed, few
  // enough that combining the results of the blocks costs nothing.
  constexpr unsigned most_blocks = 2048;
  if (chunks != 0) {
    find_letters_kernel<<<std::min(blocks_for(chunks), most_blocks), element_threads, 0, stream>>>(
        text, chunks, sampling_stride, found.data());
    check_cuda(cudaGetLastError());
  }
  LettersFound letters{};
  found.copy_to({&letters, 1});
  check_cuda(cudaStreamSynchronize(stream));
  return letters;
}

}  // namespace

MarkedText mark_separators(const DeviceText& text, cudaStream_t stream, std::uint64_t first) {
  MarkedText marked{{text.symbols.data(), nullptr, text.symbols.size()}, {}};
  if (text.separators.empty()) return marked;
  marked.bits = {(marked.size + 31) / 32, stream};
  check_cuda(cudaMemsetAsync(marked.bits.data(), 0, marked.bits.bytes(), stream));
  marked.separator_bits = marked.bits.data();
  // Atomic, because separators may share a word of bits.
  const auto mark = [separators = text.separators.data(), first,
                     bits = marked.bits.data()] __device__(std::uint64_t i) {
    const std::uint64_t position = separators[i] - first;
    atomicOr(&bits[position / 32], 1U << (position % 32));
  };
  for_each_item<std::uint64_t>(text.separators.size(), mark, stream);
  return marked;
}

PrefixCode plan_first_sort(const TextReader& text, int bits, cudaStream_t stream) {
  const std::uint64_t chunks = (text.size + TextChunk::symbols - 1) / TextChunk::symbols;
  // A sample of 4 million symbols gives the shares of letters accurately enough, at negligible cost
  // compared with reading the text.
  constexpr std::uint64_t sampled_chunks = 1 << 18;
  const std::uint64_t sampling_stride = std::max<std::uint64_t>(chunks / sampled_chunks, 1);
  const LettersFound letters = letters_of(text, sampling_stride, stream);
  std::array<bool, 256> occurs{};
  std::array<std::uint64_t, 256> starts{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    occurs[byte] = (letters.occurs[byte / 32] >> (byte % 32) & 1U) != 0;
    starts[byte] = letters.starts[byte];
  }
  return plan_prefix_code(occurs, starts, bits);
}

LetterSet find_letters(const TextReader& text, cudaStream_t stream) {
  const LettersFound letters = letters_of(text, std::numeric_limits<std::uint64_t>::max(), stream);
  LetterSet set{};
  for (std::size_t byte = 0; byte < set.size(); ++byte)
    set[byte] = letters.occurs[byte / 32] >> (byte % 32) & 1U;
  return set;
}

template <class Key, Position Index>
void write_first_keys(const TextReader& text, const PrefixCode& code, Key* keys, Index* positions,
                      cudaStream_t stream) {
  const KeyTable<Key> table = key_table<Key>(code);
  const auto kernel = write_first_keys_kernel<Key, Index>;
  constexpr std::size_t shared_bytes = sizeof(KeyTile<Key>);
  check_cuda(allow_shared_memory(kernel, shared_bytes));
  kernel<<<blocks_for(text.size, tile_positions), element_threads, shared_bytes, stream>>>(
      text, table, keys, positions);
  check_cuda(cudaGetLastError());
}

int symbol_bits(const PrefixCode& code) {
  return std::max(static_cast<int>(std::bit_width(static_cast<unsigned>(code.sigma))), 1);
}

PackedText packed_memory(std::uint64_t symbols, const PrefixCode& code, cudaStream_t stream) {
  const int bits = symbol_bits(code);
  const std::uint64_t blocks = symbols / packed_block + 1;
  PackedText packed;
  packed.words = {blocks * static_cast<std::uint64_t>(bits) + extra_words, stream};
  check_cuda(cudaMemsetAsync(packed.words.data() + packed.words.size() - extra_words, 0,
                             extra_words * sizeof(std::uint64_t), stream));
  packed.stream = {packed.words.data(), nullptr, nullptr, bits, code.symbols, 0};
  for (int i = 0; i < packed.stream.window_symbols(64); ++i) {
    packed.stream.lowest_bits |= std::uint64_t{1} << (i * bits);
  }
  return packed;
}

PackedText pack_text(const TextReader& text, const PrefixCode& code, cudaStream_t stream) {
  PackedText packed = packed_memory(text.size, code, stream);
  const std::uint64_t threads = text.size / packed_block + 1;
  if (code.rare > 1) {
    packed.rare = {2 * threads + extra_words, stream};
    check_cuda(cudaMemsetAsync(packed.rare.data() + 2 * threads, 0,
                               extra_words * sizeof(std::uint32_t), stream));
    packed.rare_blocks = {(threads + 31) / 32, stream};
    check_cuda(cudaMemsetAsync(packed.rare_blocks.data(), 0, packed.rare_blocks.bytes(), stream));
    packed.stream.rare = packed.rare.data();
    packed.stream.rare_blocks = packed.rare_blocks.data();
  }
  pack_blocks(text, code, 0, threads, packed, stream);
  return packed;
}

void pack_blocks(const TextReader& part, const PrefixCode& code, std::uint64_t first_block,
                 std::uint64_t blocks, PackedText& packed, cudaStream_t stream) {
  std::array<std::uint16_t, 256> entries{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const bool is_rare = (code.letters[byte] & PrefixCode::stop) != 0;
    entries[byte] = static_cast<std::uint16_t>(code.codes[byte] | (is_rare ? 0x8000U : 0U));
  }
  const DeviceBuffer<std::uint16_t> codes(entries, stream);
  const int bits = packed.stream.bits;
  for_each_item<std::uint64_t>(
      blocks,
      PackSymbols{part, codes.data(), bits,
                  packed.words.data() + first_block * static_cast<std::uint64_t>(bits),
                  packed.rare.data(), packed.rare_blocks.data()},
      stream);
}

SORTIE_FOR_KEYS_AND_POSITIONS(write_first_keys);

}  // namespace sortie::suffix_array::cuda
