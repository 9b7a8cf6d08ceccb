#include "sortie/apps/suffix_array/cuda/refine.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#include <iterator>
#include <limits>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/core/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

template <class Items>
struct Contribution {
  Refinement<Items> refinement;

  __host__ __device__ typename Refinement<Items>::Prefix operator()(
      typename Items::Index item) const {
    return refinement.contribution(item);
  }
};

/// An output iterator for the scan: assigning a prefix to element j settles item j.
template <class Items>
class SettleIterator {
 public:
  using Index = typename Items::Index;

  class reference {
   public:
    __host__ __device__ reference(const Refinement<Items>& refinement, Index item)
        : refinement_(refinement), item_(item) {}
    __host__ __device__ void operator=(const typename Refinement<Items>::Prefix& prefix) const {
      refinement_.settle(item_, prefix);
    }

   private:
    // By value: iterators are temporaries in CUB's expressions. The compiler removes the copy.
    Refinement<Items> refinement_;
    Index item_;
  };
  using value_type = typename Refinement<Items>::Prefix;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  explicit SettleIterator(const Refinement<Items>& refinement) : refinement_(refinement) {}

  __host__ __device__ reference operator*() const { return {refinement_, item_}; }
  template <class Distance>
  __host__ __device__ reference operator[](Distance distance) const {
    return {refinement_, static_cast<Index>(item_ + static_cast<Index>(distance))};
  }
  template <class Distance>
  __host__ __device__ SettleIterator operator+(Distance distance) const {
    SettleIterator further = *this;
    further.item_ += static_cast<Index>(distance);
    return further;
  }

 private:
  Refinement<Items> refinement_;
  Index item_ = 0;
};

#if CUB_VERSION >= 200800
template <class Index>
using ScanCount = Index;
#else
// The scans of older CUB count in int.
template <class Index>
using ScanCount = int;
#endif

template <class Items>
cudaError_t scan(void* scratch, std::size_t& bytes, const Refinement<Items>& refinement,
                 cudaStream_t stream) {
  using Index = typename Items::Index;
  const auto contributions = thrust::make_transform_iterator(
      thrust::make_counting_iterator<Index>(0), Contribution<Items>{refinement});
  return cub::DeviceScan::InclusiveScan(scratch, bytes, contributions,
                                        SettleIterator<Items>(refinement), JoinPrefixes{},
                                        static_cast<ScanCount<Index>>(refinement.count), stream);
}

}  // namespace

template <class Items>
std::size_t refine_scratch(std::uint64_t items) {
  using Index = typename Items::Index;
  if (items > static_cast<std::uint64_t>(std::numeric_limits<ScanCount<Index>>::max())) {
    throw Error(ErrorKind::unavailable,
                "suffix array: found more than 2^31 - 1 symbols, expected fewer in a build with "
                "CUDA older than 12.9");
  }
  Refinement<Items> refinement{};
  refinement.count = static_cast<Index>(items);
  std::size_t bytes = 0;
  check_cuda(scan(nullptr, bytes, refinement, nullptr));
  return bytes;
}

template <class Items>
void refine(const Refinement<Items>& refinement, cudaStream_t stream) {
  std::size_t bytes = refine_scratch<Items>(refinement.count);
  DeviceBuffer<std::byte> scratch(bytes, stream);
  check_cuda(scan(scratch.data(), bytes, refinement, stream));
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
