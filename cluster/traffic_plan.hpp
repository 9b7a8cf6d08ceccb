// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sortie/cluster.hpp"
#include "sortie/context.hpp"

namespace sortie::cluster {

/// Bytes that this rank will send in exchanges, added up before each from the sizes of what is to be
/// moved, beside those that Ranks counts.
class TrafficPlan {
 public:
  explicit TrafficPlan(Ranks& ranks)
      : ranks_(ranks), counted_before_(ranks.traffic().exchanged_bytes) {}

  /// Plans `items` of `bytes_each`.
  void add(std::uint64_t items, std::uint64_t bytes_each) { planned_ += items * bytes_each; }
  /// Plans Ranks::exchange_counts().
  void add_counts() { add(static_cast<std::uint64_t>(ranks_.size()) - 1, sizeof(std::uint64_t)); }
  /// Plans Ranks::gather_arrays() of so many items of this rank.
  void add_gathering(std::uint64_t items, std::uint64_t bytes_each) {
    add((static_cast<std::uint64_t>(ranks_.size()) - 1) * items, bytes_each);
  }

  /// Collective, phase "check traffic": compares with what was counted since the construction. Sets
  /// in the report "ranks", "planned_exchange_bytes" and "exchanged_bytes" of all ranks, and
  /// "most_exchange_bytes" of the rank that sends the most.
  /// \throws Error (check) they differ on a rank
  void finish(const HostContext& context) const;

 private:
  Ranks& ranks_;
  std::uint64_t counted_before_;
  std::uint64_t planned_ = 0;
};

/// The largest number over the mean of all ranks; 1 if all are 0. Collective.
[[nodiscard]] double imbalance_of(Ranks& ranks, std::uint64_t mine);

}  // namespace sortie::cluster
