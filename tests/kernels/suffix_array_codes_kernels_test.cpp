// SPDX-License-Identifier: Apache-2.0

// Codes of texts on the host: the streams that the kernels write; for tokens, the order of codes, and
// minimizers and samples that are chosen from the stream.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "apps/suffix_array/cuda/samples/sampling.cuh"
#include "apps/suffix_array/cuda/text/code_kernels.cuh"
#include "apps/suffix_array/cuda/text/coded_text.cuh"
#include "apps/suffix_array/cuda/text/token_code.cuh"

namespace sortie::suffix_array::cuda {
namespace {

using Ranks = std::vector<std::uint32_t>;

template <class Kernel>
void run_warps(std::uint64_t warps, const Kernel& kernel) {
  const auto blocks = static_cast<unsigned>((warps * 32 + element_threads - 1) / element_threads);
  for (unsigned block = 0; block < blocks; ++block)
    cuda_on_host::run_block(element_threads, kernel, block);
}

/// The arrays of a CodedText.
struct HostStream {
  std::vector<std::uint64_t> words;
  std::vector<std::uint64_t> begins;
  std::vector<std::uint16_t> symbols;
};

/// As write_stream() writes it.
template <class Text>
HostStream written(const Text& text, std::uint64_t size, bool has_records) {
  const std::uint64_t blocks = size / CodedText::block_symbols + 2;
  std::vector<std::uint64_t> bits(blocks);
  std::vector<std::uint64_t> ends(blocks);
  run_warps(blocks, [&] {
    count_code_bits_kernel(text, blocks, bits.data(), has_records ? ends.data() : nullptr);
  });
  std::partial_sum(bits.begin(), bits.end(), bits.begin());
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  HostStream stream;
  // More words behind the end than write_stream() has: tests read windows of any suffix.
  stream.words.resize((CodedText::first_bit + bits.back()) / 64 + 8);
  stream.begins.resize(blocks);
  stream.symbols.resize(blocks * CodedText::block_symbols);
  run_warps(blocks, [&] {
    write_codes_kernel(text, blocks, bits.data(), has_records ? ends.data() : nullptr,
                       stream.words.data(), stream.begins.data(), stream.symbols.data());
  });
  return stream;
}

std::vector<TokenCode::Entry> code_of(std::uint64_t symbols,
                                      const std::vector<std::uint64_t>& counts) {
  const std::uint64_t counted = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::vector<std::uint64_t> sums(symbols);
  for (std::uint64_t s = 0; s < symbols; ++s)
    sums[s] = (s == 0 ? 0 : sums[s - 1]) + TokenCode::weight(symbols, counts[s], counted);
  EXPECT_LE(sums.back(), std::uint64_t{1} << TokenCode::sum_bits(symbols));
  std::vector<TokenCode::Entry> entries(symbols);
  for (std::uint64_t s = 0; s < symbols; ++s)
    entries[s] = TokenCode::entry(sums.data(), symbols, s);
  return entries;
}

/// A text as code_tokens() and hash_tokens() give it.
struct HostTokens {
  explicit HostTokens(Ranks text) : ranks(std::move(text)) {
    const std::uint64_t symbols = *std::max_element(ranks.begin(), ranks.end()) + 2U;
    std::vector<std::uint64_t> counts(symbols);
    for (const std::uint32_t rank : ranks) ++counts[rank + 1];
    entries = code_of(symbols, counts);
    coded = written(CodedTokens{ranks.data(), ranks.size(), entries.data()}, ranks.size(), false);
    view = {coded.words.data(), coded.begins.data(), coded.symbols.data(), true};
    packed.resize(ranks.size() / HashTokens::tokens_a_word + 3);
    for (std::uint64_t j = 0; j < packed.size(); ++j)
      HashTokens{ranks.data(), ranks.size(), packed.data()}(j);
    stream = {packed.data(), nullptr, nullptr, HashTokens::bits, 1, 0};
  }

  [[nodiscard]] std::vector<std::uint32_t> suffixes() const {
    std::vector<std::uint32_t> order(ranks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
      return std::lexicographical_compare(ranks.begin() + left, ranks.end(), ranks.begin() + right,
                                          ranks.end());
    });
    return order;
  }
  /// Bits of the code of a suffix, up to `depth` of them.
  [[nodiscard]] std::vector<std::uint64_t> bits_of(std::uint64_t i, std::uint64_t depth) const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t at = 0; at < depth; at += 64) {
      const std::uint64_t unused = at + 64 > depth ? at + 64 - depth : 0;
      all.push_back(view.window(i, at) >> unused);
    }
    return all;
  }

  Ranks ranks;
  std::vector<TokenCode::Entry> entries;
  HostStream coded;
  CodedText view{};
  std::vector<std::uint64_t> packed;
  SymbolStream stream{};
};

std::vector<std::pair<std::string, Ranks>> texts() {
  std::mt19937_64 random(29);
  std::vector<std::pair<std::string, Ranks>> all{{"one", {0}}, {"run", Ranks(300, 0)}};
  Ranks words(2000);
  for (auto& rank : words)
    rank = random() % 3 == 0 ? 7U
                             : static_cast<std::uint32_t>(std::min(random() % 900, random() % 900));
  all.push_back({"words", words});
  Ranks repeats = words;
  repeats.insert(repeats.end(), words.begin() + 100, words.begin() + 1500);
  repeats.insert(repeats.end(), 100, 7);
  repeats.insert(repeats.end(), words.begin() + 100, words.begin() + 700);
  all.push_back({"repeats", repeats});
  Ranks distinct(1000);
  std::iota(distinct.begin(), distinct.end(), 0U);
  std::shuffle(distinct.begin(), distinct.end(), random);
  distinct.insert(distinct.end(), distinct.begin() + 10, distinct.begin() + 500);
  all.push_back({"distinct", distinct});
  Ranks period(1000);
  for (std::size_t i = 0; i < period.size(); ++i) period[i] = static_cast<std::uint32_t>(i % 7);
  all.push_back({"period", period});
  return all;
}

TEST(CodedText, TheStreamHoldsTheCodesAndTheNumbersOfRecords) {
  std::mt19937_64 random(3);
  std::vector<std::uint16_t> letters(256);
  for (std::size_t byte = 0; byte < 40; ++byte)
    letters[byte] = static_cast<std::uint16_t>(byte + 1);
  constexpr std::uint32_t alphabet = 41;
  std::vector<ContextCode::Entry> entries(std::size_t{alphabet} * alphabet);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto length = static_cast<std::uint32_t>(i < alphabet ? 6 : 1 + random() % 14);
    entries[i] = static_cast<std::uint32_t>(random() % (1U << length)) << 4 | length;
  }
  for (const std::uint64_t size : {0, 1, 62, 63, 64, 65, 511, 512, 3000}) {
    for (const unsigned percent_of_ends : {0U, 3U, 100U}) {
      SCOPED_TRACE(std::to_string(size) + " " + std::to_string(percent_of_ends));
      std::vector<std::uint8_t> bytes(size);
      std::vector<std::uint32_t> separators(size / 32 + 1);
      for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::uint8_t>(random() % 40);
        if (random() % 100 < percent_of_ends) separators[i / 32] |= 1U << (i % 32);
      }
      const unsigned number_bits = percent_of_ends == 0 ? 0U : percent_of_ends == 3 ? 12U : 32U;
      const TextCode code{{bytes.data(), percent_of_ends == 0 ? nullptr : separators.data(), size},
                          letters.data(),
                          entries.data(),
                          alphabet,
                          number_bits,
                          6};
      const HostStream stream = written(code, size, percent_of_ends != 0);
      std::uint64_t at = CodedText::first_bit;
      const auto expect_bits = [&](std::uint64_t bits, unsigned length) {
        for (unsigned bit = length; bit-- > 0; ++at)
          ASSERT_EQ(stream.words[at / 64] >> (63 - at % 64) & 1U, bits >> bit & 1U);
      };
      std::uint64_t number = 0;
      const CodedText view{stream.words.data(), stream.begins.data(), stream.symbols.data()};
      for (std::uint64_t i = 0; i <= size; ++i) {
        ASSERT_EQ(view.begin(i), at) << i;
        const std::uint32_t symbol = code.symbol(i);
        const ContextCode::Entry entry = code.entry(code.before(i), symbol);
        ASSERT_EQ(stream.symbols[i] >> 12, 6);
        expect_bits(ContextCode::bits(entry), static_cast<unsigned>(ContextCode::length(entry)));
        if (symbol == 0) expect_bits(number++, number_bits);
      }
      for (std::uint64_t i = size + 1; i < stream.symbols.size(); ++i) ASSERT_EQ(view.begin(i), at);
      for (; at < 64 * stream.words.size(); ++at)
        ASSERT_EQ(stream.words[at / 64] >> (63 - at % 64) & 1U, 0U);
    }
  }
}

TEST(TokenCode, IsFreeOfPrefixesAndAscends) {
  std::mt19937_64 random(1);
  for (const std::uint64_t symbols : {2, 3, 4, 5, 64, 1000, 100000}) {
    for (const int skew : {0, 1, 60}) {
      SCOPED_TRACE(std::to_string(symbols) + " " + std::to_string(skew));
      std::vector<std::uint64_t> counts(symbols);
      std::uint64_t sum = 0;
      for (auto& count : counts) {
        count = std::min<std::uint64_t>(skew == 0 ? 0 : random() % 64 / static_cast<unsigned>(skew),
                                        10);
        sum += count;
      }
      counts[symbols / 2] += std::max<std::uint64_t>(sum, 1) * static_cast<unsigned>(skew + 1);
      const auto entries = code_of(symbols, counts);
      std::uint64_t end = 0;  // of the interval of the code before, in units of 2^-36
      for (const TokenCode::Entry entry : entries) {
        const int length = TokenCode::length(entry);
        ASSERT_GT(length, 0);
        ASSERT_LE(length, TokenCode::sum_bits(symbols));
        const std::uint64_t begin = TokenCode::bits(entry) << (TokenCode::most_bits - length);
        ASSERT_GE(begin, end);
        end = begin + (std::uint64_t{1} << (TokenCode::most_bits - length));
      }
      ASSERT_LE(end, std::uint64_t{1} << TokenCode::most_bits);
    }
  }
  EXPECT_EQ(TokenCode::sum_bits((std::uint64_t{1} << 32) + 1), TokenCode::most_bits);
}

TEST(TokenCode, OrdersTokensAsTheirBytes) {
  std::mt19937 random(2);
  std::vector<std::uint32_t> tokens{0, 1, 255, 256, 65535, 65536, 0xffffffffU, 0x00ff'ffffU};
  for (int i = 0; i < 1000; ++i) tokens.push_back(static_cast<std::uint32_t>(random() >> i % 32));
  const auto bytes_of = [](std::uint32_t token) {
    return std::array<std::uint32_t, 4>{token & 255U, token >> 8 & 255U, token >> 16 & 255U,
                                        token >> 24};
  };
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const std::uint32_t a = tokens[i - 1];
    const std::uint32_t b = tokens[i];
    const auto order = bytes_of(a) <=> bytes_of(b);
    EXPECT_EQ(order, TokenReader::in_order(a) <=> TokenReader::in_order(b));
    const auto high = [](std::uint32_t token) {
      return token == TokenReader::separator ? 0 : token >> 16;
    };
    const std::uint32_t highs = std::max(high(a), high(b)) + 1;
    if (highs > 256) continue;
    EXPECT_EQ(order, TokenReader::compact(a, highs) <=> TokenReader::compact(b, highs));
    EXPECT_LE(std::max(TokenReader::compact(a, highs), TokenReader::compact(b, highs)),
              highs << 16);
  }
}

TEST(TokenCode, TheStreamSortsSuffixes) {
  for (const auto& [name, ranks] : texts()) {
    SCOPED_TRACE(name);
    const HostTokens host(ranks);
    std::vector<std::uint32_t> order(ranks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
      if (left == right) return false;
      for (std::uint64_t depth = 0;; depth += 64) {
        const std::uint64_t a = host.view.window(left, depth);
        const std::uint64_t b = host.view.window(right, depth);
        if (a != b) return a < b;
      }
    });
    EXPECT_EQ(order, host.suffixes());
    // Behind the end, symbols begin at the end of the stream.
    const std::uint64_t last = host.coded.symbols.size() - 1;
    EXPECT_EQ(host.view.begin(ranks.size() + 1), host.view.begin(last));
  }
}

TEST(TokenCode, MinimizersOrderSuffixesOfEqualBits) {
  for (const auto& [name, ranks] : texts()) {
    const HostTokens host(ranks);
    const auto reference = host.suffixes();
    std::vector<std::uint64_t> rank_of(reference.size());
    for (std::size_t slot = 0; slot < reference.size(); ++slot) rank_of[reference[slot]] = slot;
    for (const int bits : {32, 40, 48, 56}) {
      SCOPED_TRACE(name + " " + std::to_string(bits));
      const MinimizerChoice choice{host.stream, host.view, bits};
      std::vector<std::uint64_t> chosen(ranks.size());
      std::vector<bool> is_minimizer(ranks.size());
      for (std::uint64_t i = 0; i < chosen.size(); ++i) {
        chosen[i] = i + choice.distance(i);
        ASSERT_LT(chosen[i], ranks.size());
        is_minimizer[chosen[i]] = true;
      }
      ASSERT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
      for (std::uint64_t i = 0; i + MinimizerChoice::together <= chosen.size(); ++i) {
        std::uint32_t found[MinimizerChoice::together];
        if (!choice.distances(i, found)) continue;
        for (std::uint64_t k = 0; k < MinimizerChoice::together; ++k)
          ASSERT_EQ(i + k + found[k], chosen[i + k]);
      }
      std::vector<std::uint32_t> order(reference.size());
      std::iota(order.begin(), order.end(), 0U);
      std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
        const std::uint64_t a = host.view.window(left, 0) >> (64 - bits);
        const std::uint64_t b = host.view.window(right, 0) >> (64 - bits);
        return a != b ? a < b : rank_of[chosen[left]] < rank_of[chosen[right]];
      });
      EXPECT_EQ(order, reference);

      for (const std::uint64_t depth : {94U, 126U, 252U}) {
        if (depth < static_cast<std::uint64_t>(bits + TokenCode::most_bits)) continue;
        const Sampling sampling =
            plan_sampling(host.stream, host.view, depth, {host.stream, host.view, bits});
        std::vector<std::uint32_t> minimizers;
        for (const std::uint32_t position : reference)
          if (is_minimizer[position]) minimizers.push_back(position);
        for (std::size_t slot = 1; slot < minimizers.size(); ++slot) {
          const std::uint32_t pair[] = {minimizers[slot - 1], minimizers[slot]};
          if (host.bits_of(pair[0], depth) != host.bits_of(pair[1], depth)) continue;
          std::uint32_t own[2] = {};
          std::uint32_t next[2] = {};
          for (int i = 0; i < 2; ++i) {
            sampling.samples(pair[i], own[i], next[i]);
            ASSERT_LT(next[i], ranks.size());
            ASSERT_GT(next[i], pair[i]);
            ASSERT_TRUE(is_minimizer[own[i]] && is_minimizer[next[i]]);
          }
          ASSERT_EQ(own[0] - pair[0], own[1] - pair[1]);
          ASSERT_EQ(next[0] - pair[0], next[1] - pair[1]);
        }
      }
    }
  }
}

TEST(TokenCode, SamplesDependOnComparedBitsOnly) {
  for (const auto& [name, ranks] : texts()) {
    SCOPED_TRACE(name);
    const HostTokens host(ranks);
    const auto reference = host.suffixes();
    for (const std::uint64_t depth : {94U, 126U, 252U}) {
      const Sampling sampling = plan_sampling(host.stream, host.view, depth, {});
      for (std::size_t slot = 1; slot < reference.size(); ++slot) {
        const std::uint32_t pair[] = {reference[slot - 1], reference[slot]};
        if (host.bits_of(pair[0], depth) != host.bits_of(pair[1], depth)) continue;
        std::uint32_t own[2] = {};
        std::uint32_t next[2] = {};
        for (int i = 0; i < 2; ++i) sampling.samples(pair[i], own[i], next[i]);
        ASSERT_EQ(own[0] - pair[0], own[1] - pair[1]);
        ASSERT_EQ(next[0] - pair[0], next[1] - pair[1]);
        ASSERT_LT(std::max(next[0], next[1]), ranks.size());
      }
    }
  }
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
