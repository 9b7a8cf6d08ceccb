// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "apps/genome_matches/letters.hpp"
#include "apps/genome_matches/seed_index.hpp"
#include "apps/genome_matches/suffix_index.hpp"
#if defined(SORTIE_HAVE_CUDA)
#include "apps/genome_matches/cuda/device_matches.hpp"
#endif
#include "sortie/genome_matches.hpp"
#include "sortie/text.hpp"

/// Internal to genome_matches: the searches of ranges of a query.
namespace sortie::genome_matches {

struct MatchIndex::State {
  sequences::Text reference;
  MatchOptions options;
  std::optional<SeedIndex> seeds;  ///< for all maximal matches
  // One of them, for unique matches and statistics.
  std::optional<SuffixIndex<std::uint32_t>> suffixes;
  std::optional<SuffixIndex<std::uint64_t>> wide_suffixes;
#if defined(SORTIE_HAVE_CUDA)
  std::unique_ptr<DeviceMatches> device;  ///< of `suffixes`; null on the host
#endif

  /// Matches that begin within a range of the query, ascending, a part at a time. Kind::unique:
  /// those that are unique in the reference, since the others depend on the whole query.
  void find(Letters query, QueryRange range, const SeedIndex::Use& use) const;
  /// Appends to `runs`.
  void find_statistics(Letters query, QueryRange range, std::vector<StatisticsRun>& runs) const;
};

/// Appends runs of the range of a query that follows. Joins the last one and the first one if the
/// same match ends them.
void append_runs(std::vector<StatisticsRun>& runs, std::span<const StatisticsRun> next);

}  // namespace sortie::genome_matches
