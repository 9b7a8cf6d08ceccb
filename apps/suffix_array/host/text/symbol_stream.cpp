// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/text/symbol_stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "primitives/host/parallel.hpp"

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

/// The same for a number of bits that is known at run time; packs none if it is above 8.
std::uint64_t pack_blocks(unsigned bits, const std::uint8_t* symbols, const ByteCodes& codes,
                          std::uint64_t begin, std::uint64_t end, std::uint8_t* stream) {
  switch (bits) {
#define SORTIE_CASE(count) \
  case count:              \
    return pack_blocks<count>(symbols, codes, begin, end, stream);
    SORTIE_CASE(1)
    SORTIE_CASE(2)
    SORTIE_CASE(3)
    SORTIE_CASE(4)
    SORTIE_CASE(5)
    SORTIE_CASE(6)
    SORTIE_CASE(7)
    SORTIE_CASE(8)
#undef SORTIE_CASE
    default:
      return begin;
  }
}

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
  const auto write = [=](std::uint64_t block, const std::array<std::uint16_t, 8>& codes) {
    // Up to 72 bits: seven codes and the high bits of the last one, then its last byte.
    std::uint64_t packed = 0;
    for (std::size_t i = 0; i < 7; ++i) packed = packed << bits | codes[i];
    std::uint8_t* const to = stream + block * bits;
    if (bits <= 8) {
      packed = (packed << bits | codes[7]) << (64 - 8 * bits);
    } else {
      packed = packed << 1 | codes[7] >> 8;
      to[8] = static_cast<std::uint8_t>(codes[7]);
    }
    for (unsigned byte = 0; byte < std::min(bits, 8U); ++byte) {
      to[byte] = static_cast<std::uint8_t>(packed >> (56 - 8 * byte));
    }
  };
  ByteCodes codes{};
  for (std::size_t byte = 0; byte < codes.size(); ++byte) {
    codes[byte] = static_cast<std::uint8_t>(plan.code[byte]);
  }
  for_each_share(thread_shares(blocks), [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    begin = pack_blocks(bits, symbols, codes, begin, end, stream);
    for (std::uint64_t block = begin; block < end; ++block) {
      std::array<std::uint16_t, 8> of_block;
      for (std::size_t i = 0; i < 8; ++i) {
        of_block[i] = plan.code[symbols[block * symbols_at_once + i]];
      }
      write(block, of_block);
    }
  });
  std::array<std::uint16_t, 8> last{};
  for (std::uint64_t i = blocks * symbols_at_once; i < size; ++i) {
    last[i % symbols_at_once] = plan.code[symbols[i]];
  }
  write(blocks, last);
  std::fill_n(stream + (blocks + 1) * bits, 2 * sizeof(std::uint64_t), std::uint8_t{0});

  // Separators become 0 afterwards, since the byte of a separator may be a letter elsewhere.
  for (const std::uint64_t separator : text.separators) {
    for (std::uint64_t bit = separator * bits; bit < (separator + 1) * bits; ++bit) {
      stream[bit / 8] &= static_cast<std::uint8_t>(~(0x80U >> (bit % 8)));
    }
  }
}

}  // namespace sortie::suffix_array::host
