// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/samples/minimizers.hpp"

#include <utility>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/samples/chunks.cuh"
#include "apps/suffix_array/cuda/text/coded_text.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// Most minimizers, in percent of the suffixes.
constexpr std::uint64_t most_percent = 45;
/// Bits from which minimizers are chosen, and by which all suffixes are sorted: six passes, or seven
/// for symbols of longer codes, of which too few would be in 48 bits.
constexpr int choice_bits = 48;
constexpr int most_choice_bits = 56;
/// Fewest symbols that the bits should have, on average.
constexpr std::uint64_t least_symbols = 5;

int choice_bits_of(const CodedTextBuffer& coded, std::uint64_t symbols) {
  return coded.words.size() * 64 * least_symbols > symbols * choice_bits ? most_choice_bits
                                                                         : choice_bits;
}

/// The suffixes of all minimizers, in the order of these, and the codes of the suffixes in text order.
template <class Index>
struct Chunks {
  DeviceBuffer<Index> firsts;  ///< first suffix of each chunk
  DeviceBuffer<Index> ends;    ///< of each chunk, in the list of all suffixes
  DeviceBuffer<std::uint64_t> codes;

  /// Calls write(place, suffix) on the device for all suffixes, and frees the arrays.
  template <class Write>
  void list(const Write& write, cudaStream_t stream) {
    list_chunks_kernel<<<blocks_for(firsts.size()), element_threads, 0, stream>>>(
        firsts.data(), ends.data(), firsts.size(), write);
    check_cuda(cudaGetLastError());
    codes.reset();
    firsts.reset();
    ends.reset();
  }
};

/// Sorts by codes in two parts, stably: the lower bits with the rest as their values, then the higher
/// 32 bits, each in one word with its position. Of 48 bits, that moves 10 bytes an item in two passes
/// and 8 in four, where six passes over codes and positions move 12.
/// \tparam Low   type of the lower bits
/// \param bits  of a code, more than 32
template <class Low>
DeviceBuffer<std::uint32_t> sort_split_codes(Chunks<std::uint32_t> chunks, int bits,
                                             unsigned symbol_bytes, cudaStream_t stream) {
  const std::uint64_t size = chunks.codes.size();
  const int low_bits = bits - 32;
  DeviceBuffer<std::uint64_t> words(size, stream);
  DeviceBuffer<std::uint64_t> other_words;
  RadixBuffers buffers;
  const auto sort = [&](int key_bytes, int value_bytes, int begin, int end) {
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return device_radix_sort(scratch, bytes, buffers, size, key_bytes, value_bytes, begin, end,
                               stream);
    });
  };
  {
    DeviceBuffer<Low> low(size, stream);
    const auto write = [codes = chunks.codes.data(), low_bits, low = low.data(),
                        words = words.data()] __device__(std::uint64_t at, std::uint32_t position) {
      const std::uint64_t code = codes[position];
      low[at] = static_cast<Low>(code & ((1U << low_bits) - 1));
      words[at] = code >> low_bits << 32 | position;
    };
    chunks.list(write, stream);
    DeviceBuffer<Low> other_low(size, stream);
    other_words = {size, stream};
    buffers = {low.data(), other_low.data(), words.data(), other_words.data()};
    sort(sizeof(Low), sizeof(std::uint64_t), 0, low_bits);
    buffers = {buffers.values, buffers.other_values, nullptr, nullptr};
  }
  sort(sizeof(std::uint64_t), 0, 32, 64);
  DeviceBuffer<std::uint32_t> positions(size, stream);
  const auto write_position = [words = static_cast<const std::uint64_t*>(buffers.keys),
                               symbol_bytes,
                               positions = positions.data()] __device__(std::uint32_t i) {
    positions[i] = static_cast<std::uint32_t>(words[i]) * symbol_bytes;
  };
  for_each_item<std::uint32_t>(size, write_position, stream);
  return positions;
}

}  // namespace

template <Position Index>
Minimizers<Index> choose_minimizers(const TextReader& text, const SymbolStream& packed,
                                    const CodedTextBuffer& coded, std::uint64_t budget,
                                    std::uint64_t held, cudaStream_t stream) {
  const std::uint64_t size = text.size;
  Minimizers<Index> found;
  const std::uint64_t own_bytes = size + size / 16 * sizeof(Index);
  const std::uint64_t sort_bytes = size * 2 * (sizeof(std::uint64_t) + sizeof(Index));
  if (held + own_bytes + sort_bytes > budget) return found;
  found.choice = {packed, coded.view(), choice_bits_of(coded, size)};
  found.set = {size, stream};
  found.distances = {size, stream};
  constexpr unsigned together = MinimizerChoice::together;
  const auto choose = [text, choice = found.choice, distances = found.distances.data(),
                       set = found.set.set()] __device__(std::uint64_t j) {
    const std::uint64_t first = j * together;
    std::uint32_t found[together];
    if (first + together <= text.size && choice.distances(first, found)) {
      std::uint32_t bytes = 0;
#pragma unroll
      for (unsigned k = 0; k < together; ++k) {
        bytes |= found[k] << (8 * k);
        if (k == 0 || found[k] + 1 != found[k - 1]) set.insert(first + k + found[k]);
      }
      reinterpret_cast<std::uint32_t*>(distances)[j] = bytes;
      return;
    }
    for (std::uint64_t i = first; i < first + together && i < text.size; ++i) {
      const std::uint32_t distance = text.is_letter(i) ? choice.distance(i) : 0U;
      distances[i] = static_cast<std::uint8_t>(distance);
      set.insert(i + distance);
    }
  };
  for_each_item<std::uint64_t>((size + together - 1) / together, choose, stream);
  found.count = found.set.number_and_count(stream);
  if (found.count > size / 100 * most_percent) return {};
  return found;
}

template <Position Index>
void write_minimizer_keys(const TextReader& text, const CodedTextBuffer& coded,
                          Minimizers<Index>& minimizers, int bits, std::uint64_t* keys,
                          Index* positions, cudaStream_t stream) {
  const auto write_key = [code = CodeOfSuffix{code_of(text, coded), coded.view()}, bits, keys,
                          positions] __device__(Index i, Index number) {
    keys[number] = code.key(i, bits);
    positions[number] = i;
  };
  for_each_element_of_many(minimizers.set.set(), text.size, write_key, stream);
}

// The suffixes of a minimizer are neighbours, a chunk:
//
//   suffixes    0 1 2 | 3 4 5 6 | 7 8 | ...      minimizers 2, 5, 8, ... with the ranks 7, 0, 3
//   distances   2 1 0 | 2 1 0 . | 1 0 | ...
//   keys        of 3 4 5 6, ..., of 7 8, ..., of 0 1 2, ...     chunks in the order of their ranks
//
// A stable sort of these keys leaves suffixes of equal bits in the order of their minimizers.
template <Position Index>
DeviceBuffer<Index> sort_by_minimizers(const TextReader& text, const CodedTextBuffer& coded,
                                       Minimizers<Index>& minimizers, DeviceBuffer<Index> sorted,
                                       unsigned symbol_bytes, cudaStream_t stream) {
  const std::uint64_t count = sorted.size();
  const std::uint64_t size = text.size;
  DeviceBuffer<std::uint64_t> codes(size, stream);
  DeviceBuffer<Index> firsts(count + 1, stream);
  const auto write_code = [code = CodeOfSuffix{code_of(text, coded), coded.view()},
                           unused = 64 - minimizers.choice.bits, set = minimizers.set.set(),
                           distances = minimizers.distances.data(), firsts = firsts.data(), size,
                           count, codes = codes.data()] __device__(Index i) {
    codes[i] = code(i) >> unused;
    const unsigned distance = distances[i];
    if (i == 0 || distances[i - 1] != distance + 1) firsts[set.rank(i + distance)] = i;
    if (i + 1 == size) firsts[count] = static_cast<Index>(size);
  };
  for_each_item<Index>(size, write_code, stream);
  // First suffix and end of each chunk, in the order of the ranks.
  DeviceBuffer<Index> ends(count, stream);
  const auto find_chunk = [set = minimizers.set.set(), firsts = firsts.data(),
                           sorted = sorted.data(), ends = ends.data()] __device__(Index rank) {
    const Index number = set.rank(sorted[rank]);
    const Index first = firsts[number];
    sorted[rank] = first;
    ends[rank] = firsts[number + 1] - first;
  };
  for_each_item<Index>(count, find_chunk, stream);
  inclusive_sum(ends.data(), count, stream);
  const int bits = minimizers.choice.bits;
  Chunks<Index> chunks{std::move(sorted), std::move(ends), std::move(codes)};
  firsts.reset();
  if constexpr (sizeof(Index) == sizeof(std::uint32_t)) {
    const auto sort =
        bits <= 48 ? sort_split_codes<std::uint16_t> : sort_split_codes<std::uint32_t>;
    return sort(std::move(chunks), bits, symbol_bytes, stream);
  }
  DeviceBuffer<std::uint64_t> keys(size, stream);
  DeviceBuffer<Index> positions(size, stream);
  const auto write = [codes = chunks.codes.data(), symbol_bytes, keys = keys.data(),
                      positions = positions.data()] __device__(std::uint64_t at, Index position) {
    keys[at] = codes[position];
    positions[at] = position * symbol_bytes;
  };
  chunks.list(write, stream);
  sort_by_key(keys, positions, bits, stream);
  return positions;
}

SORTIE_FOR_BOTH_POSITIONS(choose_minimizers);
SORTIE_FOR_BOTH_POSITIONS(write_minimizer_keys);
SORTIE_FOR_BOTH_POSITIONS(sort_by_minimizers);

}  // namespace sortie::suffix_array::cuda
