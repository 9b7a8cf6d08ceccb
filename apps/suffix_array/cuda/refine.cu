#include "sortie/apps/suffix_array/cuda/refine.hpp"

#include "sortie/apps/suffix_array/cuda/scan.cuh"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {
namespace {

template <class Pass>
void scan(void* scratch, std::size_t& bytes, const Pass& pass, cudaStream_t stream) {
  scan_items<typename Pass::Prefix>(scratch, bytes, pass, typename Pass::Join{}, pass.count,
                                    stream);
}

/// Runs a pass and gives it a list of its own to fill; the result replaces nothing yet.
template <class Pass>
SuffixGroups<typename Pass::Index> run(Pass pass, std::uint64_t count, cudaStream_t stream) {
  using Index = typename Pass::Index;
  SuffixGroups<Index> rest(count, stream);
  DeviceBuffer<Remainder<Index>> device_remainder(1, stream);
  pass.count = static_cast<Index>(count);
  pass.output = {rest.items.data(), rest.slots.data(), rest.heads.data(), rest.offsets.data(),
                 device_remainder.data()};
  std::size_t bytes = 0;
  scan(nullptr, bytes, pass, stream);
  DeviceBuffer<std::byte> scratch(bytes, stream);
  scan(scratch.data(), bytes, pass, stream);

  Remainder<Index> remainder{};
  device_remainder.copy_to({&remainder, 1});
  check_cuda(cudaStreamSynchronize(stream));
  rest.members = remainder.members;
  rest.groups = remainder.groups;
  return rest;
}

template <class Key, class Index>
GroupItems<Index, Key> items_of(const SuffixGroups<Index>& list, const DeviceBuffer<Key>& keys,
                                Key end_mask) {
  return {keys.data(), list.items.data(), list.slots.data(), list.heads.data(), end_mask};
}

}  // namespace

template <class Key, Position Index>
SuffixGroups<Index> first_groups(const DeviceBuffer<Key>& keys,
                                 const DeviceBuffer<Index>& positions, cudaStream_t stream) {
  Refinement<FirstSortItems<Index, Key>> pass{};
  pass.items = {keys.data(), positions.data()};
  return run(pass, positions.size(), stream);
}

template <class Key, Position Index>
void refine_suffixes(SuffixGroups<Index>& list, const DeviceBuffer<Key>& keys, Key end_mask,
                     DeviceBuffer<Index>& suffix_array, cudaStream_t stream) {
  Refinement<GroupItems<Index, Key>> pass{};
  pass.items = items_of(list, keys, end_mask);
  pass.suffix_array = suffix_array.data();
  list = run(pass, list.members, stream);
}

template <Position Index>
void refine_samples(SuffixGroups<Index>& list, const DeviceBuffer<Index>& keys,
                    DeviceBuffer<Index>& ranks, cudaStream_t stream) {
  RankedRefinement<GroupItems<Index, Index>> pass{};
  pass.items = items_of(list, keys, static_cast<Index>(~Index{0}));
  pass.ranks = ranks.data();
  list = run(pass, list.members, stream);
}

template <Position Index>
std::size_t refine_scratch(std::uint64_t items) {
  RankedRefinement<GroupItems<Index, Index>> pass{};
  pass.count = static_cast<Index>(items);
  std::size_t bytes = 0;
  scan(nullptr, bytes, pass, nullptr);
  return bytes;
}

#define SORTIE_INSTANTIATE_FIRST_GROUPS(Key, Index)                                               \
  template SuffixGroups<Index> first_groups(const DeviceBuffer<Key>&, const DeviceBuffer<Index>&, \
                                            cudaStream_t);                                        \
  template void refine_suffixes(SuffixGroups<Index>&, const DeviceBuffer<Key>&, Key,              \
                                DeviceBuffer<Index>&, cudaStream_t)
SORTIE_INSTANTIATE_FIRST_GROUPS(std::uint32_t, std::uint32_t);
SORTIE_INSTANTIATE_FIRST_GROUPS(std::uint64_t, std::uint32_t);
SORTIE_INSTANTIATE_FIRST_GROUPS(std::uint32_t, std::uint64_t);
SORTIE_INSTANTIATE_FIRST_GROUPS(std::uint64_t, std::uint64_t);
#undef SORTIE_INSTANTIATE_FIRST_GROUPS

template void refine_samples(SuffixGroups<std::uint32_t>&, const DeviceBuffer<std::uint32_t>&,
                             DeviceBuffer<std::uint32_t>&, cudaStream_t);
template void refine_samples(SuffixGroups<std::uint64_t>&, const DeviceBuffer<std::uint64_t>&,
                             DeviceBuffer<std::uint64_t>&, cudaStream_t);
template std::size_t refine_scratch<std::uint32_t>(std::uint64_t);
template std::size_t refine_scratch<std::uint64_t>(std::uint64_t);

}  // namespace sortie::suffix_array::cuda
