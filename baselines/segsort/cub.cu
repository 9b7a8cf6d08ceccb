// SPDX-License-Identifier: Apache-2.0
#include "baselines/segsort/cub.hpp"

#include <algorithm>
#include <bit>
#include <cub/device/device_scan.cuh>
#include <type_traits>

#include "baselines/segsort/cub_types.hpp"
#include "core/cuda/device_pool.hpp"
#include "primitives/payload.hpp"

namespace sortie::baselines {

// Instantiated in sources that CMake generates.
#define SORTIE_EXTERN_CUB(Key, Value)                                                        \
  extern template cudaError_t cub_radix<Key, Value>(                                         \
      void*, std::size_t&, const CubArrays<Key, Value>&, int, int, cudaStream_t);            \
  extern template cudaError_t cub_segmented<Key, Value>(                                     \
      void*, std::size_t&, const CubArrays<Key, Value>&, std::int64_t, const std::uint32_t*, \
      const std::uint32_t*, cudaStream_t)
SORTIE_EXTERN_CUB(std::uint8_t, NoValue);
SORTIE_EXTERN_CUB(std::uint8_t, std::uint32_t);
SORTIE_EXTERN_CUB(std::uint16_t, NoValue);
SORTIE_EXTERN_CUB(std::uint16_t, std::uint32_t);
SORTIE_EXTERN_CUB(std::uint32_t, NoValue);
SORTIE_EXTERN_CUB(std::uint32_t, std::uint32_t);
SORTIE_EXTERN_CUB(std::uint32_t, std::uint64_t);
SORTIE_EXTERN_CUB(std::uint64_t, NoValue);
SORTIE_EXTERN_CUB(std::uint64_t, std::uint32_t);
SORTIE_EXTERN_CUB(std::uint64_t, std::uint64_t);
#undef SORTIE_EXTERN_CUB

namespace {

using segsort::DeviceRequest;

template <class T>
const T* in(const void* data) {
  return static_cast<const T*>(data);
}
template <class T>
T* out(void* data) {
  return static_cast<T*>(data);
}

constexpr std::size_t storage_alignment = 256;
constexpr int block_threads = 256;

/// Launches one thread per item, for less than 2^31 items.
template <class Kernel, class... Arguments>
cudaError_t launch(Kernel kernel, std::int64_t items, cudaStream_t stream, Arguments... arguments) {
  if (items == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((items + block_threads - 1) / block_threads);
  kernel<<<blocks, block_threads, 0, stream>>>(items, arguments...);
  return cudaGetLastError();
}

__device__ std::int64_t own_item() {
  return std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
}

template <class Key>
__global__ void __launch_bounds__(block_threads)
    pack_kernel(std::int64_t items, const std::uint32_t* ids, const Key* keys,
                std::uint64_t* packed) {
  const std::int64_t i = own_item();
  if (i < items) packed[i] = (std::uint64_t{ids[i]} << (8 * sizeof(Key))) | keys[i];
}

template <class Key>
__global__ void __launch_bounds__(block_threads)
    unpack_kernel(std::int64_t items, const std::uint64_t* packed, Key* keys) {
  const std::int64_t i = own_item();
  if (i < items) keys[i] = static_cast<Key>(packed[i]);
}

__global__ void __launch_bounds__(block_threads)
    count_kernel(std::int64_t items, std::uint32_t* indices) {
  const std::int64_t i = own_item();
  if (i < items) indices[i] = static_cast<std::uint32_t>(i);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    gather_kernel(std::int64_t items, const std::uint32_t* indices, const T* from, T* to) {
  const std::int64_t i = own_item();
  if (i < items) to[i] = from[indices[i]];
}

/// Marks the first item of every segment except those at 0. The sum of the marks up to an item is
/// then its segment number.
template <class Offset>
__global__ void __launch_bounds__(block_threads)
    mark_segments_kernel(std::int64_t segments, const Offset* offsets, std::uint32_t* marks,
                         std::uint64_t items) {
  const std::int64_t i = own_item();
  if (i >= segments) return;
  const auto begin = static_cast<std::uint64_t>(offsets[i]);
  if (begin > 0 && begin < items) marks[begin] = 1;
}

/// The arrays of a request by their types.
template <class Key, class Value>
CubArrays<Key, Value> arrays_of(const DeviceRequest& request) {
  return {in<Key>(request.keys_in), out<Key>(request.keys_out), in<Value>(request.values_in),
          out<Value>(request.values_out), request.num_items};
}

/// Bits required for the numbers of `segments` segments.
int segment_bits(std::int64_t segments) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(segments, 1) - 1));
}

/// Runs steps in order until one fails.
template <class... Steps>
cudaError_t in_turn(Steps... steps) {
  cudaError_t status = cudaSuccess;
  static_cast<void>((((status = steps()) == cudaSuccess) && ...));
  return status;
}

/// Keys of up to 4 bytes: (segment, key) as one word.
template <class Key, class Value>
cudaError_t radix_packed(void* temporary, std::size_t& bytes, const DeviceRequest& request,
                         cudaStream_t stream) {
  const std::int64_t items = request.num_items;
  const auto count = static_cast<std::size_t>(items);
  const int end_bit = 8 * static_cast<int>(sizeof(Key)) + segment_bits(request.num_segments);
  StorageCarver parts(temporary, storage_alignment);
  auto* const ids = parts.take<std::uint32_t>(count);
  auto* const packed = parts.take<std::uint64_t>(count);
  auto* const sorted = parts.take<std::uint64_t>(count);
  const auto number = [&](void* storage, std::size_t& size) {
    return number_segments(storage, size, request.begin_offsets, request.offset_bytes,
                           request.num_segments, ids, count, stream);
  };
  const auto sort = [&](void* storage, std::size_t& size) {
    const CubArrays<std::uint64_t, Value> arrays{packed, sorted, in<Value>(request.values_in),
                                                 out<Value>(request.values_out), items};
    return cub_radix(storage, size, arrays, 0, end_bit, stream);
  };
  std::size_t number_bytes = 0;
  std::size_t sort_bytes = 0;
  const cudaError_t sized = in_turn([&] { return number(nullptr, number_bytes); },
                                    [&] { return sort(nullptr, sort_bytes); });
  if (sized != cudaSuccess) return sized;
  // The two steps run one after the other and share the remaining storage.
  auto* const storage = parts.take<std::byte>(std::max(number_bytes, sort_bytes));
  if (temporary == nullptr) {
    bytes = parts.used();
    return cudaSuccess;
  }
  return in_turn(
      [&] { return number(storage, number_bytes); },
      [&] {
        return launch(pack_kernel<Key>, items, stream, ids, in<Key>(request.keys_in), packed);
      },
      [&] { return sort(storage, sort_bytes); },
      [&] {
        return launch(unpack_kernel<Key>, items, stream, sorted, out<Key>(request.keys_out));
      });
}

/// u64 keys: by key, then by segment, both stable.
template <class Value>
cudaError_t radix_twice(void* temporary, std::size_t& bytes, const DeviceRequest& request,
                        cudaStream_t stream) {
  const std::int64_t items = request.num_items;
  const auto count = static_cast<std::size_t>(items);
  StorageCarver parts(temporary, storage_alignment);
  auto* const ids = parts.take<std::uint32_t>(count);
  auto* const sorted_keys = parts.take<std::uint64_t>(count);
  auto* const indices = parts.take<std::uint32_t>(count);
  auto* const by_key = parts.take<std::uint32_t>(count);
  auto* const ids_by_key = parts.take<std::uint32_t>(count);
  auto* const sorted_ids = parts.take<std::uint32_t>(count);
  auto* const by_segment = indices;  // no longer needed by then
  const auto* const keys = in<std::uint64_t>(request.keys_in);
  const auto number = [&](void* storage, std::size_t& size) {
    return number_segments(storage, size, request.begin_offsets, request.offset_bytes,
                           request.num_segments, ids, count, stream);
  };
  const auto sort_by_key = [&](void* storage, std::size_t& size) {
    const CubArrays<std::uint64_t, std::uint32_t> arrays{keys, sorted_keys, indices, by_key, items};
    return cub_radix(storage, size, arrays, 0, 64, stream);
  };
  // A single segment has zero bits; sorting by one bit is harmless.
  const int id_bits = std::max(segment_bits(request.num_segments), 1);
  const auto sort_by_segment = [&](void* storage, std::size_t& size) {
    const CubArrays<std::uint32_t, std::uint32_t> arrays{ids_by_key, sorted_ids, by_key, by_segment,
                                                         items};
    return cub_radix(storage, size, arrays, 0, id_bits, stream);
  };
  std::size_t number_bytes = 0;
  std::size_t key_bytes = 0;
  std::size_t segment_bytes = 0;
  const cudaError_t sized = in_turn([&] { return number(nullptr, number_bytes); },
                                    [&] { return sort_by_key(nullptr, key_bytes); },
                                    [&] { return sort_by_segment(nullptr, segment_bytes); });
  if (sized != cudaSuccess) return sized;
  auto* const storage = parts.take<std::byte>(std::max({number_bytes, key_bytes, segment_bytes}));
  if (temporary == nullptr) {
    bytes = parts.used();
    return cudaSuccess;
  }
  return in_turn(
      [&] { return number(storage, number_bytes); },
      [&] { return launch(count_kernel, items, stream, indices); },
      [&] { return sort_by_key(storage, key_bytes); },
      [&] { return launch(gather_kernel<std::uint32_t>, items, stream, by_key, ids, ids_by_key); },
      [&] { return sort_by_segment(storage, segment_bytes); },
      [&] {
        return launch(gather_kernel<std::uint64_t>, items, stream, by_segment, keys,
                      out<std::uint64_t>(request.keys_out));
      },
      [&] {
        if constexpr (!has_values<Value>) {
          return cudaSuccess;
        } else {
          return launch(gather_kernel<Value>, items, stream, by_segment,
                        in<Value>(request.values_in), out<Value>(request.values_out));
        }
      });
}

}  // namespace

bool has_cub_peers(const DeviceRequest& request) {
  const bool is_narrow = request.key_type == KeyType::u8 || request.key_type == KeyType::u16;
  return request.offset_bytes == 4 &&
         (request.key_type == KeyType::u32 || request.key_type == KeyType::u64 ||
          (is_narrow && request.value_bytes <= 4));
}

cudaError_t cub_segmented_sort(void* temporary, std::size_t& bytes, const DeviceRequest& request,
                               cudaStream_t stream) {
  if (!has_cub_peers(request)) return cudaErrorNotSupported;
  return with_cub_types(request, [&]<class Key, class Value>(Key, Value) {
    return cub_segmented(temporary, bytes, arrays_of<Key, Value>(request), request.num_segments,
                         in<std::uint32_t>(request.begin_offsets),
                         in<std::uint32_t>(request.end_offsets), stream);
  });
}

cudaError_t cub_radix_sort(void* temporary, std::size_t& bytes, const DeviceRequest& request,
                           cudaStream_t stream) {
  if (!has_cub_peers(request)) return cudaErrorNotSupported;
  return with_cub_types(request, [&]<class Key, class Value>(Key, Value) {
    return cub_radix(temporary, bytes, arrays_of<Key, Value>(request), 0,
                     8 * static_cast<int>(sizeof(Key)), stream);
  });
}

cudaError_t cub_radix_by_segment(void* temporary, std::size_t& bytes, const DeviceRequest& request,
                                 cudaStream_t stream) {
  if (!has_cub_peers(request)) return cudaErrorNotSupported;
  return with_cub_types(request, [&]<class Key, class Value>(Key, Value) {
    if constexpr (sizeof(Key) <= 4) {
      return radix_packed<Key, Value>(temporary, bytes, request, stream);
    } else {
      return radix_twice<Value>(temporary, bytes, request, stream);
    }
  });
}

cudaError_t number_segments(void* temporary, std::size_t& bytes, const void* offsets,
                            int offset_bytes, std::int64_t segments, std::uint32_t* ids,
                            std::uint64_t items, cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(items);
  if (temporary != nullptr) {
    cudaError_t status = cudaMemsetAsync(ids, 0, items * sizeof(std::uint32_t), stream);
    if (status != cudaSuccess) return status;
    status = offset_bytes == 4 ? launch(mark_segments_kernel<std::uint32_t>, segments, stream,
                                        in<std::uint32_t>(offsets), ids, items)
                               : launch(mark_segments_kernel<std::uint64_t>, segments, stream,
                                        in<std::uint64_t>(offsets), ids, items);
    if (status != cudaSuccess) return status;
  }
  return cub::DeviceScan::InclusiveSum(temporary, bytes, ids, ids, count, stream);
}

}  // namespace sortie::baselines
