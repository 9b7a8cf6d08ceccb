#pragma once

#include <cstdint>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/multisort/cuda/partition_kernels.hpp"
#include "sortie/multisort/plan/key_tree.hpp"

namespace sortie::multisort {

/// The tables of a tree in the memory of the current device.
class GroupTables {
 public:
  GroupTables() = default;
  /// \pre the tree has a root
  GroupTables(const plan::KeyTree& tree, cudaStream_t stream)
      : nodes_(tree.nodes, stream), entries_((tree.entries.size() + 7) / 8 * 8, stream) {
    entries_.copy_from(tree.entries);
    lookup_.direct = false;
    lookup_.nodes = nodes_.data();
    lookup_.entries = entries_.data();
    lookup_.node_count = static_cast<std::uint32_t>(nodes_.size());
    lookup_.entry_count = static_cast<std::uint32_t>(entries_.size());
    lookup_.root = tree.nodes.front();
    lookup_.mantissa_bits = tree.mantissa_bits;
  }

  /// For kernels of that device; valid as long as the object.
  [[nodiscard]] const GroupLookup& lookup() const { return lookup_; }

 private:
  DeviceBuffer<plan::KeyTree::Node> nodes_;
  DeviceBuffer<std::uint16_t> entries_;
  GroupLookup lookup_;
};

}  // namespace sortie::multisort
