// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/text_sort.hpp"

#include <utility>

#include "apps/suffix_array/cuda/build/first_sort.hpp"
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {

template <Position Index>
TextSorted<Index> sort_by_text(const SymbolStream& text, DeviceBuffer<Index> positions,
                               int key_bits, const TextSortEnd& end, cudaStream_t stream) {
  TextSorted<Index> sorted;
  const WindowKey key{text};
  {
    const std::uint64_t members = positions.size();
    DeviceBuffer<std::uint64_t> keys(members, stream);
    const auto write_key = [key, positions = positions.data(), keys = keys.data()] __device__(
                               Index j) { keys[j] = key(positions[j]); };
    for_each_item<Index>(members, write_key, stream);
    sorted.suffixes = std::move(positions);
    sort_by_key(keys, sorted.suffixes, key_bits, stream);
    sorted.groups = first_groups(keys, sorted.suffixes, members, stream);
  }
  sorted.depth = static_cast<std::uint64_t>(key.symbols());
  sorted.unresolved = sorted.groups.members;

  while (sorted.groups.members != 0 && sorted.depth < end.depth) {
    const std::uint64_t before = sorted.groups.members;
    compare_windows<std::uint64_t>(text, sorted.depth, sorted.groups, sorted.suffixes, stream);
    if (end.when_slow && sorted.groups.members > before / 2) break;
  }
  return sorted;
}

SORTIE_INSTANTIATE_FOR_POSITIONS(sort_by_text);

}  // namespace sortie::suffix_array::cuda
