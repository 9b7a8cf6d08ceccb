// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/suffix_array/host/text/coded_text.hpp"
#include "sortie/cluster.hpp"

namespace sortie::suffix_array::on_ranks {

/// Elements (coded_text.hpp) of this rank in the order of their buckets.
struct BucketedElements {
  std::span<std::uint64_t> elements;
  std::vector<std::uint64_t> starts;  ///< of each bucket, and the end of the last one
};

/// A division of all elements: those of lower buckets, and those of `bucket` below `element`, are
/// before it.
struct Border {
  std::uint64_t bucket = 0;
  std::uint64_t element = 0;

  bool operator==(const Border&) const = default;
};

/// Divides the elements of all ranks among the ranks in nearly equal shares: shares differ from
/// equal ones by at most 1/64, or by one element if that is more. Collective.
///
/// A border lies between two buckets if the bucket that it would divide is small; else it is found
/// by the digits of the elements, the highest first, by all ranks together. The bits of the
/// position come last, so equal keys are only divided if they are many.
///
/// \param elements  buckets that a border divides are sorted on return
/// \param sizes     of the buckets, over all ranks
/// \return rank r takes what lies between entries r and r + 1
/// Complexity: at most 9 rounds of one reduction of 256 numbers for each border.
[[nodiscard]] std::vector<Border> find_borders(cluster::Ranks& ranks, const host::PrefixPlan& plan,
                                               BucketedElements& elements,
                                               std::span<const std::uint64_t> sizes);

/// Where a border divides the elements of this rank. \pre its bucket is sorted if it is divided
[[nodiscard]] std::uint64_t place_of(const BucketedElements& elements, const Border& border);

}  // namespace sortie::suffix_array::on_ranks
