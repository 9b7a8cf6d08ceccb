#pragma once

#include <cstdint>

namespace sortie::segsort {

/// Where the keys of a segment lie: from `least` to `greatest`, as unsigned numbers that ascend in
/// the order of the sort (of signed and floating-point keys, and where the order descends, after
/// the flips of KeyCodec).
struct SegmentRange {
  std::uint64_t least;
  std::uint64_t greatest;
};

}  // namespace sortie::segsort
