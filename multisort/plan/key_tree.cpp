// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/key_tree.hpp"

#include <map>
#include <utility>

namespace sortie::multisort::plan {

KeyRange keys_of_prefix(std::uint64_t prefix, int prefix_bits, int key_bits) {
  const int open = key_bits - prefix_bits;
  if (open == 0) return {prefix, prefix};
  const std::uint64_t least = open == 64 ? 0 : prefix << open;
  return {least, least | ~std::uint64_t{0} >> (64 - open)};
}

KeyTree key_tree_of(const RadixPartition& partition, const std::vector<std::uint16_t>& groups) {
  // Maps (bits, prefix) to the group of a bucket, or to the node of a refined bucket.
  std::map<std::pair<int, std::uint64_t>, std::size_t> known;
  for (std::size_t b = 0; b < groups.size(); ++b) {
    const Bucket& bucket = partition.buckets()[b];
    known[{bucket.prefix_bits, bucket.prefix}] = groups[b];
  }
  for (std::size_t i = 0; i < partition.refined().size(); ++i) {
    const Refinement& refined = partition.refined()[i];
    known[{refined.prefix_bits, refined.prefix}] = KeyTree::node_flag | i;
  }

  const int key_bits = partition.problem().key_bits;
  KeyTree tree;
  for (const Refinement& refined : partition.refined()) {
    const int child_bits = refined.prefix_bits + refined.digit_bits;
    tree.nodes.push_back({keys_of_prefix(refined.prefix, refined.prefix_bits, key_bits).least,
                          key_bits - child_bits, static_cast<std::uint32_t>(refined.digits() - 1),
                          static_cast<std::uint32_t>(tree.entries.size())});
    for (std::uint64_t digit = 0; digit < refined.digits(); ++digit) {
      const auto child = known.find({child_bits, refined.prefix << refined.digit_bits | digit});
      // A digit without keys has no bucket; its entry is never read.
      tree.entries.push_back(static_cast<std::uint16_t>(child == known.end() ? 0 : child->second));
    }
  }
  return tree;
}

}  // namespace sortie::multisort::plan
