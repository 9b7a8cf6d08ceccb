// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "multisort/plan/radix_partition.hpp"

namespace sortie::multisort::plan {

/// The look-up from a key to its bucket: one table of digits for each refined bucket.
///
/// If only the first bucket was refined, as for evenly spread keys, this is one access. The tables
/// are plain arrays that can be copied to a device.
class BucketTree {
 public:
  struct Node {
    int shift = 0;            ///< lowest bit of the digit
    std::uint32_t mask = 0;   ///< mask of the digit after the shift
    std::uint32_t first = 0;  ///< entry of digit 0
  };

  /// \pre partition.refinements().empty()
  explicit BucketTree(const RadixPartition& partition);

  /// The look-up by the tables of a tree, or by a copy of them.
  struct Lookup {
    const Node* nodes;
    const std::int32_t* entries;
    std::int32_t root;  ///< a bucket, or ~node

    [[nodiscard]] std::uint32_t operator()(std::uint64_t key) const {
      std::int32_t entry = root;
      while (entry < 0) {
        const Node& node = nodes[~entry];
        entry = entries[node.first + ((key >> node.shift) & node.mask)];
      }
      return static_cast<std::uint32_t>(entry);
    }
  };
  [[nodiscard]] Lookup lookup() const { return {nodes_.data(), entries_.data(), root_}; }

  /// The index of the bucket that holds `key`. \pre the key was counted
  [[nodiscard]] std::uint32_t bucket_of(std::uint64_t key) const { return lookup()(key); }

  [[nodiscard]] std::size_t buckets() const { return buckets_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// For each digit of each node: a bucket, or ~node.
  [[nodiscard]] const std::vector<std::int32_t>& entries() const { return entries_; }

 private:
  std::size_t buckets_;
  std::int32_t root_ = 0;  ///< bucket 0, or ~node
  std::vector<Node> nodes_;
  std::vector<std::int32_t> entries_;
};

}  // namespace sortie::multisort::plan
