// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/samples/minimizers.hpp"

#include <utility>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/samples/chunks.cuh"
#include "apps/suffix_array/cuda/text/coded_text.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// Most minimizers, in percent of the suffixes.
constexpr std::uint64_t most_percent = 45;
/// Bits from which minimizers are chosen, and by which all suffixes are sorted: six passes.
constexpr int choice_bits = 48;

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
  found.choice = {packed, coded.view(), choice_bits};
  found.set = {size, stream};
  found.distances = {size, stream};
  const auto choose = [text, choice = found.choice, distances = found.distances.data(),
                       set = found.set.set()] __device__(Index i) {
    const std::uint32_t distance = text.is_letter(i) ? choice.distance(i) : 0U;
    distances[i] = static_cast<std::uint8_t>(distance);
    set.insert(i + distance);
  };
  for_each_item<Index>(size, choose, stream);
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
  for_each_element(minimizers.set.set(), text.size, write_key, stream);
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
                                       cudaStream_t stream) {
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
  DeviceBuffer<std::uint64_t> keys(size, stream);
  DeviceBuffer<Index> positions(size, stream);
  list_chunks_kernel<<<blocks_for(count), element_threads, 0, stream>>>(
      sorted.data(), ends.data(), count, codes.data(), keys.data(), positions.data());
  check_cuda(cudaGetLastError());
  codes.reset();
  firsts.reset();
  ends.reset();
  sorted.reset();
  sort_by_key(keys, positions, minimizers.choice.bits, stream);
  return positions;
}

SORTIE_FOR_BOTH_POSITIONS(choose_minimizers);
SORTIE_FOR_BOTH_POSITIONS(write_minimizer_keys);
SORTIE_FOR_BOTH_POSITIONS(sort_by_minimizers);

}  // namespace sortie::suffix_array::cuda
