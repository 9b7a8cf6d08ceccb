// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/bucket_tree.hpp"

#include <map>
#include <utility>

namespace sortie::multisort::plan {

BucketTree::BucketTree(const RadixPartition& partition) : buckets_(partition.buckets().size()) {
  // Maps (bits, prefix) to a bucket, or to ~node of a refined bucket.
  std::map<std::pair<int, std::uint64_t>, std::int32_t> known;
  std::int32_t number = 0;
  for (const Bucket& bucket : partition.buckets())
    known[{bucket.prefix_bits, bucket.prefix}] = number++;
  number = 0;
  for (const Refinement& refined : partition.refined())
    known[{refined.prefix_bits, refined.prefix}] = ~number++;

  const int key_bits = partition.problem().key_bits;
  for (const Refinement& refined : partition.refined()) {
    const int child_bits = refined.prefix_bits + refined.digit_bits;
    nodes_.push_back({key_bits - child_bits, static_cast<std::uint32_t>(refined.digits() - 1),
                      static_cast<std::uint32_t>(entries_.size())});
    for (std::uint64_t digit = 0; digit < refined.digits(); ++digit) {
      const auto child = known.find({child_bits, refined.prefix << refined.digit_bits | digit});
      // A digit without keys has no bucket; its entry is never read.
      entries_.push_back(child == known.end() ? 0 : child->second);
    }
  }
  if (!nodes_.empty()) root_ = ~std::int32_t{0};
}

}  // namespace sortie::multisort::plan
