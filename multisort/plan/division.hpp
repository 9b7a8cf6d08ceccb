#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sortie/multisort/plan/borders.hpp"
#include "sortie/multisort/plan/key_tree.hpp"

namespace sortie::multisort::plan {

/// All keys cut into stretches, and dealt out to destinations.
struct Division {
  struct Stretch {
    KeyRange keys;                      ///< that it may hold
    std::vector<std::uint64_t> counts;  ///< keys of it on each source
    std::uint64_t size = 0;             ///< sum of counts
  };
  std::vector<Stretch> stretches;                ///< in ascending order of keys; some may be empty
  std::vector<std::uint64_t> destination_sizes;  ///< keys that each destination gets
};

[[nodiscard]] Division division_of(const RadixPartition& partition);

/// Divides keys whose stretches were guessed, and then counted.
/// \param ranges             of the stretches, one behind the other
/// \param counts             for each source, for each range: keys; rows of `row` numbers
/// \param destination_sizes  keys that each destination should get; their sum is that of the counts
/// \return nothing where a border lies too far inside a stretch of several values
[[nodiscard]] std::optional<Division> divide(std::span<const KeyRange> ranges,
                                             std::span<const std::uint64_t> counts, std::size_t row,
                                             std::span<const std::uint64_t> destination_sizes,
                                             const BorderTolerance& tolerance);

}  // namespace sortie::multisort::plan
