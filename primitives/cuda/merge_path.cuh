// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sortie {

/// The first position from `begin` on at which `holds` is false, by binary search; `end` if there
/// is none. \param holds  holds(position): true up to some position, false from there on
template <class Position, class Holds>
__device__ __forceinline__ Position first_not(Position begin, Position end, const Holds& holds) {
  while (begin < end) {
    const Position middle = begin + (end - begin) / 2;
    if (holds(middle)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Number of items of the first run among the first `rank` items of the merge of two sorted runs.
/// Equal items of the first run precede those of the second.
///
/// \param first,second  first(i) and second(i) return item i of a run
/// \param before        before(x, y): x must precede y
/// Complexity: O(log(min(first_size, second_size))) comparisons. Source: Green, McColl, Bader, "GPU
/// merge path" (ICS 2012).
template <class Position, class Order, class ReadFirst, class ReadSecond>
__device__ Position merge_path(Position first_size, Position second_size, Position rank,
                               const Order& before, ReadFirst first, ReadSecond second) {
  Position low = rank > second_size ? rank - second_size : 0;
  Position high = rank < first_size ? rank : first_size;
  while (low < high) {
    const Position middle = low + (high - low) / 2;
    if (before(second(rank - 1 - middle), first(middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace sortie
