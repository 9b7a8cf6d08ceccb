// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/cuda/build/first_sort.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "core/cuda/check.hpp"

namespace sortie::suffix_array::cuda {

template <class Key, Position Index>
std::size_t sort_by_key_scratch(std::uint64_t items) {
  cub::DoubleBuffer<Key> keys;
  cub::DoubleBuffer<Index> positions;
  std::size_t bytes = 0;
  check_cuda(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, positions, items));
  return bytes;
}

template <class Key, Position Index>
void sort_by_key(DeviceBuffer<Key>& keys, DeviceBuffer<Key>& keys_alternate,
                 DeviceBuffer<Index>& positions, DeviceBuffer<Index>& positions_alternate,
                 int key_bits, cudaStream_t stream) {
  const std::uint64_t items = keys.size();
  cub::DoubleBuffer<Key> sorted_keys(keys.data(), keys_alternate.data());
  cub::DoubleBuffer<Index> sorted_positions(positions.data(), positions_alternate.data());
  std::size_t bytes = sort_by_key_scratch<Key, Index>(items);
  DeviceBuffer<std::byte> scratch(bytes, stream);
  check_cuda(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, sorted_keys, sorted_positions,
                                             items, 0, key_bits, stream));
  if (sorted_keys.Current() != keys.data()) std::swap(keys, keys_alternate);
  if (sorted_positions.Current() != positions.data()) std::swap(positions, positions_alternate);
}

#define SORTIE_INSTANTIATE_FIRST_SORT(Key, Index)                                         \
  template std::size_t sort_by_key_scratch<Key, Index>(std::uint64_t);                    \
  template void sort_by_key(DeviceBuffer<Key>&, DeviceBuffer<Key>&, DeviceBuffer<Index>&, \
                            DeviceBuffer<Index>&, int, cudaStream_t)
SORTIE_INSTANTIATE_FIRST_SORT(std::uint32_t, std::uint32_t);
SORTIE_INSTANTIATE_FIRST_SORT(std::uint64_t, std::uint32_t);
SORTIE_INSTANTIATE_FIRST_SORT(std::uint32_t, std::uint64_t);
SORTIE_INSTANTIATE_FIRST_SORT(std::uint64_t, std::uint64_t);
#undef SORTIE_INSTANTIATE_FIRST_SORT

}  // namespace sortie::suffix_array::cuda
