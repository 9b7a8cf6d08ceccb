// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/text/prefix_code.hpp"

#include <bit>
#include <numeric>

namespace sortie::suffix_array::cuda {
namespace {

/// The number of leaves of the tree of a depth, or a number above `most` if there are more.
std::uint64_t count_leaves(const PrefixCode& code, int symbols, std::uint64_t most) {
  std::uint64_t leaves = 1;
  for (int i = 0; i < symbols && leaves <= most; ++i) {
    leaves =
        static_cast<std::uint64_t>(code.common) * leaves + static_cast<std::uint64_t>(code.rare);
  }
  return leaves;
}

}  // namespace

PrefixCode plan_prefix_code(const std::array<bool, 256>& occurs,
                            const std::array<std::uint64_t, 256>& starts, int bits) {
  PrefixCode code;
  for (const bool letter : occurs) code.sigma += letter ? 1 : 0;
  const std::uint64_t all = std::accumulate(starts.begin(), starts.end(), std::uint64_t{0});

  std::uint32_t letters_below = 0;
  std::uint32_t rare_below = 1;  // the end
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (!occurs[byte]) continue;
    const bool is_rare = starts[byte] * 8 * static_cast<std::uint64_t>(code.sigma) < all;
    const std::uint32_t common_below = letters_below - (rare_below - 1);
    code.letters[byte] = common_below | rare_below << 16 | (is_rare ? PrefixCode::stop : 0U);
    code.codes[byte] = static_cast<std::uint16_t>(++letters_below);
    if (is_rare) ++rare_below;
  }
  code.rare = static_cast<int>(rare_below);
  code.common = code.sigma + 1 - code.rare;

  const std::uint64_t most_leaves = std::uint64_t{1} << (bits - 1);
  code.symbols = 1;
  while (code.symbols < PrefixCode::most_symbols &&
         count_leaves(code, code.symbols + 1, most_leaves) <= most_leaves) {
    ++code.symbols;
  }
  for (int i = 0; i <= code.symbols; ++i) {
    code.leaves[i] = count_leaves(code, code.symbols - i, most_leaves);
  }
  code.key_bits = static_cast<int>(std::bit_width(2 * code.leaves[0] - 1));
  return code;
}

}  // namespace sortie::suffix_array::cuda
