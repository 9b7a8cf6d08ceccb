#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sortie/apps/suffix_array/host/symbol_hashes.hpp"
#include "sortie/apps/suffix_array/host/symbol_stream.hpp"

namespace sortie::suffix_array::host {

/// Chooses, for every suffix of a group, a sample a little further on, by nothing but symbols in
/// which all members of its group agree: they have their samples at equal distances, so that the
/// order of the samples is the order of the suffixes.
///
/// The sample of p is the position with the least hash of hashed() symbols among p .. p + window()
/// - 1, the first of them if there are several (a minimizer; Roberts et al., Bioinformatics 2004).
/// Neighbouring suffixes mostly share one: some 2 / (window() + 1) of all positions are samples.
///
/// Positions whose symbol is the same as the next are taken only where there are no others in the
/// window, that is where a run is longer than it: there the sample of p is p.
class Sampling {
 public:
  /// \param first_depth  symbols that the first sort compares, and so at most the letters of a run
  ///                     that is no long one (runs.hpp); the window is no shorter
  /// \param depth_limit  symbols in which the members of a group agree
  Sampling(const SymbolStream& stream, std::uint64_t first_depth, std::uint64_t depth_limit)
      : stream_(stream),
        hashed_(std::clamp(depth_limit / 6, std::uint64_t{2},
                           static_cast<std::uint64_t>(stream.symbols()))),
        window_(std::max(first_depth, std::min(depth_limit - hashed_, most_window))) {}

  [[nodiscard]] std::uint64_t window() const { return window_; }
  [[nodiscard]] std::uint64_t hashed() const { return hashed_; }

  /// Calls visit(position, sample of it) for all positions of [first, last), last one first. All
  /// symbols that decide them must lie within the text: `first` is a member of a group, and each
  /// other follows one.
  template <class Visit>
  void for_each(std::uint64_t first, std::uint64_t last, const Visit& visit) const {
    // Hashes of a block of positions, and behind it of the rest of their windows.
    std::array<std::uint32_t, block + longest_window> hashes;
    const std::uint64_t rest = window_ - 1;
    hash_symbols(stream_, hashed_, last, rest, hashes.data() + block);
    std::uint64_t sample = last + rest;  // out of the window: forces a search
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
      // Blocks but the first of the text are longer than what is behind them.
      if (block_begin > first) std::copy_n(of_block, rest, hashes.data() + block);
      block_end = block_begin;
    }
  }

 private:
  static constexpr std::uint64_t most_window = 128;
  /// The first sort compares 64 symbols at most.
  static constexpr std::uint64_t longest_window = most_window;
  static constexpr std::uint64_t block = 512;

  const SymbolStream& stream_;
  std::uint64_t hashed_;
  std::uint64_t window_;
};

}  // namespace sortie::suffix_array::host
