// SPDX-License-Identifier: Apache-2.0

// Keys find the bucket that counted them.

#include <gtest/gtest.h>

#include <cstdint>

#include "multisort/plan/bucket_tree.hpp"
#include "primitives/host/shares.hpp"
#include "tests/multisort/plan/pretended_devices.hpp"

namespace sortie::test {
namespace {

namespace plan = multisort::plan;

plan::RadixPartition partition_of(const Chunks& chunks, std::uint64_t n) {
  plan::PartitionProblem problem;
  problem.source_sizes = sizes_of(chunks);
  problem.destination_sizes = EqualShares{n, chunks.size()}.sizes();
  plan::RadixPartition partition(problem);
  answer(partition, chunks);
  return partition;
}

TEST(BucketTree, LeadsEveryKeyToTheBucketOfItsPrefix) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    for (const std::size_t devices : {1, 2, 3, 7, 16}) {
      const Chunks chunks = cut(draw_bits(distribution, 32, 10'007), devices, Cut::unequal);
      const plan::RadixPartition partition = partition_of(chunks, 10'007);
      const plan::BucketTree tree(partition);
      ASSERT_EQ(tree.buckets(), partition.buckets().size());
      for (std::size_t d = 0; d < devices; ++d) {
        std::vector<std::uint64_t> counts(tree.buckets(), 0);
        for (const std::uint64_t key : chunks[d]) {
          const std::uint32_t bucket = tree.bucket_of(key);
          ASSERT_LT(bucket, tree.buckets());
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

TEST(BucketTree, WithoutRefinementsEverythingIsInTheOneBucket) {
  const Chunks chunks{{5, 3, 9}};
  const plan::BucketTree tree(partition_of(chunks, 3));
  EXPECT_EQ(tree.buckets(), 1u);
  EXPECT_TRUE(tree.nodes().empty());
  EXPECT_EQ(tree.bucket_of(0xffffffff), 0u);
}

}  // namespace
}  // namespace sortie::test
