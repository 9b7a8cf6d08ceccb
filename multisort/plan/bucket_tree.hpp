#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/multisort/plan/radix_partition.hpp"

namespace sortie::multisort::plan {

/// Leads from a key to its bucket: one table of digits for each bucket that was refined.
///
/// Where no bucket but the first was refined, which is so for keys that spread evenly, that is one
/// look-up. The tables are plain arrays, so that they can be copied to a device.
class BucketTree {
 public:
  struct Node {
    int shift = 0;            ///< of the digit within the key
    std::uint32_t mask = 0;   ///< of the digit after the shift
    std::uint32_t first = 0;  ///< entry of digit 0
  };

  /// \pre partition.refinements().empty()
  explicit BucketTree(const RadixPartition& partition);

  /// Leads from keys to buckets by tables that belong to a tree, or to a copy of them.
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

  /// The number of the bucket that holds `key`, a key of the array that was counted.
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
