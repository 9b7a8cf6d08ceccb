// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/text/token_text.hpp"

#include <algorithm>
#include <utility>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/text/code_stream.cuh"
#include "apps/suffix_array/cuda/text/token_code.cuh"
#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// The active lanes of the warp with the same number. Frequent tokens would otherwise wait for one
/// another in atomic operations.
__device__ unsigned lanes_with(std::uint32_t number) {
  return __match_any_sync(__activemask(), number);
}
__device__ bool is_first_of(unsigned lanes) {
  return static_cast<unsigned>(first_lane(lanes)) == lane();
}

/// The largest of tokens of 4 bytes, separators excluded. Waits for the stream.
std::uint32_t largest_token(const TokenReader& tokens, cudaStream_t stream) {
  DeviceBuffer<std::uint32_t> largest(1, stream);
  check_cuda(cudaMemsetAsync(largest.data(), 0, largest.bytes(), stream));
  const std::uint64_t threads = std::min<std::uint64_t>(tokens.count, 1 << 18);
  const auto find_largest = [tokens, threads,
                             largest = largest.data()] __device__(std::uint64_t thread) {
    std::uint32_t own = 0;
#pragma unroll 4
    for (std::uint64_t i = thread; i < tokens.count; i += threads) {
      const std::uint32_t token = tokens(i);
      if (token != TokenReader::separator) own = max(own, token);
    }
    if (own > *largest) atomicMax(largest, own);
  };
  for_each_item<std::uint64_t>(threads, find_largest, stream);
  std::uint32_t found = 0;
  largest.copy_to({&found, 1});
  check_cuda(cudaStreamSynchronize(stream));
  return found;
}

/// Ranks of tokens whose higher halves, but for separators, are less than `highs`.
RankedTokens rank_by_set(const TokenReader& tokens, std::uint32_t highs, cudaStream_t stream) {
  NumberedSetBuffer<std::uint32_t> set((std::uint64_t{highs} << 16) + 1, stream);
  const auto insert = [tokens, highs, set = set.set()] __device__(std::uint64_t i) {
    const std::uint32_t number = TokenReader::compact(tokens(i), highs);
    if (is_first_of(lanes_with(number))) set.insert(number);
  };
  for_each_item<std::uint64_t>(tokens.count, insert, stream);
  RankedTokens ranked;
  ranked.distinct = set.number_and_count(stream);
  ranked.ranks = {tokens.count, stream};
  const auto write_rank = [tokens, highs, set = set.set(),
                           ranks = ranked.ranks.data()] __device__(std::uint64_t i) {
    ranks[i] = set.rank(TokenReader::compact(tokens(i), highs));
  };
  for_each_item<std::uint64_t>(tokens.count, write_rank, stream);
  return ranked;
}

template <Position Index>
RankedTokens rank_by_sort(const TokenReader& tokens, cudaStream_t stream) {
  DeviceBuffer<std::uint32_t> keys(tokens.count, stream);
  DeviceBuffer<Index> positions(tokens.count, stream);
  const auto write_key = [tokens, keys = keys.data(),
                          positions = positions.data()] __device__(Index i) {
    keys[i] = TokenReader::in_order(tokens(i));
    positions[i] = i;
  };
  for_each_item<Index>(tokens.count, write_key, stream);
  sort_by_key(keys, positions, 32, stream);
  DeviceBuffer<Index> greater(tokens.count, stream);  // 1 where a greater token begins
  const auto compare = [keys = keys.data(), greater = greater.data()] __device__(Index i) {
    greater[i] = i != 0 && keys[i] != keys[i - 1] ? 1 : 0;
  };
  for_each_item<Index>(tokens.count, compare, stream);
  inclusive_sum(greater.data(), tokens.count, stream);
  RankedTokens ranked;
  ranked.ranks = {tokens.count, stream};
  const auto write_rank = [positions = positions.data(), greater = greater.data(),
                           ranks = ranked.ranks.data()] __device__(Index i) {
    ranks[positions[i]] = static_cast<std::uint32_t>(greater[i]);
  };
  for_each_item<Index>(tokens.count, write_rank, stream);
  Index last = 0;
  check_cuda(cudaMemcpyAsync(&last, greater.data() + tokens.count - 1, sizeof(last),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  ranked.distinct = std::uint64_t{last} + 1;
  return ranked;
}

/// The codes of the end of the text and of the ranks.
DeviceBuffer<TokenCode::Entry> plan_token_code(const RankedTokens& tokens, cudaStream_t stream) {
  // Tokens that are counted: those of a longer sample have hardly shorter codes.
  constexpr std::uint64_t most_counted_tokens = 1 << 18;
  constexpr std::uint64_t range = 512;  // tokens that are read one after the other
  const std::uint64_t symbols = tokens.distinct + 1;
  const std::uint64_t count = tokens.ranks.size();
  const std::uint64_t stride = std::max<std::uint64_t>(count / most_counted_tokens, 1);
  const std::uint64_t counted = count / stride;
  DeviceBuffer<std::uint32_t> counts(symbols, stream);
  check_cuda(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream));
  const auto count_token = [ranks = tokens.ranks.data(), count, stride,
                            counts = counts.data()] __device__(std::uint64_t j) {
    const std::uint64_t i = j / range * range * stride + j % range;
    if (i >= count) return;
    const unsigned equal = lanes_with(ranks[i]);
    if (is_first_of(equal)) atomicAdd(&counts[std::uint64_t{ranks[i]} + 1], lanes_of(equal));
  };
  for_each_item<std::uint64_t>(counted, count_token, stream);
  DeviceBuffer<std::uint64_t> sums(symbols, stream);
  const auto write_weight = [counts = counts.data(), counted, symbols,
                             sums = sums.data()] __device__(std::uint64_t s) {
    sums[s] = TokenCode::weight(symbols, counts[s], counted);
  };
  for_each_item<std::uint64_t>(symbols, write_weight, stream);
  inclusive_sum(sums.data(), symbols, stream);
  DeviceBuffer<TokenCode::Entry> entries(symbols, stream);
  const auto write_entry = [sums = sums.data(), symbols,
                            entries = entries.data()] __device__(std::uint64_t s) {
    entries[s] = TokenCode::entry(sums, symbols, s);
  };
  for_each_item<std::uint64_t>(symbols, write_entry, stream);
  return entries;
}

}  // namespace

template <Position Index>
RankedTokens rank_tokens(std::span<const std::uint8_t> bytes, int token_bytes,
                         cudaStream_t stream) {
  const auto width = static_cast<unsigned>(token_bytes);
  DeviceBuffer<std::uint8_t> aligned;
  const std::uint8_t* first = bytes.data();
  if (reinterpret_cast<std::uintptr_t>(first) % width != 0) {
    aligned = {bytes.size(), stream};
    check_cuda(
        cudaMemcpyAsync(aligned.data(), first, bytes.size(), cudaMemcpyDeviceToDevice, stream));
    first = aligned.data();
  }
  const TokenReader tokens{first, bytes.size() / width, token_bytes};
  // Higher halves of tokens: as their order is that of their bytes, one byte of them is compact.
  constexpr std::uint32_t most_highs = 256;
  const std::uint32_t highs = token_bytes == 2 ? 1 : (largest_token(tokens, stream) >> 16) + 1;
  return highs <= most_highs ? rank_by_set(tokens, highs, stream)
                             : rank_by_sort<Index>(tokens, stream);
}

CodedTextBuffer code_tokens(const RankedTokens& tokens, cudaStream_t stream) {
  const DeviceBuffer<TokenCode::Entry> entries = plan_token_code(tokens, stream);
  CodedTextBuffer coded;
  coded.context_free = true;
  const std::uint64_t count = tokens.ranks.size();
  write_stream(CodedTokens{tokens.ranks.data(), count, entries.data()}, count, false, coded,
               stream);
  return coded;
}

PackedText hash_tokens(const RankedTokens& tokens, cudaStream_t stream) {
  const std::uint64_t count = tokens.ranks.size();
  // Zeros behind the text: a window may begin at its end.
  const std::uint64_t words = count / HashTokens::tokens_a_word + 3;
  PackedText packed;
  packed.words = {words, stream};
  packed.stream = {packed.words.data(), nullptr, nullptr, HashTokens::bits, 1, 0};
  for_each_item<std::uint64_t>(words, HashTokens{tokens.ranks.data(), count, packed.words.data()},
                               stream);
  return packed;
}

DeviceBuffer<std::uint8_t> bytes_of_ranks(const RankedTokens& tokens, cudaStream_t stream) {
  DeviceBuffer<std::uint8_t> bytes(tokens.ranks.size(), stream);
  const auto write_byte = [ranks = tokens.ranks.data(), bytes = bytes.data()] __device__(
                              std::uint64_t i) { bytes[i] = static_cast<std::uint8_t>(ranks[i]); };
  for_each_item<std::uint64_t>(bytes.size(), write_byte, stream);
  return bytes;
}

SORTIE_FOR_BOTH_POSITIONS(rank_tokens);

}  // namespace sortie::suffix_array::cuda
