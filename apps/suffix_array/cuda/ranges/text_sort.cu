// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/ranges/suffix_order.cuh"
#include "apps/suffix_array/cuda/ranges/text_sort.hpp"

#include <utility>

#include "apps/suffix_array/cuda/build/first_sort.hpp"
#include "apps/suffix_array/cuda/build/refine.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

template <class Index>
struct WriteWindowKeys {
  WindowKey key;
  const Index* positions;
  std::uint64_t* keys;

  __device__ void operator()(Index j) const { keys[j] = key(positions[j]); }
};

}  // namespace

template <Position Index>
TextSorted<Index> sort_by_text(const SymbolStream& text, DeviceBuffer<Index> positions,
                               int key_bits, const TextSortEnd& end, cudaStream_t stream) {
  TextSorted<Index> sorted;
  const WindowKey key{text};
  {
    const std::uint64_t members = positions.size();
    DeviceBuffer<std::uint64_t> keys(members, stream);
    for_each_item<Index>(members, WriteWindowKeys<Index>{key, positions.data(), keys.data()},
                         stream);
    sorted.suffixes = std::move(positions);
    {
      DeviceBuffer<std::uint64_t> keys_alternate(members, stream);
      DeviceBuffer<Index> alternate(members, stream);
      sort_by_key(keys, keys_alternate, sorted.suffixes, alternate, key_bits, stream);
    }
    sorted.groups = first_groups(keys, sorted.suffixes, members, stream);
  }
  sorted.depth = static_cast<std::uint64_t>(key.symbols());
  sorted.unresolved = sorted.groups.members;

  SuffixGroups<Index>& list = sorted.groups;
  while (list.members != 0 && sorted.depth < end.depth) {
    list.offsets.reset();  // no longer needed: large groups are listed
    const std::uint64_t before = list.members;
    DeviceBuffer<std::uint64_t> keys(before, stream);
    for_each_item<Index>(
        before, WriteWindows<Index>{text, list.items.data(), sorted.depth, keys.data()}, stream);
    sort_groups(list, keys, stream);
    refine_suffixes(list, keys, text.last_symbol_mask(), sorted.suffixes, stream);
    sorted.depth += static_cast<std::uint64_t>(text.window_symbols(64));
    if (end.when_slow && list.members > before / 2) break;
  }
  return sorted;
}

template decltype(sort_by_text<std::uint32_t>) sort_by_text<std::uint32_t>;
template decltype(sort_by_text<std::uint64_t>) sort_by_text<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
