// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "apps/suffix_array/host/text/symbol_stream.hpp"
#include "primitives/simd/vector_unit.hpp"

namespace sortie::suffix_array::host {

/// Hashes of `hashed` symbols from each of n consecutive positions: below 2^31, and the greatest
/// 32-bit number where the first two symbols are equal.
///
/// \param hashed  1 to stream.symbols()
/// \param first   position of the first hash; all symbols that are read lie within the text
/// \param hashes  n of them
/// \param unit    vector_unit(), or a lesser unit
void hash_symbols(const SymbolStream& stream, std::uint64_t hashed, std::uint64_t first,
                  std::uint64_t n, std::uint32_t* hashes, VectorUnit unit = vector_unit());

/// Chooses, for every suffix of a group, a sample a few symbols ahead, from symbols in which all
/// members of its group agree: these have their samples at equal distances, so the order of the
/// samples is the order of the suffixes.
///
/// The sample of p is the position with the least hash of hashed() symbols among p ..
/// p + window() - 1, the first of them if there are several (a minimizer; Roberts et al.,
/// Bioinformatics 2004). Neighbouring suffixes mostly share one: about 2 / (window() + 1) of all
/// positions are samples, 3 % for DNA (window 67).
///
/// Positions whose symbol equals the next one are chosen only if the window has no others, that is
/// where a run is longer than the window: there the sample of p is p.
class Sampling {
 public:
  /// \param first_depth  symbols that the first sort compares, and so at most the letters of a run
  ///                     that is not a long run (runs.hpp); the window is at least as long
  /// \param depth_limit  symbols in which the members of a group agree
  Sampling(const SymbolStream& stream, std::uint64_t first_depth, std::uint64_t depth_limit)
      : stream_(stream),
        hashed_(std::clamp(depth_limit / 6, std::uint64_t{2},
                           static_cast<std::uint64_t>(stream.symbols()))),
        window_(std::max(first_depth, std::min(depth_limit - hashed_, most_window))) {}

  [[nodiscard]] std::uint64_t window() const { return window_; }
  [[nodiscard]] std::uint64_t hashed() const { return hashed_; }

  /// Calls visit(position, sample of it) for all positions of [first, last), last one first. All
  /// symbols that the choice depends on must lie within the text: `first` is a member of a group,
  /// and each other position follows one.
  template <class Visit>
  void for_each(std::uint64_t first, std::uint64_t last, const Visit& visit) const {
    // Hashes of a block of positions, followed by those of the rest of the last window.
    std::array<std::uint32_t, block + most_window> hashes;
    const std::uint64_t rest = window_ - 1;
    hash_symbols(stream_, hashed_, last, rest, hashes.data() + block);
    std::uint64_t sample = last + rest;  // outside the window: forces a search
    std::uint32_t least = 0;
    for (std::uint64_t block_end = last; block_end > first;) {
      const std::uint64_t size = std::min(block, block_end - first);
      const std::uint64_t block_begin = block_end - size;
      std::uint32_t* const of_block = hashes.data() + (block - size);
      hash_symbols(stream_, hashed_, block_begin, size, of_block);
      for (std::uint64_t i = size; i-- > 0;) {
        const std::uint64_t position = block_begin + i;
        const std::uint32_t hash = of_block[i];
        if (sample >= position + window_) {
          const std::uint32_t* const begin = of_block + i;
          const std::uint32_t* const end = begin + window_;
          least = *begin;
          for (const std::uint32_t* other = begin; other < end; ++other) {
            least = *other < least ? *other : least;
          }
          sample = position + static_cast<std::uint64_t>(std::find(begin, end, least) - begin);
        } else if (hash <= least) {
          least = hash;
          sample = position;
        }
        visit(position, sample);
      }
      // All blocks except the last one visited are longer than `rest`: the copy does not overlap.
      if (block_begin > first) std::copy_n(of_block, rest, hashes.data() + block);
      block_end = block_begin;
    }
  }

 private:
  static constexpr std::uint64_t most_window = 128;  ///< the first sort compares 64 symbols at most
  static constexpr std::uint64_t block = 512;

  const SymbolStream& stream_;
  std::uint64_t hashed_;
  std::uint64_t window_;
};

}  // namespace sortie::suffix_array::host
