// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "multisort/plan/key_tree.hpp"

namespace sortie::multisort::plan {

/// The keys that agree in their leading bits.
///
/// A bucket is identified by its whole prefix, not by the digit of one pass: in RMG's published
/// code 0x00AA.... and 0x01AA...., both spanning, are one bucket.
struct Bucket {
  std::uint64_t prefix = 0;           ///< value of the leading bits, as a number
  int prefix_bits = 0;                ///< how many bits these are
  std::vector<std::uint64_t> counts;  ///< keys of the bucket on each source
  std::uint64_t size = 0;             ///< sum of counts
};

/// A bucket whose keys have to be counted by the next digit.
struct Refinement {
  std::uint64_t prefix = 0;
  int prefix_bits = 0;
  int digit_bits = 0;  ///< the digit that follows the prefix; fewer bits at the end of the key

  [[nodiscard]] std::size_t digits() const { return std::size_t{1} << digit_bits; }
};

struct PartitionProblem {
  int key_bits = 32;
  int digit_bits = 8;                            ///< bits counted in one pass
  std::vector<std::uint64_t> source_sizes;       ///< keys on each source
  std::vector<std::uint64_t> destination_sizes;  ///< keys that each destination should get
  std::uint64_t padding = 0;  ///< keys by which a border may miss its place (the paper's epsilon)
  std::uint64_t common_prefix = 0;  ///< leading bits that are known to be the same in all keys
  int common_prefix_bits = 0;       ///< how many bits these are
  /// Refine by the first digit even if no border requires it: its buckets are a step of the sort.
  bool always_divide = false;
  /// Most keys of a bucket that a border may be moved out of, beside `padding`; 0: no limit. Not
  /// applied to a bucket of one value.
  std::uint64_t largest_moved = 0;
};

/// How far a border may be moved.
struct BorderTolerance {
  std::uint64_t padding = 0;  ///< keys by which it may miss its place (the paper's epsilon)
  /// Most keys of a bucket of several values that a border may be moved out of; 0: no limit.
  std::uint64_t largest_moved = 0;
};

/// The bucket or destination that holds a position of the sorted array: of several that begin
/// there the last one, since the others are empty; their number at the end of the array.
[[nodiscard]] inline std::size_t part_at(std::span<const std::uint64_t> begins,
                                         std::uint64_t position) {
  const auto next = std::upper_bound(begins.begin(), begins.end(), position);
  return static_cast<std::size_t>(next - begins.begin()) - 1;
}

/// Places a border whose ideal position is `ideal`: at the nearest end of a bucket if that is near
/// enough; else inside the bucket, if it holds a single value. Placement preserves the order of
/// borders.
/// \param has_one_value  has_one_value(bucket): whether all keys of the bucket are equal
/// \return the border's position; nothing if the bucket has to be divided first
template <class HasOneValue>
[[nodiscard]] std::optional<std::uint64_t> place_border(std::span<const std::uint64_t> begins,
                                                        std::uint64_t ideal,
                                                        const BorderTolerance& tolerance,
                                                        const HasOneValue& has_one_value) {
  if (ideal == begins.back()) return ideal;
  const std::size_t bucket = part_at(begins, ideal);
  const std::uint64_t begin = begins[bucket];
  const std::uint64_t end = begins[bucket + 1];
  const std::uint64_t nearest = ideal - begin <= end - ideal ? begin : end;
  const std::uint64_t distance = std::min(ideal - begin, end - ideal);
  const bool one_value = has_one_value(bucket);
  const bool may_move =
      tolerance.largest_moved == 0 || one_value || end - begin <= tolerance.largest_moved;
  if (distance == 0 || (distance <= tolerance.padding && may_move)) return nearest;
  if (one_value) return ideal;
  return std::nullopt;
}

/// Divides keys among destinations by leading digits, by only as many digits as balance requires.
///
/// Starting from one bucket that holds all keys, every bucket in which a border between two
/// destinations falls is replaced by the buckets of the next digit (refine()), until each border
/// lies within `padding` keys of an end of a bucket and can be moved there. A bucket whose keys have
/// no further digit holds a single value and is split at the border, wherever that is.
///
/// The sources only count; keys are moved once, when the plan is complete. RMG (Ilic, sections 3.1
/// and 3.2) moves them in each pass.
///
/// Each destination gets its size to within `2 * padding` keys. At most
/// ceil(key_bits / digit_bits) rounds with G - 1 refinements each; so at most
/// 1 + 2^digit_bits * (1 + (G - 1) * (rounds - 1)) buckets (section 3.2.4).
class RadixPartition {
 public:
  /// \throws Error (usage) no source or destination, sizes whose sums differ, bits out of range
  explicit RadixPartition(PartitionProblem problem);

  /// The buckets that have to be refined, in order; all have the same prefix_bits. Empty when the
  /// partition is complete.
  [[nodiscard]] const std::vector<Refinement>& refinements() const { return refinements_; }

  /// \param counts  for each refinement, for each source, for each digit: keys
  /// \throws Error (usage) counts that do not add up to those of the bucket refined
  void refine(std::span<const std::uint64_t> counts);

  /// All keys, in ascending order of prefixes. None is empty, unless there are no keys.
  [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
  /// Keys that each destination gets. \pre refinements().empty()
  [[nodiscard]] const std::vector<std::uint64_t>& destination_sizes() const { return sizes_; }
  /// All refinements so far, which map a key to its bucket.
  [[nodiscard]] const std::vector<Refinement>& refined() const { return refined_; }
  [[nodiscard]] const PartitionProblem& problem() const { return problem_; }

 private:
  void list_refinement(const Bucket& bucket);
  void place_borders();

  PartitionProblem problem_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> sizes_;  ///< of the destinations
  std::vector<Refinement> refinements_;
  std::vector<Refinement> refined_;
};

/// The keys of `key_bits` bits whose leading `prefix_bits` bits are `prefix`.
[[nodiscard]] KeyRange keys_of_prefix(std::uint64_t prefix, int prefix_bits, int key_bits);

/// The look-up by the digits of a partition, for groups of its buckets.
/// \param groups  the group of each bucket, below KeyTree::node_flag
/// \pre partition.refinements().empty(), and a bucket was refined
[[nodiscard]] KeyTree key_tree_of(const RadixPartition& partition,
                                  const std::vector<std::uint16_t>& groups);

}  // namespace sortie::multisort::plan
