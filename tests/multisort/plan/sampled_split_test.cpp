// SPDX-License-Identifier: Apache-2.0

// Splits found by samples are those that are found item by item.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "core/random.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "multisort/plan/sampled_split.hpp"
#include "tests/multisort/distributions.hpp"
#include "tests/multisort/plan/pretended_devices.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;

/// Compares with split_at_rank() at these ranks. \return rounds of questions
int check(const Chunks& sequences, const std::vector<std::uint64_t>& ranks, std::uint64_t samples) {
  const std::vector<std::uint64_t> sizes = sizes_of(sequences);
  int rounds = 0;
  const auto fetch = [&](std::span<const plan::SampleRange> ranges) {
    ++rounds;
    std::vector<std::uint64_t> keys;
    for (const plan::SampleRange& range : ranges) {
      EXPECT_LE(range.count, samples);
      for (std::uint64_t i = 0; i < range.count; ++i)
        keys.push_back(sequences.at(range.sequence).at(range.first + i * range.stride));
    }
    return keys;
  };
  const auto splits = plan::split_by_samples(sizes, ranks, samples, fetch, std::less<>{});
  const auto read = [&](std::size_t s, std::uint64_t i) { return sequences.at(s).at(i); };
  for (std::size_t i = 0; i < ranks.size(); ++i)
    EXPECT_EQ(splits.at(i), plan::split_at_rank(sizes, ranks[i], read, std::less<>{}))
        << "rank " << ranks[i] << ", " << sequences.size() << " sequences";
  return rounds;
}

TEST(SampledSplit, EveryRankOfShortSequencesWithManyEqualKeys) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    Chunks sequences(1 + random.below(8));
    const std::uint64_t values = 1 + random.below(6);
    for (auto& sequence : sequences) {
      sequence.resize(random.below(40));
      for (std::uint64_t& key : sequence) key = random.below(values);
      std::sort(sequence.begin(), sequence.end());
    }
    const auto sizes = sizes_of(sequences);
    std::vector<std::uint64_t> ranks(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}) +
                                     1);
    std::iota(ranks.begin(), ranks.end(), 0);
    check(sequences, ranks, 4 * sequences.size());
    if (HasFailure()) return;
  }
}

TEST(SampledSplit, EveryDistribution) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (std::size_t count = 1; count <= 16; count += 3) {
      Chunks sequences;
      std::uint64_t items = 0;
      for (std::size_t s = 0; s < count; ++s) {
        sequences.push_back(draw_bits(distribution, 32, s == 1 ? 3000 : 11 * s * s, s));
        std::sort(sequences.back().begin(), sequences.back().end());
        items += sequences.back().size();
      }
      check(sequences, {0, items / 3, items / 2, items - items / 5, items}, 4 * count);
      if (HasFailure()) return;
    }
  }
}

TEST(SampledSplit, FewRounds) {
  Chunks sequences;
  for (std::uint64_t s = 0; s < 4; ++s) {
    sequences.push_back(
        draw_bits({"uniform", Distribution::Kind::uniform}, 64, 1'000'000 + 1000 * s, s));
    std::sort(sequences.back().begin(), sequences.back().end());
  }
  EXPECT_LE(check(sequences, {1'000'000, 2'001'000, 3'003'000}, 1024), 3);
}

}  // namespace
}  // namespace sortie::test
