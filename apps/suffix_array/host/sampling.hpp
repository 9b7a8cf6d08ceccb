#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

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
    // Hashes of a window and more, each twice, so that any window is contiguous.
    std::array<std::uint32_t, 2 * ring> hashes;
    const auto remember = [&](std::uint64_t position) {
      const std::uint32_t hash = hash_at(position);
      hashes[position % ring] = hash;
      hashes[position % ring + ring] = hash;
      return hash;
    };
    for (std::uint64_t i = 1; i < window_; ++i) remember(last - 1 + i);
    std::uint64_t sample = last - 1 + window_;  // out of the window: forces a search
    std::uint32_t least = 0;
    for (std::uint64_t position = last; position-- > first;) {
      const std::uint32_t hash = remember(position);
      if (sample >= position + window_) {
        const std::uint32_t* const begin = hashes.data() + position % ring;
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
  }

 private:
  static constexpr std::uint64_t ring = 256;
  static constexpr std::uint64_t most_window = 128;

  [[nodiscard]] std::uint32_t hash_at(std::uint64_t position) const {
    const std::uint64_t word = stream_.word(position);
    const int bits = stream_.bits();
    const int below = (stream_.symbols() - static_cast<int>(hashed_)) * bits;
    const std::uint64_t repeats = (word ^ word << bits) >> ((stream_.symbols() - 1) * bits);
    // Only of the first two symbols: those that a shift pushes beyond the word do not count.
    const bool repeated = (repeats & ((std::uint64_t{1} << bits) - 1)) == 0;
    // Multiplicative hashing by 2^64 / golden ratio; the fold lets the highest bits, which depend
    // on all symbols, mix with the others once more.
    const std::uint64_t product = ((word >> below) + 1) * 0x9e3779b97f4a7c15U;
    const auto hash =
        static_cast<std::uint32_t>(((product ^ product >> 32) * 0xd6e8feb86659fd93U) >> 32);
    return repeated ? ~std::uint32_t{0} : hash >> 1;
  }

  const SymbolStream& stream_;
  std::uint64_t hashed_;
  std::uint64_t window_;
};

}  // namespace sortie::suffix_array::host
