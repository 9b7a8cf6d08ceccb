#pragma once

#include <cstdint>

#include "sortie/multisort/cuda/partition_kernels.hpp"

namespace sortie::multisort {

/// One digit of the key is its group.
template <class Word>
class DirectLookup {
 public:
  __device__ explicit DirectLookup(const GroupLookup& lookup)
      : shift_(lookup.shift), mask_(lookup.mask) {}
  [[nodiscard]] __device__ std::uint32_t operator()(Word key) const {
    return static_cast<std::uint32_t>(key >> shift_) & mask_;
  }

 private:
  int shift_;
  std::uint32_t mask_;
};

/// From table to table, as plan::BucketTree leads. They are small, so that they stay in the cache.
template <class Word>
class TreeLookup {
 public:
  __device__ explicit TreeLookup(const GroupLookup& lookup)
      : nodes_(lookup.nodes), entries_(lookup.entries), root_(lookup.root) {}
  [[nodiscard]] __device__ std::uint32_t operator()(Word key) const {
    std::int32_t entry = root_;
    while (entry < 0) {
      const plan::BucketTree::Node* const node = nodes_ + ~entry;
      entry = __ldg(entries_ + __ldg(&node->first) +
                    (static_cast<std::uint32_t>(key >> __ldg(&node->shift)) & __ldg(&node->mask)));
    }
    return static_cast<std::uint32_t>(entry);
  }

 private:
  const plan::BucketTree::Node* nodes_;
  const std::int32_t* entries_;
  std::int32_t root_;
};

}  // namespace sortie::multisort
