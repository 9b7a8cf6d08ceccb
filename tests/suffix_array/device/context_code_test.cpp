// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "apps/suffix_array/cuda/samples/sampling.cuh"
#include "apps/suffix_array/cuda/text/coded_text.cuh"
#include "tests/suffix_array/texts.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// The code of a text, made on the host by the functions that kernels call.
struct HostCode {
  explicit HostCode(const test::NamedText& text) : separator_bits(text.symbols.size() / 32 + 1) {
    for (const std::uint64_t i : text.separators) separator_bits[i / 32] |= 1U << (i % 32);
    const TextReader reader{text.symbols.data(), separator_bits.data(), text.symbols.size()};
    std::vector<std::uint32_t> pairs(std::size_t{256} * 256);
    std::array<bool, 256> occurs{};
    for (std::uint64_t i = 0; i < reader.size; ++i) {
      if (reader.is_letter(i)) occurs[text.symbols[i]] = true;
      if (reader.is_letter(i) && reader.is_letter(i + 1))
        ++pairs[256 * text.symbols[i] + text.symbols[i + 1]];
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (occurs[byte]) letters[byte] = ++sigma;
    }
    plan = plan_context_code(letters, pairs);
    const auto number_bits =
        static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(text.separators.size())));
    code = {reader,       letters.data(), plan.entries.data(),
            plan.symbols, number_bits,    ContextCode::length(plan.entries[0])};
    write_stream();
    view = {words.data(), begins.data(), symbols.data()};
    // The packed text: symbols of equal numbers of bits, zeros behind them.
    stream.bits = std::bit_width(static_cast<unsigned>(sigma));
    packed.resize(reader.size * static_cast<std::uint64_t>(stream.bits) / 64 + 3);
    for (std::uint64_t i = 0; i < reader.size; ++i) {
      for (int bit = 0; bit < stream.bits; ++bit) {
        const std::uint64_t at =
            i * static_cast<std::uint64_t>(stream.bits) + static_cast<unsigned>(bit);
        packed[at / 64] |= std::uint64_t{code.symbol(i) >> (stream.bits - 1 - bit) & 1U}
                           << (63 - at % 64);
      }
    }
    stream.words = packed.data();
  }

  /// The stream, bit by bit.
  void write_stream() {
    begins.resize(code.text.size / CodedText::block_symbols + 2);
    symbols.resize(begins.size() * CodedText::block_symbols);
    words.resize((CodedText::first_bit + symbols.size() * 46) / 64 + 4);
    std::uint64_t at = CodedText::first_bit;
    const auto append = [&](std::uint64_t bits, int length) {
      for (int bit = length - 1; bit >= 0; --bit, ++at)
        words[at / 64] |= (bits >> bit & 1U) << (63 - at % 64);
    };
    std::uint64_t number = 0;
    for (std::uint64_t i = 0; i < symbols.size(); ++i) {
      if (i % CodedText::block_symbols == 0) begins[i / CodedText::block_symbols] = at;
      const SymbolInStream symbol = code.two(i).first;
      symbols[i] = static_cast<std::uint16_t>((at - begins[i / CodedText::block_symbols]) |
                                              static_cast<unsigned>(symbol.own_length) << 12);
      append(symbol.bits, symbol.length);
      if (symbol.is_end) append(number++, static_cast<int>(code.number_bits));
    }
  }

  /// The minimizers, of so many bits, of all suffixes.
  [[nodiscard]] std::vector<std::uint64_t> minimizers(int bits) const {
    const MinimizerChoice choice{stream, view, bits};
    std::vector<std::uint64_t> chosen(code.text.size);
    for (std::uint64_t i = 0; i < chosen.size(); ++i)
      chosen[i] = i + (code.text.is_letter(i) ? choice.distance(i) : 0);
    return chosen;
  }

  std::vector<std::uint32_t> separator_bits;
  std::array<std::uint16_t, 256> letters{};
  std::uint16_t sigma = 0;
  ContextCode plan;
  TextCode code{};
  std::vector<std::uint64_t> words;
  std::vector<std::uint64_t> begins;
  std::vector<std::uint16_t> symbols;
  CodedText view{};
  std::vector<std::uint64_t> packed;
  SymbolStream stream{};
};

std::vector<test::NamedText> texts() {
  std::vector<test::NamedText> all = test::tricky_texts();
  std::erase_if(all, [](const auto& text) {
    return text.symbols.size() == text.separators.size() || text.symbols.size() > 3000;
  });
  // Letters of all frequencies, records of all lengths.
  std::string skewed = test::random_letters(2000, 250, 1, 3);
  for (std::size_t i = 0; i < skewed.size(); ++i) {
    if (i % 7 != 0) skewed[i] = "the "[i % 4];
  }
  all.push_back(test::single("skewed", skewed));
  all.push_back(test::joined("skewed records", {skewed.substr(0, 5), "", skewed.substr(900, 70), "",
                                                "", skewed.substr(30), skewed.substr(30), "t"}));
  return all;
}

TEST(ContextCode, IsFreeOfPrefixesAndAscends) {
  for (const test::NamedText& text : texts()) {
    const HostCode host(text);
    for (std::uint32_t context = 0; context < host.plan.symbols; ++context) {
      std::uint64_t end = 0;  // of the interval of the code before, in units of 2^-32
      for (std::uint32_t symbol = 0; symbol < host.plan.symbols; ++symbol) {
        const ContextCode::Entry entry = host.code.entry(context, symbol);
        const int length = ContextCode::length(entry);
        ASSERT_LE(length, ContextCode::longest);
        ASSERT_EQ(std::uint64_t{ContextCode::bits(entry)} << (32 - length), end) << text.name;
        end += std::uint64_t{1} << (32 - length);
      }
      if (context == 0) {  // numbers of one length
        for (std::uint32_t symbol = 0; symbol < host.plan.symbols; ++symbol)
          ASSERT_EQ(host.code.entry(0, symbol),
                    symbol << 4 | static_cast<unsigned>(host.code.own_length));
        ASSERT_LE(end, std::uint64_t{1} << 32) << text.name;
      } else {
        ASSERT_EQ(end, std::uint64_t{1} << 32) << text.name;
      }
    }
  }
}

TEST(CodedText, SortsSuffixesByTheirBits) {
  for (const test::NamedText& text : texts()) {
    SCOPED_TRACE(text.name);
    const HostCode host(text);
    const std::uint64_t size = text.symbols.size();
    std::vector<std::uint64_t> keys(size);
    std::vector<std::uint32_t> order(size);
    constexpr int bits = 40;
    for (std::uint32_t i = 0; i < size; ++i) {
      keys[i] = CodeOfSuffix{host.code, host.view}.key(i, bits);
      order[i] = i;
      ASSERT_EQ(keys[i] % 2, 0U);
      ASSERT_LT(keys[i] >> (bits - 1), 2U);
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
      if (left == right) return false;
      if (keys[left] != keys[right]) return keys[left] < keys[right];
      for (std::uint64_t depth = bits - 1;; depth += 64) {
        const std::uint64_t a = host.view.window(left, depth);
        const std::uint64_t b = host.view.window(right, depth);
        if (a != b) return a < b;
      }
    });
    EXPECT_EQ(order, test::reference<std::uint32_t>(text.view()));
  }
}

TEST(CodedText, CountsWholeSymbols) {
  for (const test::NamedText& text : texts()) {
    SCOPED_TRACE(text.name);
    const HostCode host(text);
    for (std::uint64_t i = 0; i < text.symbols.size(); ++i) {
      if (!host.code.text.is_letter(i)) continue;
      for (const std::uint64_t depth : {20, 39, 126}) {
        std::uint64_t used = 0;
        int expected = 0;
        std::uint32_t context = 0;
        for (std::uint64_t at = i; expected < 64 && host.code.text.is_letter(at); ++at) {
          const std::uint32_t symbol = host.code.symbol(at);
          used += static_cast<std::uint64_t>(ContextCode::length(host.code.entry(context, symbol)));
          if (used > depth) break;
          ++expected;
          context = symbol;
        }
        if (used <= depth && expected < 64) continue;  // an end is among the bits
        ASSERT_EQ(host.view.whole_symbols(i, depth, 64), expected) << i;
      }
    }
  }
}

TEST(Minimizers, OrderSuffixesOfEqualBits) {
  for (const test::NamedText& text : texts()) {
    const HostCode host(text);
    const auto reference = test::reference<std::uint32_t>(text.view());
    std::vector<std::uint64_t> ranks(reference.size());
    for (std::size_t slot = 0; slot < reference.size(); ++slot) ranks[reference[slot]] = slot;
    for (const int bits : {32, 40, 56}) {
      SCOPED_TRACE(text.name + " " + std::to_string(bits));
      const std::vector<std::uint64_t> chosen = host.minimizers(bits);
      ASSERT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
      const MinimizerChoice choice{host.stream, host.view, bits};
      std::uint64_t found_together = 0;
      for (std::uint64_t i = 0; i + MinimizerChoice::together <= chosen.size(); ++i) {
        std::uint32_t found[MinimizerChoice::together];
        if (!choice.distances(i, found)) continue;
        ++found_together;
        for (std::uint64_t k = 0; k < MinimizerChoice::together; ++k)
          ASSERT_EQ(i + k + found[k], chosen[i + k]);
      }
      EXPECT_TRUE(found_together != 0 || text.name != "skewed");
      const CodeOfSuffix code{host.code, host.view};
      std::vector<std::uint32_t> order(reference.size());
      std::iota(order.begin(), order.end(), 0U);
      std::sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
        const std::uint64_t a = code(left) >> (64 - bits);
        const std::uint64_t b = code(right) >> (64 - bits);
        return a != b ? a < b : ranks[chosen[left]] < ranks[chosen[right]];
      });
      EXPECT_EQ(order, reference);
    }
  }
}

TEST(Minimizers, SamplesOfMinimizersAreMinimizersAndDependOnComparedBitsOnly) {
  for (const test::NamedText& text : texts()) {
    const HostCode host(text);
    const auto reference = test::reference<std::uint32_t>(text.view());
    for (const int bits : {32, 40, 49, 56}) {
      const std::vector<std::uint64_t> chosen = host.minimizers(bits);
      std::vector<bool> is_minimizer(chosen.size());
      for (const std::uint64_t position : chosen) is_minimizer[position] = true;
      for (const std::uint64_t depth : {63U, 126U, 252U}) {
        if (depth < static_cast<std::uint64_t>(bits + ContextCode::longest)) continue;
        SCOPED_TRACE(text.name + " " + std::to_string(bits) + " " + std::to_string(depth));
        const Sampling sampling =
            plan_sampling(host.stream, host.view, depth, {host.stream, host.view, bits});
        // The bits of neighbours in the suffix array.
        const auto bits_of = [&](std::uint32_t i) {
          std::vector<std::uint64_t> all{CodeOfSuffix{host.code, host.view}(i) >> 1};
          for (std::uint64_t at = 63; at < depth; at += 63) {
            all.push_back(host.view.window(i, at) >> 1);
          }
          return all;
        };
        std::vector<std::uint32_t> order;
        for (const std::uint32_t position : reference) {
          if (is_minimizer[position] && host.code.text.is_letter(position))
            order.push_back(position);
        }
        for (std::size_t slot = 1; slot < order.size(); ++slot) {
          const std::uint32_t left = order[slot - 1];
          const std::uint32_t right = order[slot];
          if (bits_of(left) != bits_of(right)) continue;
          std::uint32_t own[2] = {};
          std::uint32_t next[2] = {};
          sampling.samples(left, own[0], next[0]);
          sampling.samples(right, own[1], next[1]);
          ASSERT_EQ(own[0] - left, own[1] - right);
          ASSERT_EQ(next[0] - left, next[1] - right);
          ASSERT_GT(next[0], left);
          ASSERT_LT(std::max(next[0], next[1]), chosen.size());
          for (const std::uint32_t sample : {own[0], own[1], next[0], next[1]})
            ASSERT_TRUE(is_minimizer[sample]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sortie::suffix_array::cuda
