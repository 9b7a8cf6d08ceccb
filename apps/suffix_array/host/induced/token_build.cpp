// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/induced/token_build.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/induced/induced_sort.hpp"
#include "apps/suffix_array/host/induced/scratch_stack.hpp"
#include "apps/suffix_array/host/induced/symbol_string.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/uninitialised_vector.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/sort.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Tokens below it are numbered by a table. Vocabularies are smaller.
constexpr std::uint32_t most_in_table = 1U << 24;

/// Tokens as little-endian numbers.
template <class Token>
std::uint32_t token_at(std::span<const std::uint8_t> bytes, std::uint64_t i) {
  Token token = 0;
  std::memcpy(&token, bytes.data() + i * sizeof(Token), sizeof(Token));
  if constexpr (std::endian::native == std::endian::big)
    token = static_cast<Token>(__builtin_bswap32(token) >> (32 - 8 * sizeof(Token)));
  return token;
}

/// A number in the order of the bytes of a token.
constexpr std::uint32_t in_order_of_bytes(std::uint32_t token) {
  return __builtin_bswap32(token);
}

/// Replaces tokens by their ranks, with a table. \return distinct tokens
template <class Token>
std::uint32_t rank_by_table(std::span<const std::uint8_t> bytes, std::uint32_t greatest,
                            std::span<std::uint32_t> ranks) {
  std::vector<std::uint32_t> table(greatest + std::size_t{1});
  for_each_index(0, ranks.size(), [&, to = table.data()](std::uint64_t i) {
    std::atomic_ref<std::uint32_t> entry(to[token_at<Token>(bytes, i)]);
    if (entry.load(std::memory_order_relaxed) == 0) entry.store(1, std::memory_order_relaxed);
  });
  std::vector<std::uint32_t> distinct;
  for (std::uint32_t token = 0; token <= greatest; ++token)
    if (table[token] != 0) distinct.push_back(in_order_of_bytes(token));
  std::ranges::sort(distinct);
  for (std::size_t rank = 0; rank < distinct.size(); ++rank)
    table[in_order_of_bytes(distinct[rank])] = static_cast<std::uint32_t>(rank);
  for_each_index(0, ranks.size(), [=, from = table.data()](std::uint64_t i) {
    ranks[i] = from[token_at<Token>(bytes, i)];
  });
  return static_cast<std::uint32_t>(distinct.size());
}

/// The same by sorting all tokens. \param positions, scratch  as many numbers as tokens
template <class Token>
std::uint32_t rank_by_sort(const Context& context, std::span<const std::uint8_t> bytes,
                           std::span<std::uint32_t> ranks, std::span<std::uint32_t> positions,
                           std::span<std::uint32_t> scratch) {
  for_each_index(0, ranks.size(), [=](std::uint64_t i) {
    scratch[i] = in_order_of_bytes(token_at<Token>(bytes, i));
    positions[i] = static_cast<std::uint32_t>(i);
  });
  Context sorting;
  sorting.backend = Backend::host;
  sorting.threads = context.threads;
  sortie::sort(sorting, scratch, positions);
  std::uint32_t rank = 0;
  for (std::uint64_t i = 0; i < ranks.size(); ++i) {
    if (i > 0 && scratch[i] != scratch[i - 1]) ++rank;
    ranks[positions[i]] = rank;
  }
  return rank + 1;
}

template <class Token, Position Pos>
std::vector<Pos> build(const Context& context, std::span<const std::uint8_t> bytes) {
  const std::uint64_t count = bytes.size() / sizeof(Token);
  start_host_runtime(context.threads);
  report_progress(context, "tokens", 0, count);
  const PhaseTimer timer(context, "tokens");
  const auto memory = allocate_array<std::uint32_t>(count + symbols_after_names);
  const std::span<std::uint32_t> ranks(memory.get(), count);
  std::fill_n(memory.get() + count, symbols_after_names, 0U);
  const auto order_memory = allocate_array<std::uint32_t>(count);
  const std::span<std::uint32_t> order(order_memory.get(), count);
  const auto scratch_memory = allocate_array<std::uint32_t>(count);

  const EqualShares shares = thread_shares(count);
  std::vector<std::uint32_t> greatest(shares.count);
  for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i)
      greatest[share] = std::max(greatest[share], token_at<Token>(bytes, i));
  });
  const std::uint32_t last = *std::ranges::max_element(greatest);
  const std::uint32_t distinct = last < most_in_table
                                     ? rank_by_table<Token>(bytes, last, ranks)
                                     : rank_by_sort<Token>(context, bytes, ranks, order,
                                                           std::span(scratch_memory.get(), count));
  ScratchStack scratch({std::as_writable_bytes(std::span(scratch_memory.get(), count)), {}});
  sort_names(context, ranks, distinct, order, scratch);

  std::vector<Pos> suffixes;
  resize_for_overwrite(suffixes, static_cast<std::int64_t>(count));
  for_each_index(0, count, [=, to = suffixes.data()](std::uint64_t i) {
    to[i] = static_cast<Pos>(order[i] * std::uint64_t{sizeof(Token)});
  });
  if (context.report != nullptr) context.report->set("distinct_tokens", std::uint64_t{distinct});
  report_progress(context, "tokens", count, count);
  return suffixes;
}

}  // namespace

bool can_sort_tokens(const HostContext& context, std::uint64_t tokens, int token_bytes,
                     int position_bytes) {
  // Ranks, order, scratch, and what the sort of the ranks takes: 20 bytes.
  const std::uint64_t bytes = tokens * (32 + static_cast<unsigned>(position_bytes)) +
                              (token_bytes == 2 ? 1U << 18 : 4 * std::uint64_t{most_in_table});
  return tokens <= std::uint64_t{std::numeric_limits<std::int32_t>::max()} &&
         bytes <= host_memory_limit(context);
}

template <Position Pos>
std::vector<Pos> build_tokens(const Context& context, std::span<const std::uint8_t> bytes,
                              int token_bytes) {
  return token_bytes == 2 ? build<std::uint16_t, Pos>(context, bytes)
                          : build<std::uint32_t, Pos>(context, bytes);
}

SORTIE_FOR_BOTH_POSITIONS(build_tokens);

}  // namespace sortie::suffix_array::host
