// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/text/symbol_stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "primitives/host/parallel.hpp"
#include "primitives/host/radix_pass.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Valid bits of a word at least, wherever in a byte its first symbol begins.
constexpr int sure_bits = 57;

int bits_for(const PrefixPlan& plan) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(plan.sigma))));
}

/// Eight symbols fill whole bytes, so threads write no byte in common.
constexpr std::uint64_t symbols_at_once = 8;

using ByteCodes = std::array<std::uint8_t, 256>;

/// Packs blocks [begin, end) of eight symbols, `Bits` bits each. Every block writes eight bytes;
/// the next block overwrites all but the first `Bits` of them, so the last blocks of a chunk are
/// left to the caller.
/// \return the first block that is left
template <unsigned Bits>
std::uint64_t pack_blocks(const std::uint8_t* symbols, const ByteCodes& codes, std::uint64_t begin,
                          std::uint64_t end, std::uint8_t* stream) {
  static_assert(Bits <= 8);
  for (; begin + symbols_at_once < end; ++begin) {
    const std::uint8_t* const of_block = symbols + begin * symbols_at_once;
    std::uint64_t packed = 0;
    for (std::size_t i = 0; i < symbols_at_once; ++i) packed = packed << Bits | codes[of_block[i]];
    packed <<= 64 - 8 * Bits;
    if constexpr (std::endian::native == std::endian::little) packed = __builtin_bswap64(packed);
    std::memcpy(stream + begin * Bits, &packed, sizeof(packed));
  }
  return begin;
}

using PackBlocks = decltype(&pack_blocks<1>);
/// By the number of bits.
constexpr std::array<PackBlocks, 9> packs{nullptr,        pack_blocks<1>, pack_blocks<2>,
                                          pack_blocks<3>, pack_blocks<4>, pack_blocks<5>,
                                          pack_blocks<6>, pack_blocks<7>, pack_blocks<8>};

}  // namespace

std::uint64_t SymbolStream::bytes(std::uint64_t size, const PrefixPlan& plan) {
  // A word may be read at the end of the text, and every block of eight symbols writes eight bytes.
  const std::uint64_t blocks = size / symbols_at_once + 1;
  return blocks * static_cast<unsigned>(bits_for(plan)) + 2 * sizeof(std::uint64_t);
}

SymbolStream::SymbolStream(const TextView& text, const PrefixPlan& plan)
    : bits_(bits_for(plan)),
      symbols_(sure_bits / bits_),
      unused_bits_(64 - symbols_ * bits_),
      high_bits_(0),
      low_bits_(0),
      size_(text.size()),
      bytes_(allocate<std::uint8_t>(bytes(text.size(), plan))) {
  for (int i = 0; i < symbols_; ++i) high_bits_ |= std::uint64_t{1} << ((i + 1) * bits_ - 1);
  low_bits_ = (~std::uint64_t{0} >> unused_bits_) & ~high_bits_;

  const std::uint64_t size = text.size();
  const auto bits = static_cast<unsigned>(bits_);
  const std::uint8_t* const symbols = text.symbols.data();
  std::uint8_t* const stream = bytes_.get();
  const std::uint64_t blocks = size / symbols_at_once;
  const auto write = [=, &plan](std::uint64_t block) {
    DoubleWord packed = 0;  // up to 72 bits; zeros follow the text
    const std::uint64_t first = block * symbols_at_once;
    for (std::uint64_t i = first; i < first + symbols_at_once; ++i) {
      packed = packed << bits | (i < size ? plan.code[symbols[i]] : 0U);
    }
    for (unsigned byte = 0; byte < bits; ++byte) {
      stream[block * bits + byte] = static_cast<std::uint8_t>(packed >> (8 * (bits - 1 - byte)));
    }
  };
  ByteCodes codes{};
  std::ranges::transform(plan.code, codes.begin(),
                         [](auto code) { return static_cast<std::uint8_t>(code); });
  for_each_share(thread_shares(blocks), [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    if (bits < packs.size()) begin = packs[bits](symbols, codes, begin, end, stream);
    for (std::uint64_t block = begin; block < end; ++block) write(block);
  });
  write(blocks);
  std::fill_n(stream + (blocks + 1) * bits, 2 * sizeof(std::uint64_t), std::uint8_t{0});

  // Separators become 0 afterwards, since the byte of a separator may be a letter elsewhere.
  for (const std::uint64_t separator : text.separators) {
    for (std::uint64_t bit = separator * bits; bit < (separator + 1) * bits; ++bit) {
      stream[bit / 8] &= static_cast<std::uint8_t>(~(0x80U >> (bit % 8)));
    }
  }
}

}  // namespace sortie::suffix_array::host
