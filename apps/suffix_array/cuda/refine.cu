#include "sortie/apps/suffix_array/cuda/refine.hpp"

#include "sortie/apps/suffix_array/cuda/scan.cuh"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::suffix_array::cuda {
namespace {

template <class Items>
void scan(void* scratch, std::size_t& bytes, const Refinement<Items>& refinement,
          cudaStream_t stream) {
  scan_items<typename Refinement<Items>::Prefix>(scratch, bytes, refinement, JoinPrefixes{},
                                                 refinement.count, stream);
}

}  // namespace

template <class Items>
std::size_t refine_scratch(std::uint64_t items) {
  Refinement<Items> refinement{};
  refinement.count = static_cast<typename Items::Index>(items);
  std::size_t bytes = 0;
  scan(nullptr, bytes, refinement, nullptr);
  return bytes;
}

template <class Items>
void refine(const Refinement<Items>& refinement, cudaStream_t stream) {
  std::size_t bytes = refine_scratch<Items>(refinement.count);
  DeviceBuffer<std::byte> scratch(bytes, stream);
  scan(scratch.data(), bytes, refinement, stream);
}

template std::size_t refine_scratch<FirstSortItems<std::uint32_t>>(std::uint64_t);
template std::size_t refine_scratch<FirstSortItems<std::uint64_t>>(std::uint64_t);
template std::size_t refine_scratch<RoundItems<std::uint32_t>>(std::uint64_t);
template std::size_t refine_scratch<RoundItems<std::uint64_t>>(std::uint64_t);
template void refine(const Refinement<FirstSortItems<std::uint32_t>>&, cudaStream_t);
template void refine(const Refinement<FirstSortItems<std::uint64_t>>&, cudaStream_t);
template void refine(const Refinement<RoundItems<std::uint32_t>>&, cudaStream_t);
template void refine(const Refinement<RoundItems<std::uint64_t>>&, cudaStream_t);

}  // namespace sortie::suffix_array::cuda
