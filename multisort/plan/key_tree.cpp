#include "sortie/multisort/plan/key_tree.hpp"

namespace sortie::multisort::plan {

KeyTree key_tree_of(const RadixPartition& partition, const std::vector<std::uint16_t>& groups) {
  const BucketTree buckets(partition);
  KeyTree tree;
  for (std::size_t i = 0; i < buckets.nodes().size(); ++i) {
    const BucketTree::Node& node = buckets.nodes()[i];
    const Refinement& refined = partition.refined()[i];
    const int open = partition.problem().key_bits - refined.prefix_bits;
    tree.nodes.push_back(
        {open == 64 ? 0 : refined.prefix << open, node.shift, node.mask, node.first});
  }
  for (const std::int32_t entry : buckets.entries())
    tree.entries.push_back(entry >= 0 ? groups[static_cast<std::size_t>(entry)]
                                      : static_cast<std::uint16_t>(KeyTree::node_flag | ~entry));
  return tree;
}

}  // namespace sortie::multisort::plan
