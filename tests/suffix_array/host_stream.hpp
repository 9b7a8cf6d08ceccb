// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "apps/suffix_array/cuda/text/symbol_stream.cuh"
#include "sortie/suffix_array.hpp"

namespace sortie::test {

/// A SymbolStream as pack_text writes it.
struct HostStream {
  std::vector<std::uint64_t> words;
  suffix_array::cuda::SymbolStream stream{};

  explicit HostStream(const suffix_array::TextView& text) {
    std::vector<bool> is_end(text.size());
    for (const std::uint64_t separator : text.separators) is_end[separator] = true;
    std::array<bool, 256> occurs{};
    for (std::uint64_t i = 0; i < text.size(); ++i) {
      if (!is_end[i]) occurs[text.symbols[i]] = true;
    }
    std::array<std::uint64_t, 256> codes{};
    std::uint64_t sigma = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (occurs[byte]) codes[byte] = ++sigma;
    }
    const int bits = std::max(static_cast<int>(std::bit_width(sigma)), 1);
    words.resize(text.size() * static_cast<std::uint64_t>(bits) / 64 + 3);
    for (std::uint64_t i = 0; i < text.size(); ++i) {
      if (is_end[i]) continue;
      for (int bit = 0; bit < bits; ++bit) {
        const std::uint64_t at = i * static_cast<std::uint64_t>(bits) + static_cast<unsigned>(bit);
        words[at / 64] |= (codes[text.symbols[i]] >> (bits - 1 - bit) & 1) << (63 - at % 64);
      }
    }
    stream = {words.data(), nullptr, nullptr, bits, 1, 0};
    for (int i = 0; i < stream.window_symbols(64); ++i) {
      stream.lowest_bits |= std::uint64_t{1} << (i * bits);
    }
  }
};

}  // namespace sortie::test
