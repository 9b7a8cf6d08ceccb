#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>

namespace sortie::suffix_array::cuda {

/// Joins two neighbouring stretches of a scan for the greatest value.
struct Greatest {
  template <class Index>
  __host__ __device__ Index operator()(Index left, Index right) const {
    return left > right ? left : right;
  }
};

/// The keys that order a run segment: the unresolved suffixes that start with k times one letter c.
///
/// Such a suffix is c^length rest, where the rest does not start with c. Let two of them differ in
/// length. The shorter run ends first, and there the rest decides: a rest below c makes shorter
/// runs smaller, a rest above c makes longer ones smaller; and every suffix with a rest below c is
/// smaller than every one with a rest above. So the key is the length for the former and the
/// greatest Index less the length for the latter. The two do not mix, because they come from
/// different, disjoint runs, whose lengths add up to at most the length of the text.
///
/// Lengths come from the members alone. They ascend by position, as the stable first sort left
/// them, so the suffixes that start in one run follow each other, and the last of them sees just k
/// letters:
///
///   text       ... b c c c c c c c d ...        k = 4
///   members          0 1 2 3                    positions p, p + 1, p + 2, p + 3
///   lengths          7 6 5 4                    (last - j) + k
///
/// A scan from the back tells each member the last one of its run: item r is member count - 1 - r,
/// and carries the greatest r so far that is the last of a run.
template <class Index>
struct RunKeys {
  const Index* positions;  ///< of the segment's members
  Index count;             ///< number of members
  Index symbols;           ///< k
  const Index* ranks;
  Index* keys;  ///< of the segment's members

  __host__ __device__ bool is_last_of_run(Index j) const {
    return j + 1 == count || positions[j + 1] != positions[j] + 1;
  }

  __host__ __device__ Index operator()(Index r) const {
    return is_last_of_run(count - 1 - r) ? r : Index{0};
  }

  __host__ __device__ void operator()(Index r, const Index& last) const {
    const Index j = count - 1 - r;
    const Index position = positions[j];
    const Index length = (r - last) + symbols;
    const bool rest_is_below = ranks[position + length] < ranks[position];
    keys[j] = rest_is_below ? length : std::numeric_limits<Index>::max() - length;
  }
};

}  // namespace sortie::suffix_array::cuda
