#pragma once

#include <cstdint>

#include "sortie/multisort/cuda/partition_kernels.hpp"

namespace sortie::multisort {

/// One digit of the key is its group.
template <class Word>
class DirectLookup {
 public:
  static constexpr bool is_costly = false;  ///< better remembered than asked again
  struct Tables {};                         ///< in shared memory

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
  static constexpr bool is_costly = true;
  /// A plan::BucketTree::Node, read by one instruction; and without initial values, which shared
  /// memory cannot have.
  struct alignas(16) Node {
    int shift;
    std::uint32_t mask;
    std::uint32_t first;
    std::uint32_t unused;
  };
  struct Tables {
    Node nodes[8];
    std::int32_t entries[4096];
  };

  /// Called by all threads of a block.
  __device__ TreeLookup(const GroupLookup& lookup, Tables& tables)
      : nodes_(lookup.nodes), entries_(lookup.entries), root_(lookup.root) {
    if (lookup.node_count > sizeof(tables.nodes) / sizeof(Node) ||
        lookup.entry_count > sizeof(tables.entries) / sizeof(std::int32_t))
      return;
    for (std::uint32_t i = threadIdx.x; i < lookup.node_count; i += blockDim.x)
      tables.nodes[i] = {nodes_[i].shift, nodes_[i].mask, nodes_[i].first, 0};
    for (std::uint32_t i = threadIdx.x; i < lookup.entry_count; i += blockDim.x)
      tables.entries[i] = entries_[i];
    near_ = &tables;
    __syncthreads();
  }
  [[nodiscard]] __device__ std::uint32_t operator()(Word key) const {
    std::int32_t entry = root_;
    if (near_ != nullptr) {
      while (entry < 0) {
        const Node node = near_->nodes[~entry];
        entry = near_->entries[node.first + digit(key, node.shift, node.mask)];
      }
    } else {
      while (entry < 0) {
        const plan::BucketTree::Node node = nodes_[~entry];
        entry = entries_[node.first + digit(key, node.shift, node.mask)];
      }
    }
    return static_cast<std::uint32_t>(entry);
  }

 private:
  [[nodiscard]] __device__ static std::uint32_t digit(Word key, int shift, std::uint32_t mask) {
    return static_cast<std::uint32_t>(key >> shift) & mask;
  }

  const plan::BucketTree::Node* nodes_;
  const std::int32_t* entries_;
  std::int32_t root_;
  const Tables* near_ = nullptr;
};

}  // namespace sortie::multisort
