#pragma once

#include <cstdint>

#include "sortie/multisort/cuda/partition_kernels.hpp"

namespace sortie::multisort {

/// One digit of the key is its group.
template <class Word>
class DirectLookup {
 public:
  struct Tables {};  ///< in shared memory

  __device__ DirectLookup(const GroupLookup& lookup, Tables&)
      : shift_(lookup.shift), mask_(lookup.mask) {}
  [[nodiscard]] __device__ std::uint32_t operator()(Word key) const {
    return static_cast<std::uint32_t>(key >> shift_) & mask_;
  }

 private:
  int shift_;
  std::uint32_t mask_;
};

/// From table to table, as plan::BucketTree leads. Tables of a few nodes, which is what two or
/// three devices need, are brought to shared memory, where a warp's 32 places in a table cost a
/// fraction of what they cost in the cache; larger ones stay in global memory.
template <class Word>
class TreeLookup {
 public:
  /// A plan::BucketTree::Node, whose members have initial values, which shared memory cannot have.
  struct Node {
    int shift;
    std::uint32_t mask;
    std::uint32_t first;
  };
  static_assert(sizeof(Node) == sizeof(plan::BucketTree::Node));
  struct Tables {
    Node nodes[8];
    std::int32_t entries[4096];
  };

  /// Called by all threads of a block.
  __device__ TreeLookup(const GroupLookup& lookup, Tables& tables)
      : nodes_(reinterpret_cast<const Node*>(lookup.nodes)),
        entries_(lookup.entries),
        root_(lookup.root) {
    if (lookup.node_count <= sizeof(tables.nodes) / sizeof(Node) &&
        lookup.entry_count <= sizeof(tables.entries) / sizeof(std::int32_t)) {
      for (std::uint32_t i = threadIdx.x; i < lookup.node_count; i += blockDim.x)
        tables.nodes[i] = nodes_[i];
      for (std::uint32_t i = threadIdx.x; i < lookup.entry_count; i += blockDim.x)
        tables.entries[i] = lookup.entries[i];
      __syncthreads();
      nodes_ = tables.nodes;
      entries_ = tables.entries;
    }
  }
  [[nodiscard]] __device__ std::uint32_t operator()(Word key) const {
    std::int32_t entry = root_;
    while (entry < 0) {
      const Node& node = nodes_[~entry];
      entry = entries_[node.first + (static_cast<std::uint32_t>(key >> node.shift) & node.mask)];
    }
    return static_cast<std::uint32_t>(entry);
  }

 private:
  const Node* nodes_;
  const std::int32_t* entries_;
  std::int32_t root_;
};

}  // namespace sortie::multisort
