// SPDX-License-Identifier: Apache-2.0
#include "sequences/symbol_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/checksum.hpp"
#include "core/random.hpp"
#include "primitives/host/packed_codes.hpp"
#include "sequences/fasta_text.hpp"
#include "sequences/generators.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::sequences {
namespace {

using Symbols = std::vector<std::uint8_t>;

/// Symbols of which each block of 104 has other letters, up to all bytes.
Symbols changing_symbols(std::size_t size) {
  Random random(7);
  Symbols symbols(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t letters = std::uint64_t{1} << (i / 104 % 9);
    symbols[i] = static_cast<std::uint8_t>(i / 104 * 31 + random.below(letters));
  }
  return symbols;
}

Symbols all_of(const SymbolBlocks& blocks) {
  Symbols symbols(blocks.size());
  blocks.unpack(0, symbols);
  return symbols;
}

Symbols bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

TEST(PackedCodes, AreUnpackedToTheSameSymbols) {
  Random random(3);
  for (unsigned bits = 1; bits <= 8; ++bits) {
    for (std::size_t size : {0, 1, 7, 8, 9, 16, 17, 200, 203}) {
      Symbols symbols(size);
      for (std::uint8_t& symbol : symbols)
        symbol = static_cast<std::uint8_t>(random.below(1U << bits));
      ByteCodes codes{};
      std::array<std::uint8_t, 256> back{};
      for (unsigned code = 0; code < 1U << bits; ++code) {
        codes[code] = static_cast<std::uint16_t>((1U << bits) - 1 - code);
        back[codes[code]] = static_cast<std::uint8_t>(code);
      }
      const std::size_t packed_bytes = (size + 7) / 8 * bits;
      constexpr std::uint8_t untouched = 0xA5;
      Symbols packed(packed_bytes + 8, untouched);
      pack_codes(symbols, codes, bits, packed.data());
      for (std::size_t i = packed_bytes; i < packed.size(); ++i) EXPECT_EQ(packed[i], untouched);
      Symbols unpacked(size);
      unpack_codes(packed.data(), bits, back, unpacked);
      EXPECT_EQ(unpacked, symbols) << bits << " bits, " << size << " symbols";
    }
  }
}

TEST(SymbolBlocks, HoldAnySymbols) {
  for (const std::size_t size : {0, 1, 103, 104, 105, 5000}) {
    const Symbols symbols = changing_symbols(size);
    SymbolBlocks blocks(104);
    blocks.start({}, "text");
    for (std::size_t at = 0; at < size; at += 77)
      blocks.append(std::span(symbols).subspan(at, std::min<std::size_t>(77, size - at)));
    EXPECT_EQ(all_of(blocks), symbols);
    SymbolCounts counts{};
    count_symbols(symbols, counts);
    EXPECT_EQ(blocks.counts(), counts);
    blocks.seal();
    EXPECT_EQ(all_of(blocks), symbols);
    EXPECT_EQ(blocks.counts(), counts);
    for (const int threads : {1, 3}) {
      std::vector<std::uint64_t> expected;
      for (std::size_t i = 0; i < size; ++i)
        if (symbols[i] == 31) expected.push_back(i);
      EXPECT_EQ(blocks.positions(threads, 31), expected);
    }
    if (size < 130) continue;
    Symbols part(50);
    blocks.unpack(80, part);
    EXPECT_EQ(part, Symbols(symbols.begin() + 80, symbols.begin() + 130));
  }
}

TEST(SymbolBlocks, AreReleasedByTheLastVisit) {
  const Symbols symbols = changing_symbols(1000);
  SymbolBlocks blocks(104);
  blocks.start({}, "text");
  blocks.append(symbols);
  blocks.seal();
  for (const bool release : {false, true}) {
    Symbols seen(symbols.size());
    blocks.visit(
        3,
        [&](std::uint64_t block, std::span<const std::uint8_t> of_block) {
          std::ranges::copy(of_block, seen.begin() + static_cast<std::ptrdiff_t>(block * 104));
        },
        release);
    EXPECT_EQ(seen, symbols);
  }
  EXPECT_EQ(blocks.size(), 0U);
}

TEST(SymbolBlocks, HaveTheChecksumOfTheSymbols) {
  const Text text = uniform_dna(2 * checksum_block_bytes + 77, 1);
  SymbolBlocks blocks;
  blocks.start({}, "text");
  blocks.append(text.symbols);
  blocks.seal();
  EXPECT_EQ(blocks.checksum(2), checksum_of(1, text.symbols));
}

TEST(SymbolBlocks, ReplaceSymbols) {
  SymbolBlocks blocks(8);
  blocks.start({}, "text");
  blocks.append(bytes_of("ACGTNACGNTTTRYAAAAA"));
  blocks.seal();
  std::array<std::uint8_t, 256> by{};
  std::iota(by.begin(), by.end(), std::uint8_t{0});
  unify_ambiguous(by);
  blocks.replace(by);
  EXPECT_EQ(all_of(blocks), bytes_of("ACGTNACGNTTTNNAAAAA"));
  EXPECT_EQ(blocks.counts()['N'], 4U);
}

TEST(SymbolBlocks, TakeReverseComplementsAsATextDoes) {
  for (const std::string_view letters : {"ACGT", "ACGUN", "ACGTacgtRYKM-"}) {
    Random random(letters.size());
    Text text;
    for (const std::uint64_t length : {30, 0, 7, 200}) {
      if (!text.records.empty()) text.symbols.push_back(Text::separator);
      text.records.push_back({"a b", text.symbols.size(), length});
      for (std::uint64_t i = 0; i < length; ++i)
        text.symbols.push_back(static_cast<std::uint8_t>(letters[random.below(letters.size())]));
    }
    SymbolBlocks blocks(16);
    blocks.start({}, "text");
    blocks.append(text.symbols);
    std::vector<Record> records = text.records;
    append_reverse_complements(records, blocks);
    append_reverse_complements(text);
    EXPECT_EQ(all_of(blocks), text.symbols);
    ASSERT_EQ(records.size(), text.records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i].name, text.records[i].name);
      EXPECT_EQ(records[i].offset, text.records[i].offset);
      EXPECT_EQ(records[i].length, text.records[i].length);
    }
  }
}

TEST(SymbolBlocks, BeyondTheBudgetAreRefused) {
  SymbolBlocks blocks;
  HostContext context;
  context.memory_budget = 1000;
  blocks.start(context, "genome.fa");
  blocks.append(changing_symbols(4000));
  test::expect_error([&] { blocks.seal(); }, ErrorKind::out_of_memory,
                     testing::StartsWith("genome.fa: "));
}

}  // namespace
}  // namespace sortie::sequences
