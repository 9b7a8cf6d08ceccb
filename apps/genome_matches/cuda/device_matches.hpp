// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "apps/genome_matches/letters.hpp"
#include "sortie/context.hpp"
#include "sortie/genome_matches.hpp"

namespace sortie::genome_matches {

/// The arrays of a SuffixIndex, by which matches are found.
struct SuffixTables {
  Letters reference;
  std::span<const std::uint32_t> suffixes;
  std::uint64_t key_length = 0;  ///< letters of a key
  std::uint64_t min_length = 0;
};

/// Finds matches that are unique in the reference on a GPU: a thread for each position of a query.
/// Several threads may use it at a time; each has a stream and buffers.
///
/// Memory of the GPU: the tables, 4^key_length words of 32 bits, and 6 MiB for each thread of the host.
class DeviceMatches {
 public:
  /// Copies the tables, and makes that of the keys. \throws Error (out_of_memory, unavailable, device)
  DeviceMatches(const Context& context, const SuffixTables& tables);
  ~DeviceMatches();
  DeviceMatches(const DeviceMatches&) = delete;
  DeviceMatches& operator=(const DeviceMatches&) = delete;

  /// Whether the memory of the GPU is enough.
  [[nodiscard]] static bool fits(const Context& context, const SuffixTables& tables);

  /// Fewer positions do not pay for the copies and the launch.
  static constexpr std::uint64_t least_positions = std::uint64_t{32} << 10;
  /// A call takes at most so many positions.
  static constexpr std::uint64_t most_positions = std::uint64_t{256} << 10;

  /// As SuffixIndex::find_unique().
  /// \return false, and no matches, if a match is longer than what is copied beside the range: the
  ///         host finds them then
  [[nodiscard]] bool find_unique(Letters query, QueryRange range,
                                 std::vector<Match>& matches) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie::genome_matches
