// SPDX-License-Identifier: Apache-2.0

// Keys find the bucket that counted them.

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "multisort/plan/key_tree.hpp"
#include "primitives/host/parallel.hpp"
#include "tests/multisort/plan/key_tree_lookup.hpp"
#include "tests/multisort/plan/pretended_devices.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;

plan::RadixPartition partition_of(const Chunks& chunks, std::uint64_t n) {
  plan::PartitionProblem problem;
  problem.source_sizes = sizes_of(chunks);
  problem.destination_sizes = EqualShares{n, chunks.size()}.sizes();
  problem.always_divide = true;
  plan::RadixPartition partition(problem);
  answer(partition, chunks);
  return partition;
}

TEST(KeyTreeOfPartition, LeadsEveryKeyToTheBucketOfItsPrefix) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (const std::size_t devices : {1, 2, 3, 7, 16}) {
      const Chunks chunks = cut(draw_bits(distribution, 32, 10'007), devices, Cut::unequal);
      const plan::RadixPartition partition = partition_of(chunks, 10'007);
      const std::size_t buckets = partition.buckets().size();
      std::vector<std::uint16_t> groups(buckets);
      std::iota(groups.begin(), groups.end(), std::uint16_t{0});
      const plan::KeyTree tree = plan::key_tree_of(partition, groups);
      for (std::size_t d = 0; d < devices; ++d) {
        std::vector<std::uint64_t> counts(buckets, 0);
        for (const std::uint64_t key : chunks[d]) {
          const std::uint32_t bucket = group_of(tree, key);
          ASSERT_LT(bucket, buckets);
          const plan::Bucket& found = partition.buckets()[bucket];
          ASSERT_EQ(key >> (32 - found.prefix_bits), found.prefix);
          ++counts[bucket];
        }
        for (std::size_t b = 0; b < counts.size(); ++b)
          ASSERT_EQ(counts[b], partition.buckets()[b].counts[d]);
      }
    }
  }
}

}  // namespace
}  // namespace sortie::test
