// SPDX-License-Identifier: Apache-2.0
#include "baselines/segsort/newer_cub.hpp"

#include <cstdint>

#include "baselines/segsort/cub_types.hpp"

#ifdef SORTIE_HAVE_NEWER_CUB
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cub/version.cuh>
#endif

namespace sortie::baselines {

#ifdef SORTIE_HAVE_NEWER_CUB
using segsort::DeviceRequest;

std::string newer_cub_version() {
  return std::to_string(CUB_MAJOR_VERSION) + '.' + std::to_string(CUB_MINOR_VERSION) + '.' +
         std::to_string(CUB_SUBMINOR_VERSION);
}

cudaError_t newer_cub_segmented_sort(void* temporary, std::size_t& bytes,
                                     const DeviceRequest& request, cudaStream_t stream) {
  if (request.offset_bytes != 4) return cudaErrorNotSupported;
  return with_cub_types(request, [&]<class Key, class Value>(Key, Value) {
    if constexpr (sizeof(Key) < 4) {
      return cudaErrorNotSupported;
    } else {
      const auto* const keys_in = static_cast<const Key*>(request.keys_in);
      auto* const keys_out = static_cast<Key*>(request.keys_out);
      const auto* const begins = static_cast<const std::uint32_t*>(request.begin_offsets);
      const auto* const ends = static_cast<const std::uint32_t*>(request.end_offsets);
      if constexpr (!has_values<Value>) {
        return cub::DeviceSegmentedSort::SortKeys(temporary, bytes, keys_in, keys_out,
                                                  request.num_items, request.num_segments, begins,
                                                  ends, stream);
      } else {
        return cub::DeviceSegmentedSort::SortPairs(
            temporary, bytes, keys_in, keys_out, static_cast<const Value*>(request.values_in),
            static_cast<Value*>(request.values_out), request.num_items, request.num_segments,
            begins, ends, stream);
      }
    }
  });
}

cudaError_t newer_cub_radix_sort(void* temporary, std::size_t& bytes, const DeviceRequest& request,
                                 cudaStream_t stream) {
  return with_cub_types(request, [&]<class Key, class Value>(Key, Value) {
    constexpr int bits = 8 * static_cast<int>(sizeof(Key));
    const auto* const keys_in = static_cast<const Key*>(request.keys_in);
    auto* const keys_out = static_cast<Key*>(request.keys_out);
    if constexpr (!has_values<Value>) {
      return cub::DeviceRadixSort::SortKeys(temporary, bytes, keys_in, keys_out, request.num_items,
                                            0, bits, stream);
    } else {
      return cub::DeviceRadixSort::SortPairs(
          temporary, bytes, keys_in, keys_out, static_cast<const Value*>(request.values_in),
          static_cast<Value*>(request.values_out), request.num_items, 0, bits, stream);
    }
  });
}
#else
std::string newer_cub_version() {
  return {};
}
cudaError_t newer_cub_segmented_sort(void*, std::size_t&, const segsort::DeviceRequest&,
                                     cudaStream_t) {
  return cudaErrorNotSupported;
}
cudaError_t newer_cub_radix_sort(void*, std::size_t&, const segsort::DeviceRequest&, cudaStream_t) {
  return cudaErrorNotSupported;
}
#endif

}  // namespace sortie::baselines
