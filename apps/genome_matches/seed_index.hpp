// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/genome_matches/letters.hpp"
#include "core/host_memory.hpp"
#include "sortie/context.hpp"
#include "sortie/genome_matches.hpp"

namespace sortie::genome_matches {

/// How the reference is sampled.
struct SeedShape {
  std::uint64_t length = 0;  ///< k: letters of a seed
  std::uint64_t step = 0;    ///< s: seeds begin at the multiples of s

  /// Every match of `min_length` letters contains a whole seed: k + s - 1 = min_length.
  [[nodiscard]] static SeedShape of(std::uint64_t min_length);
  [[nodiscard]] std::uint64_t seeds_of(std::uint64_t symbols) const {
    return symbols < length ? 0 : (symbols - length) / step + 1;
  }
};

/// The sampled k-mers of a reference, sorted by their hashes, and all maximal matches by them.
///
/// Each match is found at the first seed in it: the letters before the seed agree in fewer than s
/// positions. A run of one letter, such as N, contains as many seeds as it is long, and one query
/// has it as often; but only seeds and positions near the begin of their runs pass that test. So
/// seeds that lie deeper in a run have another hash, which is looked up near the begin of a run of
/// the query only.
class SeedIndex {
 public:
  SeedIndex() = default;
  /// \pre the host runtime runs
  SeedIndex(const Context& context, Letters reference, std::uint64_t min_length);

  [[nodiscard]] static std::uint64_t bytes_of(std::uint64_t symbols, std::uint64_t min_length);

  /// Matches that begin within a range of the query, ascending, a part at a time.
  using Use = std::function<void(std::span<const Match>)>;
  void find(Letters reference, Letters query, QueryRange range, const Use& use) const;

 private:
  class Search;

  SeedShape shape_;
  std::uint64_t min_length_ = 0;
  int bucket_bits_ = 0;
  /// The hash in the upper half, the number of the seed in the lower half; ascending.
  std::vector<std::uint64_t> seeds_;
  HostArray<std::uint32_t> begins_;  ///< of the seeds of each bucket, by the first bits of the hash
};

}  // namespace sortie::genome_matches
