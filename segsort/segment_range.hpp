// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sortie::segsort {

/// Least and greatest key of a segment, as unsigned numbers that ascend in sort order:
/// BitRangeCodec has encoded signed and floating-point keys, and all keys of a descending sort.
struct SegmentRange {
  std::uint64_t least;
  std::uint64_t greatest;
};

}  // namespace sortie::segsort
