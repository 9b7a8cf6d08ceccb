// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "multisort/plan/key_tree.hpp"

namespace sortie::test {

/// The group of a key, as the kernels look it up (multisort/cuda/radix/group_lookup.cuh), but on the
/// host and in the plainest way.
[[nodiscard]] inline std::uint32_t group_of(const multisort::plan::KeyTree& tree,
                                            std::uint64_t key) {
  using multisort::plan::KeyTree;
  std::uint16_t entry = KeyTree::node_flag;
  while ((entry & KeyTree::node_flag) != 0) {
    const std::size_t number = entry & ~KeyTree::node_flag;
    const KeyTree::Node& node = tree.nodes[number];
    const std::uint64_t x = key > node.base ? key - node.base : 0;
    const std::uint64_t step = number == 0 && tree.mantissa_bits != 0
                                   ? multisort::plan::logarithmic_step(x, tree.mantissa_bits)
                                   : x >> node.shift;
    entry = tree.entries[node.first + (step < node.last ? step : node.last)];
  }
  return entry;
}

}  // namespace sortie::test
