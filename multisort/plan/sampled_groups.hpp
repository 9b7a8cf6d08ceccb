// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "multisort/plan/key_tree.hpp"

/// Groups of keys from a sample.
///
/// Digits divide evenly spread keys well and are cheap. Most skewed keys have the same first digit,
/// so each border between two destinations, and each part that is too long for the local sort,
/// takes another round of counting over all keys. A sample locates the dense ranges before anything
/// is counted. Its groups have about equal sizes and are small around the borders, so one round of
/// counting suffices. The sample is an estimate; the counts that follow, and the division made from
/// them (divide()), are exact.
namespace sortie::multisort::plan {

/// A key of a sample, and how many keys of the array it stands for.
struct SampledKey {
  std::uint64_t key = 0;
  std::uint64_t weight = 0;
};

struct SampledProblem {
  int key_bits = 32;
  std::vector<std::uint64_t> destination_sizes;  ///< keys that each destination should get
  std::uint64_t padding = 0;                     ///< keys by which a border may miss its place
  std::size_t most_groups = 0;  ///< \pre at least 4 * destinations, less than KeyTree::node_flag
};

struct SampledGroups {
  KeyTree tree;
  std::vector<KeyRange> ranges;  ///< of the groups, one behind the other; all keys are in one
};

/// Tables of the most convenient size for a device: nodes and entries of SampledGroups::tree, at
/// most.
inline constexpr std::size_t most_sampled_nodes = 128;
inline constexpr std::size_t most_sampled_entries = 6144;

/// Whether the leading digit of those bits in which keys differ divides them well: no bucket has
/// more than twice its part of the keys (or more than `small`), and each border lies near an end of
/// one. \param sample  sorted
/// \return how many low bits keys differ in; nothing where they spread unevenly, or are all equal
[[nodiscard]] std::optional<int> evenly_spread_bits(std::span<const SampledKey> sample,
                                                    const SampledProblem& problem, int digit_bits,
                                                    std::uint64_t small);

/// Groups of about equally many keys, and smaller ones around each border, so that one of their
/// ends will lie near it. A value of more keys than a group has one of its own.
///
/// O(sample + entries) for each of a few levels of tables.
/// \param sample  sorted
[[nodiscard]] SampledGroups groups_of_sample(std::span<const SampledKey> sample,
                                             const SampledProblem& problem);

/// The sample of one source: keys evenly spaced in its sorted ones, which stand for all `size`.
[[nodiscard]] std::vector<SampledKey> weigh_sample(std::span<const std::uint64_t> keys,
                                                   std::uint64_t size);

/// Several sorted samples as one. O(k log m) for k keys of m samples.
[[nodiscard]] std::vector<SampledKey> merge_samples(std::vector<std::vector<SampledKey>> samples);

}  // namespace sortie::multisort::plan
