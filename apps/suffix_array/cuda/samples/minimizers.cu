// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/samples/minimizers.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/text/coded_text.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// Most minimizers, in percent of the suffixes.
constexpr std::uint64_t most_percent = 45;
/// Fewest and most bits of codes in the keys of the last sort. The most: the bits of the suffix behind
/// a minimizer are among the 63 that the first sort of the minimizers compares, a code longer.
constexpr int least_bits = 32;
constexpr int most_bits = 63 - ContextCode::longest;

}  // namespace

template <Position Index>
Minimizers<Index> choose_minimizers(const TextReader& text, const SymbolStream& packed,
                                    const CodedTextBuffer& coded, std::uint64_t budget,
                                    std::uint64_t held, cudaStream_t stream) {
  const std::uint64_t size = text.size;
  const std::uint64_t most = size * most_percent / 100;
  Minimizers<Index> found;
  if (std::getenv("SORTIE_NO_MINIMIZERS") != nullptr) return found;  // for one measurement
  const std::uint64_t sort_bytes =
      size * 2 * (sizeof(std::uint64_t) + sizeof(Index)) + most * sizeof(Index);
  if (held + size + size / 16 * sizeof(Index) + sort_bytes > budget) return found;
  found.distances = {size, stream};
  // Most often, a quarter of the suffixes. More bits for their ranks leave fewer for the codes, which
  // makes few more minimizers.
  const auto rank_bits = static_cast<int>(std::bit_width(size / 4 + size / 64));
  for (int bits = std::min(64 - rank_bits, most_bits); bits >= least_bits; --bits) {
    if (std::getenv("SORTIE_CHUNKS") != nullptr) bits = std::atoi(std::getenv("SORTIE_CHUNKS"));
    found.choice = {packed, coded.view(), bits};
    found.set = {size, stream};
    const auto choose = [text, choice = found.choice, distances = found.distances.data(),
                         set = found.set.set()] __device__(Index i) {
      const std::uint32_t distance = text.is_letter(i) ? choice.distance(i) : 0U;
      distances[i] = static_cast<std::uint8_t>(distance);
      set.insert(i + distance);
    };
    for_each_item<Index>(size, choose, stream);
    found.count = found.set.number_and_count(stream);
    if (found.count > most) break;
    if (static_cast<int>(std::bit_width(found.count)) <= 64 - bits ||
        std::getenv("SORTIE_CHUNKS") != nullptr)
      return found;
  }
  return {};
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

/// The suffixes of one minimizer are neighbours. They are written minimizer after minimizer, in the
/// order of these, and sorted by the bits of their codes, stably.
template <Position Index>
DeviceBuffer<Index> sort_chunks(const TextReader& text, const CodedTextBuffer& coded,
                                Minimizers<Index>& minimizers, DeviceBuffer<Index> sorted,
                                cudaStream_t stream) {
  const std::uint64_t count = sorted.size();
  const std::uint64_t size = text.size;
  DeviceBuffer<Index> firsts(count + 1, stream);
  DeviceBuffer<std::uint64_t> codes(size, stream);
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
  DeviceBuffer<Index> ends(count, stream);
  const auto find_chunk = [set = minimizers.set.set(), firsts = firsts.data(),
                           sorted = sorted.data(), ends = ends.data()] __device__(Index slot) {
    const Index number = set.rank(sorted[slot]);
    const Index first = firsts[number];
    sorted[slot] = first;
    ends[slot] = firsts[number + 1] - first;
  };
  for_each_item<Index>(count, find_chunk, stream);
  inclusive_sum(ends.data(), count, stream);
  DeviceBuffer<std::uint64_t> keys(size, stream);
  DeviceBuffer<Index> positions(size, stream);
  const auto write_chunk = [sorted = sorted.data(), ends = ends.data(), codes = codes.data(),
                            keys = keys.data(),
                            positions = positions.data()] __device__(Index slot) {
    Index at = slot == 0 ? Index{0} : ends[slot - 1];
    const Index end = ends[slot];
    for (Index i = sorted[slot]; at < end; ++i, ++at) {
      keys[at] = codes[i];
      positions[at] = i;
    }
  };
  for_each_item<Index>(count, write_chunk, stream);
  codes.reset();
  ends.reset();
  firsts.reset();
  sorted.reset();
  sort_by_key(keys, positions, minimizers.choice.bits, stream);
  return positions;
}

template <Position Index>
DeviceBuffer<Index> sort_by_minimizers(const TextReader& text, const CodedTextBuffer& coded,
                                       Minimizers<Index>& minimizers, DeviceBuffer<Index> sorted,
                                       cudaStream_t stream) {
  if (std::getenv("SORTIE_CHUNKS") != nullptr)
    return sort_chunks(text, coded, minimizers, std::move(sorted), stream);
  DeviceBuffer<Index> ranks(sorted.size(), stream);
  const auto rank = [set = minimizers.set.set(), sorted = sorted.data(),
                     ranks = ranks.data()] __device__(Index slot) {
    ranks[set.rank(sorted[slot])] = slot;
  };
  for_each_item<Index>(sorted.size(), rank, stream);
  sorted.reset();
  DeviceBuffer<std::uint64_t> keys(text.size, stream);
  DeviceBuffer<Index> positions(text.size, stream);
  const auto write_key = [code = CodeOfSuffix{code_of(text, coded), coded.view()},
                          rank_bits = 64 - minimizers.choice.bits, set = minimizers.set.set(),
                          distances = minimizers.distances.data(), ranks = ranks.data(),
                          keys = keys.data(), positions = positions.data()] __device__(Index i) {
    const std::uint64_t rank = ranks[set.rank(i + distances[i])];
    keys[i] = code(i) >> rank_bits << rank_bits | rank;
    positions[i] = i;
  };
  for_each_item<Index>(text.size, write_key, stream);
  ranks.reset();
  sort_by_key(keys, positions, 64, stream);
  return positions;
}

SORTIE_FOR_BOTH_POSITIONS(choose_minimizers);
SORTIE_FOR_BOTH_POSITIONS(write_minimizer_keys);
SORTIE_FOR_BOTH_POSITIONS(sort_by_minimizers);

}  // namespace sortie::suffix_array::cuda
