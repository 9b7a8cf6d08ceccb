// SPDX-License-Identifier: Apache-2.0
#include "primitives/host/packed_codes.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "primitives/host/radix_pass.hpp"

namespace sortie {
namespace {

/// Packs all groups but the last one. Each writes eight bytes, all but the first `Bits` of which
/// the next group overwrites: bytes behind the last one must not be written.
/// \return the groups packed
template <unsigned Bits>
std::uint64_t pack_groups(const std::uint8_t* symbols, const std::array<std::uint8_t, 256>& codes,
                          std::uint64_t groups, std::uint8_t* to) {
  static_assert(Bits <= 8);
  // So many groups follow the bytes that the last of them writes.
  constexpr std::uint64_t left = (sizeof(std::uint64_t) + Bits - 1) / Bits - 1;
  std::uint64_t group = 0;
  for (; group + left < groups; ++group) {
    const std::uint8_t* const of_group = symbols + group * codes_in_group;
    std::uint64_t packed = 0;
    for (std::size_t i = 0; i < codes_in_group; ++i) packed = packed << Bits | codes[of_group[i]];
    packed <<= 64 - 8 * Bits;
    if constexpr (std::endian::native == std::endian::little) packed = __builtin_bswap64(packed);
    std::memcpy(to + group * Bits, &packed, sizeof(packed));
  }
  return group;
}

template <unsigned Bits>
void unpack_groups(const std::uint8_t* from, const std::array<std::uint8_t, 256>& symbols,
                   std::uint64_t groups, std::uint8_t* to) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << Bits) - 1;
  for (std::uint64_t group = 0; group < groups; ++group) {
    std::uint64_t packed;
    std::memcpy(&packed, from + group * Bits, sizeof(packed));
    if constexpr (std::endian::native == std::endian::little) packed = __builtin_bswap64(packed);
    for (unsigned i = 0; i < codes_in_group; ++i)
      to[group * codes_in_group + i] = symbols[packed >> (64 - (i + 1) * Bits) & mask];
  }
}

using PackGroups = decltype(&pack_groups<1>);
using UnpackGroups = decltype(&unpack_groups<1>);
/// By the number of bits.
constexpr std::array<PackGroups, 9> packs{nullptr,        pack_groups<1>, pack_groups<2>,
                                          pack_groups<3>, pack_groups<4>, pack_groups<5>,
                                          pack_groups<6>, pack_groups<7>, pack_groups<8>};
constexpr std::array<UnpackGroups, 9> unpacks{nullptr,          unpack_groups<1>, unpack_groups<2>,
                                              unpack_groups<3>, unpack_groups<4>, unpack_groups<5>,
                                              unpack_groups<6>, unpack_groups<7>, unpack_groups<8>};

}  // namespace

void pack_codes(std::span<const std::uint8_t> symbols, const ByteCodes& codes, unsigned bits,
                std::uint8_t* to) {
  const std::uint64_t groups = (symbols.size() + codes_in_group - 1) / codes_in_group;
  std::uint64_t group = 0;
  if (bits < packs.size()) {
    std::array<std::uint8_t, 256> narrow{};
    std::ranges::transform(codes, narrow.begin(),
                           [](auto code) { return static_cast<std::uint8_t>(code); });
    group = packs[bits](symbols.data(), narrow, symbols.size() / codes_in_group, to);
  }
  for (; group < groups; ++group) {
    DoubleWord packed = 0;  // up to 72 bits
    const std::uint64_t first = group * codes_in_group;
    for (std::uint64_t i = first; i < first + codes_in_group; ++i)
      packed = packed << bits | (i < symbols.size() ? codes[symbols[i]] : 0U);
    for (unsigned byte = 0; byte < bits; ++byte)
      to[group * bits + byte] = static_cast<std::uint8_t>(packed >> (8 * (bits - 1 - byte)));
  }
}

void unpack_codes(const std::uint8_t* from, unsigned bits,
                  const std::array<std::uint8_t, 256>& symbols, std::span<std::uint8_t> to) {
  const std::uint64_t groups = to.size() / codes_in_group;
  unpacks[bits](from, symbols, groups, to.data());
  if (to.size() % codes_in_group == 0) return;
  std::array<std::uint8_t, codes_in_group> last{};
  unpacks[bits](from + groups * bits, symbols, 1, last.data());
  std::ranges::copy(std::span(last).first(to.size() % codes_in_group),
                    to.begin() + static_cast<std::ptrdiff_t>(groups * codes_in_group));
}

}  // namespace sortie
