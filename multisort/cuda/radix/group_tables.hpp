// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "multisort/cuda/radix/partition_kernels.hpp"
#include "multisort/plan/key_tree.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::multisort {

/// The tables of a plan::KeyTree in the memory of the current device.
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

  /// For kernels on that device; valid during the lifetime of the object.
  [[nodiscard]] const GroupLookup& lookup() const { return lookup_; }

 private:
  DeviceBuffer<plan::KeyTree::Node> nodes_;
  DeviceBuffer<std::uint16_t> entries_;
  GroupLookup lookup_;
};

}  // namespace sortie::multisort
