#include "sortie/apps/suffix_array/cuda/first_sort.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <utility>

namespace sortie::suffix_array::cuda {

template <Position Index>
std::size_t sort_by_word_scratch(std::uint64_t items) {
  cub::DoubleBuffer<std::uint64_t> words;
  cub::DoubleBuffer<Index> positions;
  std::size_t bytes = 0;
  check_cuda(cub::DeviceRadixSort::SortPairs(nullptr, bytes, words, positions, items, 0, 64));
  return bytes;
}

template <Position Index>
void sort_by_word(DeviceBuffer<std::uint64_t>& words, DeviceBuffer<std::uint64_t>& words_alternate,
                  DeviceBuffer<Index>& positions, DeviceBuffer<Index>& positions_alternate,
                  int word_bits, cudaStream_t stream) {
  const std::uint64_t items = words.size();
  cub::DoubleBuffer<std::uint64_t> keys(words.data(), words_alternate.data());
  cub::DoubleBuffer<Index> values(positions.data(), positions_alternate.data());
  std::size_t bytes = sort_by_word_scratch<Index>(items);
  DeviceBuffer<std::byte> scratch(bytes, stream);
  check_cuda(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, keys, values, items, 0,
                                             word_bits, stream));
  if (keys.Current() != words.data()) std::swap(words, words_alternate);
  if (values.Current() != positions.data()) std::swap(positions, positions_alternate);
}

template std::size_t sort_by_word_scratch<std::uint32_t>(std::uint64_t);
template std::size_t sort_by_word_scratch<std::uint64_t>(std::uint64_t);
template void sort_by_word<std::uint32_t>(DeviceBuffer<std::uint64_t>&,
                                          DeviceBuffer<std::uint64_t>&,
                                          DeviceBuffer<std::uint32_t>&,
                                          DeviceBuffer<std::uint32_t>&, int, cudaStream_t);
template void sort_by_word<std::uint64_t>(DeviceBuffer<std::uint64_t>&,
                                          DeviceBuffer<std::uint64_t>&,
                                          DeviceBuffer<std::uint64_t>&,
                                          DeviceBuffer<std::uint64_t>&, int, cudaStream_t);

}  // namespace sortie::suffix_array::cuda
