// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "multisort/cuda/radix/partition_kernels.hpp"

namespace sortie::multisort {

/// The group of a key is one digit of it.
template <class Word>
class DirectLookup {
 public:
  static constexpr bool is_costly = false;  ///< whether to store groups instead of recomputing them
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

/// Follows the tables of a plan::KeyTree.
/// \tparam Near  the tables fit the limits of sampled groups and are copied to shared memory, where
///               a warp's 32 look-ups cost a fraction of those in the cache. Else they stay in
///               global memory.
template <class Word, bool Near>
class TreeLookup {
 public:
  static constexpr bool is_costly = true;
  /// Type of arithmetic on keys: at least 32 bits, the width of a register.
  using Wide = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;
  /// A plan::KeyTree::Node that one or two instructions load. It has no initialisers, because
  /// variables in shared memory cannot have any.
  struct alignas(16) Node {
    Wide base;
    int shift;
    std::uint32_t last;
    std::uint32_t first;
  };
  struct NearTables {
    Node nodes[plan::most_sampled_nodes];
    alignas(16) std::uint16_t entries[plan::most_sampled_entries];
  };
  struct NoTables {};
  using Tables = std::conditional_t<Near, NearTables, NoTables>;

  /// Called by all threads of a block.
  __device__ TreeLookup(const GroupLookup& lookup, Tables& tables)
      : tables_(tables),
        nodes_(lookup.nodes),
        entries_(lookup.entries),
        root_(narrowed(lookup.root)),
        mantissa_bits_(lookup.mantissa_bits) {
    if constexpr (Near) {
      for (std::uint32_t i = threadIdx.x; i < lookup.node_count; i += blockDim.x)
        tables.nodes[i] = narrowed(nodes_[i]);
      // Eight entries per load: the block can do nothing else until it has its tables.
      static_assert(plan::most_sampled_entries % 8 == 0);
      const auto* const from = reinterpret_cast<const uint4*>(entries_);
      auto* const to = reinterpret_cast<uint4*>(tables.entries);
      for (std::uint32_t i = threadIdx.x; i < lookup.entry_count / 8; i += blockDim.x)
        to[i] = from[i];
      __syncthreads();
    }
  }
  [[nodiscard]] __device__ std::uint32_t operator()(Word key) const {
    const Wide x = behind(key, root_.base);
    std::uint32_t entry =
        entry_at(cell_of(mantissa_bits_ == 0 ? x >> root_.shift : logarithmic_step(x), root_.last));
    while ((entry & plan::KeyTree::node_flag) != 0) {
      const Node node = node_at(entry & ~std::uint32_t{plan::KeyTree::node_flag});
      entry = entry_at(node.first + cell_of(behind(key, node.base) >> node.shift, node.last));
    }
    return entry;
  }

  /// Whether the tables fit shared memory (Near).
  [[nodiscard]] static bool fits(const GroupLookup& lookup) {
    return lookup.node_count <= plan::most_sampled_nodes &&
           lookup.entry_count <= plan::most_sampled_entries;
  }

 private:
  [[nodiscard]] __device__ static Node narrowed(const plan::KeyTree::Node& node) {
    return {static_cast<Wide>(node.base), node.shift, node.last, node.first};
  }
  [[nodiscard]] __device__ static Wide behind(Word key, Wide base) {
    return key > base ? key - base : 0;
  }
  [[nodiscard]] __device__ static std::uint32_t cell_of(Wide step, std::uint32_t last) {
    return step < last ? static_cast<std::uint32_t>(step) : last;
  }
  [[nodiscard]] __device__ Node node_at(std::uint32_t number) const {
    if constexpr (Near) {
      return tables_.nodes[number];
    } else {
      return narrowed(nodes_[number]);
    }
  }
  [[nodiscard]] __device__ std::uint32_t entry_at(std::uint32_t place) const {
    if constexpr (Near) {
      return tables_.entries[place];
    } else {
      return entries_[place];
    }
  }
  /// As plan::logarithmic_step().
  [[nodiscard]] __device__ Wide logarithmic_step(Wide x) const {
    constexpr int top = 8 * static_cast<int>(sizeof(Wide)) - 1;
    if (x == 0) return 0;
    int zeros = 0;
    if constexpr (sizeof(Wide) == 8) {
      zeros = __clzll(static_cast<long long>(x));
    } else {
      zeros = __clz(static_cast<int>(x));
    }
    // The shifted mantissa includes the leading bit, which adds one doubling: hence zeros + 1.
    return (static_cast<Wide>(top - zeros - 1) << mantissa_bits_) +
           (x << zeros >> (top - mantissa_bits_)) + 1;
  }

  const Tables& tables_;
  const plan::KeyTree::Node* nodes_;
  const std::uint16_t* entries_;
  Node root_;
  int mantissa_bits_;
};

template <class Lookup>
struct LookupType {};

/// Calls body(LookupType<Lookup>()) with the type of look-up for `lookup`.
template <class Word, class Body>
auto with_lookup(const GroupLookup& lookup, const Body& body) {
  if (lookup.direct) return body(LookupType<DirectLookup<Word>>());
  if (TreeLookup<Word, true>::fits(lookup)) return body(LookupType<TreeLookup<Word, true>>());
  return body(LookupType<TreeLookup<Word, false>>());
}

}  // namespace sortie::multisort
